"""What the plan named before results existed, and what is unplanned: part by part of a report."""

from collections.abc import Mapping
from typing import Any

from analysis.settings import Settings

Report = Mapping[str, Any]
UNPLANNED = "unplanned"
# Part of a report → the migration test whose own figures it holds.
TEST_OF = {
    "service_change": "writer_swap",
    "embedding_upgrade": "embedding_upgrade",
    "loss_decomposition": "controlled_evidence",
    "style_rewrite": "controlled_evidence",
    "repair": "repair",
}
SECONDARY_OF = {
    "by_kind": "by_kind",
    "by_memory_class": "by_kind",
    "screening": "screening",
    "contrast_parts": "contrast_parts",
}
NEVER = ("second_margin", "this_store_only")


def planning(settings: Settings) -> dict[str, Any]:
    """Return for each part of a report whether the plan named it, and in words why nothing is."""
    named: dict[str, bool] = {part: test in settings.tests for part, test in TEST_OF.items()}
    named |= {part: name in settings.secondary for part, name in SECONDARY_OF.items()}
    named |= dict.fromkeys(NEVER, False)
    named["planned_tests"] = bool(settings.contrasts)
    named["noise_floor"] = settings.noise_repeats > 0
    named["gates"] = True
    return {
        "planned": settings.planned,
        "reason": _reason(settings),
        "parts": {part: settings.planned and is_named for part, is_named in named.items()},
    }


def _reason(settings: Settings) -> str:
    if settings.late:
        return f"the plan was locked after results existed: {settings.late}"
    return "" if settings.planned else "there is no plan"


def swap_is_planned(settings: Settings, *, format_name: str, old: str, new: str) -> bool:
    """Whether the plan named the writer swap of this format in this direction."""
    return (
        settings.planned
        and "writer_swap" in settings.tests
        and format_name in settings.formats
        and (old, new) in settings.directions
    )


def cell_is_planned(settings: Settings, cell: Mapping[str, Any]) -> bool:
    """Whether a cell of an answers table belongs to a test that the plan named."""
    if not settings.planned or cell["reader"] not in ("", *settings.readers):
        return False
    if cell["format"] not in (*settings.formats, "*"):
        return False
    if cell["repair"]:
        return "repair" in settings.tests
    if cell["index"]:
        return "embedding_upgrade" in settings.tests
    return any(name in settings.tests for name in _tests_of(cell["condition"]))


def _tests_of(condition: str) -> tuple[str, ...]:
    """The tests that read cells under a condition."""
    if condition == "normal":
        return ("writer_swap", "controlled_evidence", "gates")
    if condition == "raw_evidence":
        return ("controlled_evidence", "gates")
    if condition == "no_memory" or condition.startswith("corrupt_"):
        return ("gates",)
    return ("controlled_evidence",)


def stamp(part: Any, planned: bool) -> None:
    """Write into every estimate of a part of a report whether the plan named it."""
    if isinstance(part, dict):
        if "n_histories" in part and "planned" in part:
            part["planned"] = planned
        for value in part.values():
            stamp(value, planned)
    elif isinstance(part, list):
        for value in part:
            stamp(value, planned)


def stamp_parts(report: dict[str, Any]) -> None:
    """Do so in all parts that the plan names as a whole, and in each direction, cell and part."""
    parts = report["planning"]["parts"]
    for name in ("embedding_upgrade", "loss_decomposition", "style_rewrite", "screening"):
        stamp(report[name], parts[name])
    stamp((report["repair"] or {}).get("by_rung"), parts["repair"])
    stamp(report["noise_floor_pp"], parts["noise_floor"])
    for direction in report["directions"]:
        for entry in direction["formats"]:
            for name in ("by_kind", "by_memory_class"):
                stamp(entry[name], entry["planned"] and parts[name])
            stamp(entry["service_change_pp"], entry["planned"] and parts["service_change"])
    for contrast in report["planned_tests"]["contrasts"]:
        for part in contrast["parts"]:
            stamp(part["estimate"], part["planned"])
    for cell in report["cells"]:
        stamp(cell["accuracy"], cell["planned"])


def is_planned(report: Report, part: str) -> bool:
    """Whether a part of a finished report was planned; a part that it does not know was not."""
    parts: Mapping[str, bool] = report.get("planning", {}).get("parts", {})
    return bool(parts.get(part, False))


def mark(report: Report, part: str) -> str:
    """The word that stands beside an unplanned part, in brackets; '' beside a planned one."""
    return "" if is_planned(report, part) else f" ({UNPLANNED})"


def direction_mark(direction: Mapping[str, Any]) -> str:
    """The same for a direction: marked where the plan named none of its formats."""
    entries = direction["formats"]
    return f" ({UNPLANNED})" if not any(entry["planned"] for entry in entries) else ""
