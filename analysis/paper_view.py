"""Beside the paper: this study's tables next to the published ones, and where each fits."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES, METHOD_NAMES
from analysis.page_parts import Asked, Filter, PartPage, Section, is_unplanned
from analysis.page_tables import Column, PageTable, Row, Value, Write
from stores.counting import count_of

Entry = Mapping[str, Any]
PUBLISHED = Path(__file__).with_name("paper_tables.json")
BESIDE = (Column("here", "This study", True), Column("paper", "The paper, as printed", True),
          Column("difference", "Difference", True), Column("fit", "Fit"))  # fmt: skip
LABEL = Column("what", "What")
# Table of the paper → the part of a report that holds the same figures.
PART_OF = {
    "table2": "planned_tests", "table3": "service_change", "table4": "embedding_upgrade",
    "table5": "screening", "table6": "loss_decomposition", "table7": "repair",
}  # fmt: skip
# Two p-values this near each other differ by the rounding of what they were computed from.
NEAR = 0.05


@cache
def published() -> dict[str, Any]:
    """The published figures, as printed; the file names their source."""
    found: dict[str, Any] = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    return found


def build(asked: Asked) -> PartPage:
    """Return the page; the address may say which model stands beside which of the paper's."""
    paper, report = published(), asked.report
    models = sorted({d[end] for d in report["directions"] for end in ("old", "new")})
    stands = _stands(asked, models)
    same = all(stands.get(name) == name for name in paper["models"])
    made = (
        _tests(report), _swap(report, stands), _indexes(report), _screening(report),
        _losses(report), _repairs(report, stands),
    )  # fmt: skip
    sections = [section for section in made if section]
    missing = "" if sections else "This study holds none of the paper's tables."
    warnings = () if same else (
        "The models are not the paper’s, so that no agreement is expected: "
        + ", ".join(f"{key} stands beside {paper['models'][name]}" for name, key in stands.items())
        + ".",)  # fmt: skip
    return PartPage(
        "Beside the paper",
        f"This study next to {paper['source'].split(';')[0]}. Half-widths of the paper are 95 % t "
        f"intervals across {paper['n_histories']} histories.",
        (*([Section("Read this first", warnings=warnings)] if warnings and sections else []),
         *(replace(one, unplanned=is_unplanned(report, PART_OF[one.tables[0].key]))
          for one in sections), _misfits(paper)),
        filters=() if same else tuple(
            Filter(name, f"Beside {paper['models'][name]}", tuple((m, m) for m in models),
                   stands.get(name, ""), any_label="") for name in paper["models"]),
        missing=missing,
    )  # fmt: skip


def _stands(asked: Asked, models: Sequence[str]) -> dict[str, str]:
    """The study's model that stands beside each of the paper's."""
    found: dict[str, str] = {}
    left = list(models)
    for name in published()["models"]:
        chosen = asked.chosen(name, left)
        named = [model for model in left if name.lower() in model.lower()]
        pick = chosen or next(iter(sorted(named, key=len)), "")
        if pick:
            found[name] = pick
            left.remove(pick)
    for name in published()["models"]:
        if name not in found and left:
            found[name] = left.pop(0)
    return found


def _beside(
    what: str, here: Entry | float | None, printed: Any, write: Write, *, digits: int,
    scale: float = 1.0, note: str = "",
) -> Row:  # fmt: skip
    """One figure of the study beside the printed one; `digits` is how many the paper prints."""
    value, half = (printed[0], printed[1]) if isinstance(printed, list) else (printed, None)
    if isinstance(here, Mapping) and "interval" in here:
        shown = pt.estimate(here, write)
    else:
        shown = pt.number(here, write)
    paper = pt.NOTHING
    if value is not None:
        plus = f"± {write(half).lstrip('+')}" if half is not None else ""
        paper = Value(value, write(value), plus, "", {"half_width": half})
    row = {"what": pt.text(what, note=note), "here": shown, "paper": paper}
    if shown.raw is None or value is None:
        return row | {"fit": pt.text("only one of them" if shown.raw != value else "neither")}
    difference = float(shown.raw) - value
    row["difference"] = pt.number(difference, write if scale == 1 else lambda d: _pp(scale * d))
    return row | {"fit": pt.text(_fit(difference, shown, half, digits))}


def _beside_p(what: str, here: Entry, printed: float) -> Row:
    """A p-value is printed with two digits that count, however small it is."""
    shown = pt.number(here, _two_digits)
    row = {"what": pt.text(what), "here": shown, "paper": pt.number(printed, _two_digits)}
    if shown.raw is None:
        return row | {"fit": pt.text("only one of them")}
    same = _two_digits(float(shown.raw)) == _two_digits(printed)
    near = abs(float(shown.raw) / printed - 1) <= NEAR
    says = "✓ equal as printed" if same else "✓ equal up to rounding" if near else "differs"
    return row | {"fit": pt.text(says)}


def _two_digits(value: float) -> str:
    return f"{value:.2g}".replace("e-0", "e-").replace("-", "−")


def _pp(value: float) -> str:
    """Percentage points with the two digits that the paper prints."""
    written = f"{value:+.2f}"
    return "0.00 pp" if float(written) == 0 else f"{written} pp".replace("-", "−")


def _percent(value: float) -> str:
    """An accuracy with the four digits that the paper prints, in percent."""
    return f"{pt.plain(100 * value, 2)} %"


def _four(value: float) -> str:
    return pt.plain(value, 4)


def _fit(difference: float, shown: Value, half: float | None, digits: int) -> str:
    if abs(difference) <= 0.5 * 10**-digits + 1e-9:
        return "✓ equal as printed"
    low, high = shown.more.get("low"), shown.more.get("high")
    own = (float(high) - float(low)) / 2 if low is not None and high is not None else 0.0
    if abs(difference) <= 2 * 10**-digits:
        return "✓ equal up to rounding"
    if half is None and not own:
        return "differs"
    return "≈ intervals overlap" if abs(difference) <= own + (half or 0.0) else "✗ apart"


def _section(title: str, key: str, rows: Sequence[Row], *notes: str) -> Section | None:
    compared = [row for row in rows if row["here"].raw is not None and row["paper"].raw is not None]
    if not compared:
        return None
    equal = sum(row["fit"].text.startswith("✓") for row in compared)
    apart = sum(row["fit"].text.startswith("✗") for row in compared)
    return Section(
        title, (f"{equal} of {len(compared)} figures are equal as printed; {apart} are apart",),
        None, (PageTable(key, "Side by side", (LABEL, *BESIDE), tuple(rows)),), notes,
    )  # fmt: skip


def _tests(report: Entry) -> Section | None:
    found = {c["key"]: c for c in (report.get("planned_tests") or {}).get("contrasts", ())}
    rows: list[Row] = []
    for line in published()["table2_planned_tests"]:
        contrast = found.get(line["test"])
        if contrast is None:
            continue
        rows.append(_beside(f"{line['test']}: estimate", contrast["estimate"], line["estimate_pp"],
                            _pp, digits=2))  # fmt: skip
        rows.append(_beside_p(f"{line['test']}: p, Holm", contrast["p_holm"], line["holm_p"]))
        says = "supported" if line["supported"] else "not supported"
        here = {True: "supported", False: "not supported", None: "no decision"}[
            contrast["supported"]
        ]
        rows.append({
            "what": pt.text(f"{line['test']}: decision"), "here": pt.text(here),
            "paper": pt.text(says),
            "fit": pt.text("✓ equal as printed" if says == here else "✗ apart"),
        })  # fmt: skip
    return _section("Table 2: planned tests", "table2", rows)


def _entries(report: Entry) -> Iterator[tuple[str, str, Entry]]:
    for direction in report["directions"]:
        for entry in direction["formats"]:
            yield entry["format"], direction["new"], entry


def _swap(report: Entry, stands: Mapping[str, str]) -> Section | None:
    found = {(name, reader): entry for name, reader, entry in _entries(report)}
    rows: list[Row] = []
    for line in published()["table3_writer_swap"]:
        entry = found.get((line["format"], stands.get(line["reader"], "")))
        if entry is None:
            continue
        name = f"{FORMAT_NAMES[line['format']]}, read by {line['reader']}"
        rows.append(_beside(f"{name}: own store", entry["own"], line["own"], _percent, digits=4,
                            scale=100))  # fmt: skip
        if "inherited" in line:
            rows.append(_beside(f"{name}: inherited store", entry["inherited"], line["inherited"],
                                _percent, digits=4, scale=100))  # fmt: skip
            rows.append(_beside(f"{name}: swap delta", entry["swap_delta_pp"],
                                line["swap_delta_pp"], _pp, digits=2,
                                note="differences of rounded accuracies"))  # fmt: skip
    return _section("Table 3: writer swap", "table3", rows)


def _indexes(report: Entry) -> Section | None:
    parts = report.get("embedding_upgrade") or ()
    found = {
        row["index"]: row for part in parts if part["format"] == "rag" for row in part["indexes"]
    }
    rows: list[Row] = []
    for line in published()["table4_embedding_upgrade"]:
        if line["index"] not in found:
            continue
        row = found[line["index"]]
        for measure, write, digits, scale, name in (
            ("accuracy", _percent, 4, 100, "accuracy"),
            ("gain_pp", _pp, 2, 1, "gain over old"),
            ("recall_at_8", _four, 4, 1, "recall@8"), ("mrr", _four, 4, 1, "MRR"),
        ):  # fmt: skip
            if line[measure] is not None:
                rows.append(_beside(f"{line['index']}: {name}", row[measure], line[measure], write,
                                    digits=digits, scale=scale))  # fmt: skip
    return _section("Table 4: embedding upgrade", "table4", rows)


def _screening(report: Entry) -> Section | None:
    part = report.get("screening")
    if not part:
        return None
    schemes = {f"unseen {'model pair' if s['scheme'] == 'pair' else s['scheme']}": s
               for s in part["schemes"]}  # fmt: skip
    rows: list[Row] = []
    for line in published()["table5_screening"]:
        found = schemes.get(line["group"])
        if found is None:
            continue
        rows += [
            _beside(f"{line['group']}: {name}", found[key], line[mine], _four, digits=digits)
            for key, mine, name, digits in (
                ("mae", "mae", "MAE", 4), ("rmse", "rmse", "RMSE", 4), ("bias", "bias", "bias", 4),
                ("mean_slope", "slope", "slope", 3),
            )
        ]  # fmt: skip
    rows.append(_beside("ρ of the scores", part["rho"], published()["screening_rho"], pt.ratio,
                        digits=2))  # fmt: skip
    return _section("Table 5: screening", "table5", rows,
                    "The paper’s half-widths treat predictions as independent; here intervals are "
                    "across histories.")  # fmt: skip


def _losses(report: Entry) -> Section | None:
    found = {part["format"]: part for part in report.get("loss_decomposition") or ()}
    rows: list[Row] = []
    for line in published()["table6_loss"]:
        part = found.get(line["format"])
        if part is None:
            continue
        for name in ("total", "construction", "retrieval", "reader"):
            here = part["total"] if name == "total" else part["components"][name]
            rows.append(_beside(f"{FORMAT_NAMES[line['format']]}: {name}", here, line[name],
                                pt.fraction, digits=3))  # fmt: skip
    return _section("Table 6: loss decomposition", "table6", rows)


def _repairs(report: Entry, stands: Mapping[str, str]) -> Section | None:
    found: dict[tuple[str, str, str], list[Entry]] = {}
    for row in (report.get("repair") or {}).get("usd", ()):
        found.setdefault((row["old"], row["new"], row["method"]), []).append(row)
    rows: list[Row] = []
    for line in published()["table7_repair"]:
        old, new = line["direction"].split("->")
        here = found.get((stands.get(old, ""), stands.get(new, ""), line["method"]), [])
        for place, row in enumerate(sorted(here, key=lambda r: float(r["target"]))[:3]):
            method = METHOD_NAMES.get(line["method"], line["method"])
            name = f"{old} → {new}, {method}, {row['target']:.0%}"
            of = f"of {count_of(row['n_histories'], 'history')}"
            n, printed = row["n_success"], line["successes"][place]
            rows.append(_beside(f"{name}: successes", float(n), printed, lambda v: f"{v:.0f}",
                                digits=0, note=of))  # fmt: skip
            cost = line["median_cost_usd"][place]
            if cost or row["median_cost"]["value"] is None:
                rows.append(_beside(f"{name}: median cost", row["median_cost"], cost, pt.dollars,
                                    digits=2))  # fmt: skip
    return _section("Table 7: repair", "table7", rows,
                    "∞ or nothing: no history reached the target. The paper prints “about 0” for "
                    "the medians of the knowledge graph.")  # fmt: skip


def _misfits(paper: Entry) -> Section:
    rows = tuple({"where": pt.text(one["where"]), "what": pt.text(one["what"])}
                 for one in paper["do_not_fit"])  # fmt: skip
    columns = (Column("where", "Where"), Column("what", "What does not fit"))
    return Section("Where the paper’s own numbers do not fit each other", (), None,
                   (PageTable("misfits", "Printed numbers that do not fit each other", columns,
                              rows),), ("They are not “reproduced” here.",))  # fmt: skip
