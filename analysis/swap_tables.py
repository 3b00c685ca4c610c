"""The tables of the swap page: by probe kind, the average on request, history by history."""

from typing import Any

from analysis import page_tables as pt
from analysis.labels import KIND_NAMES
from analysis.page_parts import Asked, Section, direction_words, is_unplanned
from analysis.page_tables import Column, PageTable, Row
from analysis.swap_words import ACCURACIES, Entry, finding_of, links, name_of, written_only


def kinds(asked: Asked, pairs: Any) -> Section | None:
    """Return the differences by probe kind and memory class: leads, not findings."""
    rows: list[Row] = []
    for direction, entry in written_only(pairs):
        _, url = links(asked, direction, entry)
        groups = (
            ("kind", "kind", entry["by_kind"]),
            ("class", "memory_class", entry["by_memory_class"]),
        )
        for what, field, parts in groups:
            rows += [
                {
                    "direction": pt.text(direction_words(direction)),
                    "format": pt.text(name_of(entry)),
                    "of": pt.text(f"{what} {KIND_NAMES.get(part['name'], part['name'])}"),
                    "probes": pt.count(part["probes"]),
                    "own": pt.estimate(part["own"], pt.percent),
                    "inherited": pt.estimate(part["inherited"], pt.percent,
                                             url=f"{url}&{field}={part['name']}"),
                    "delta": pt.estimate(part["swap_delta_pp"], pt.pp),
                }
                for part in parts
                if part["name"]
            ]  # fmt: skip
    if not rows:
        return None
    columns = (
        Column("direction", "Direction"), Column("format", "Format"), Column("of", "Probes of"),
        Column("probes", "Probes", True), *ACCURACIES, Column("delta", "Swap delta, pp", True),
    )  # fmt: skip
    worst = min((r for r in rows if r["delta"].raw is not None),
                key=lambda r: float(r["delta"].raw or 0), default=None)  # fmt: skip
    finding: tuple[str, ...] = ()
    if worst is not None:
        where = f"{worst['direction'].text}, {worst['format'].text}, {worst['of'].text}"
        finding = (f"Lowest: {worst['delta'].text} at {where}. A lead to look at, not a finding",)
    return Section("By probe kind and memory class", finding, None,
                   (PageTable("kinds", "Swap delta by probe kind and memory class", columns,
                              tuple(rows)),),
                   unplanned=is_unplanned(asked.report, "by_kind"))  # fmt: skip


def average(every: Any, form: str) -> Section | None:
    """The mean over the directions of each format: asked for, and labelled."""
    by_format: dict[str, list[Entry]] = {}
    for direction in every:
        for entry in direction["formats"]:
            if entry["written"] and form in ("", entry["format"]):
                by_format.setdefault(name_of(entry), []).append(entry)
    rows = []
    for name, entries in by_format.items():
        values = [entry["swap_delta_pp"]["value"] for entry in entries]
        if len(values) < len(every) or any(value is None for value in values):
            continue
        rows.append({
            "format": pt.text(name),
            "average": pt.number(sum(values) / len(values), pt.pp),
            "of": pt.text(", ".join(pt.pp(value) for value in values)),
        })  # fmt: skip
    columns = (Column("format", "Format"), Column("average", "Average of the directions, pp", True),
               Column("of", "Each direction"))  # fmt: skip
    return Section(
        "Average over the directions: an extra", (), None,
        (PageTable("average", "Average over the directions", columns, tuple(rows)),),
        warnings=("Two directions that cancel average to nearly nothing. This number decides "
                  "nothing; no interval is given with it.",), unplanned=True,
    )  # fmt: skip


def histories(asked: Asked, pairs: Any) -> Section | None:
    """History by history, where one format and direction is chosen: the page stays small."""
    written = written_only(pairs)
    if len(written) != 1:
        return None
    direction, entry = written[0]
    _, url = links(asked, direction, entry)
    columns = (Column("history", "History"), *ACCURACIES, Column("delta", "Swap delta, pp", True),
               Column("retained", "Retained performance, ratio", True))  # fmt: skip
    by_column = {
        "own": (entry["own"], pt.percent), "inherited": (entry["inherited"], pt.percent),
        "delta": (entry["swap_delta_pp"], pt.pp),
        "retained": (entry["retained_performance"], pt.ratio),
    }  # fmt: skip
    values: dict[str, dict[str, Any]] = {}
    for name, (estimate, write) in by_column.items():
        for one in estimate.get("per_history", ()):
            row = values.setdefault(one["history"], {})
            row[name] = pt.number(one, write)
    rows = tuple(
        {"history": pt.text(history, url=f"{url}&history={history}"), **row}
        for history, row in values.items()
    )
    table = PageTable("histories", "Swap delta of every history", columns, rows)
    return Section(f"History by history: {finding_of(direction, entry)}", tables=(table,))
