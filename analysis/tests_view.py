"""The page of the planned tests: every contrast with all that was computed about it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from analysis import page_tables as pt
from analysis.page_parts import Asked, Chart, PartPage, Section
from analysis.page_tables import Column, PageTable, Row
from analysis.part_charts import Dot, Mean, Strip, strips
from analysis.words import points

Contrast = Mapping[str, Any]
MAIN = (
    Column("contrast", "Contrast"), pt.PLANNED,
    Column("estimate", "Estimate, pp", True), Column("margin", "Margin, pp", True),
    Column("decision", "Decision"), Column("p", "p, raw", True),
    Column("p_holm", "p, adjusted", True), Column("n", "Histories", True),
    Column("above", "Estimate − margin, pp", True),
    Column("bound", "Bootstrap: 5 % bound, pp", True), Column("boot_p", "Bootstrap: p", True),
    Column("boot_holm", "Bootstrap: p, adjusted", True),
    Column("excluded", "Left out"),
)  # fmt: skip
SAME = (
    Column("contrast", "Contrast"), pt.PLANNED,
    Column("interval", "90 % interval, pp", True), Column("margin", "Margin, ± pp", True),
    Column("p", "p, raw", True), Column("p_holm", "p, adjusted", True), Column("says", "Says"),
)  # fmt: skip


def build(asked: Asked) -> PartPage:
    """Return the page."""
    tests = asked.report.get("planned_tests") or {}
    name = "Planned tests" if tests.get("planned") else "Tests"
    if not tests.get("contrasts"):
        return PartPage(name, "", missing="The answers hold the cells of no contrast.")
    sections = (
        _family(tests), _parts(tests), _equivalence(tests), _second(tests), _left_out(asked, tests)
    )  # fmt: skip
    return PartPage(
        title=name,
        lede="One-sided t tests of each contrast against its margin, adjusted over the family "
        f"({tests['correction']}). Supported: adjusted p below {tests['alpha']:g} and the estimate "
        "above the margin. Positive favours the claim.",
        sections=tuple(section for section in sections if section),
    )


def contrasts(report: Mapping[str, Any]) -> Section:
    """The contrasts and their parts in one section, without their picture: for the first page."""
    tests = report["planned_tests"]
    family, parts = _family(tests), _parts(tests)
    tables = (*family.tables, *(parts.tables if parts else ()))
    title = "Planned contrasts" if tests["planned"] else "Contrasts"
    why = report["planning"]["reason"] or "the plan names no contrast; these are the usual ones"
    if tests["planned"]:
        why = "named in the plan before any result existed"
    note = (
        f"{why[:1].upper()}{why[1:]}. Positive favours the claim. Supported: p after "
        f"{tests['correction']} below {tests['alpha']:g} and the estimate above the margin."
    )
    return replace(family, title=title, chart=None, tables=tables, notes=(note, *family.notes))


def _family(tests: Mapping[str, Any]) -> Section:
    findings = tuple(f"{c['key']}: {c['decision']} ({_words(c)})" for c in tests["contrasts"])
    rows = [
        Strip(
            c["key"], "contrast",
            tuple(Dot(one["value"], f"{one['history']}: {points(one['value'])} pp")
                  for one in c["estimate"].get("per_history", ()) if one["value"] is not None),
            None if c["estimate"]["value"] is None else Mean(
                c["estimate"]["value"], c["estimate"]["low"], c["estimate"]["high"], _words(c)),
        )
        for c in tests["contrasts"]
    ]  # fmt: skip
    margins = {c["margin_pp"] for c in tests["contrasts"]}
    figure = strips(rows, axis="contrast, pp", findings=findings,
                    margin=margins.pop() if len(margins) == 1 else None)  # fmt: skip
    boot = tests["bootstrap"]
    return Section(
        "The family", findings,
        Chart(figure, "planned-tests", "Every contrast with its histories as dots, its mean, its "
              "95 % interval and the margin; the table below holds the same numbers."),
        (PageTable("tests", "Contrasts", MAIN, tuple(_row(c) for c in tests["contrasts"])),),
        ("Ratios are taken history by history, so that the sign of H1 may differ from the swap "
         "delta’s. H4a compares the formats and their way of reading. "
         f"Bootstrap: {boot['resamples']:,} resamples of whole histories, seed {boot['seed']}.",),
        unplanned=not tests["planned"],
    )  # fmt: skip


def _words(contrast: Contrast) -> str:
    estimate = contrast["estimate"]
    if estimate["value"] is None:
        return f"undefined: {estimate['reason']}"
    span = ""
    if estimate["low"] is not None:
        span = f", 95 % interval {points(estimate['low'])} to {points(estimate['high'])}"
    return f"{points(estimate['value'])} pp{span}"


def _row(contrast: Contrast) -> Row:
    boot = contrast["bootstrap"]
    return {
        "contrast": pt.text(contrast["key"], note=contrast["definition"]),
        "planned": pt.planned(contrast),
        "estimate": pt.estimate(contrast["estimate"], pt.pp),
        "margin": pt.number(contrast["margin_pp"], lambda value: f"{value:g} pp"),
        "above": pt.number(contrast["above_margin_pp"], pt.pp),
        "p": pt.number(contrast["p"], pt.p_value),
        "p_holm": pt.number(contrast["p_holm"], pt.p_value),
        "bound": pt.number(boot["lower_bound"], pt.pp),
        "boot_p": pt.number(boot["p"], pt.p_value),
        "boot_holm": pt.number(boot["p_holm"], pt.p_value),
        "decision": pt.text(contrast["decision"]),
        "n": pt.count(contrast["estimate"]["n_histories"]),
        "excluded": pt.text("; ".join(
            f"{gone['history']} ({gone['reason']})" for gone in contrast["estimate"]["excluded"]
        )),
    }  # fmt: skip


def _parts(tests: Mapping[str, Any]) -> Section | None:
    rows = [
        {
            "contrast": pt.text(contrast["key"]),
            "part": pt.text(part["label"]),
            "planned": pt.planned(part),
            "estimate": pt.estimate(part["estimate"], pt.pp),
            "p": pt.number(part["p"], pt.p_value),
            "n": pt.count(part["estimate"]["n_histories"]),
        }
        for contrast in tests["contrasts"]
        for part in contrast["parts"]
    ]
    if not rows:
        return None
    columns = (
        Column("contrast", "Contrast"), Column("part", "Direction, reader or pair"),
        pt.PLANNED, Column("estimate", "Estimate, pp", True),
        Column("p", "p, not adjusted", True), Column("n", "Histories", True),
    )  # fmt: skip
    return Section("Every direction apart", (), None,
                   (PageTable("parts", "Parts of the contrasts", columns, tuple(rows)),),
                   ("What cancels in a mean shows here.",),
                   unplanned=all(row["planned"].text == "unplanned" for row in rows))  # fmt: skip


def _equivalence(tests: Mapping[str, Any]) -> Section:
    rows, findings = [], []
    for contrast in tests["contrasts"]:
        same = contrast["equivalence"]
        p, interval = same["p_holm"]["value"], same["interval"]
        alpha = contrast.get("alpha", tests["alpha"])
        says = "undefined" if p is None else "equivalent" if p < alpha else "not shown"
        findings.append(f"{contrast['key']}: {says} within ±{same['margin_pp']:g} pp")
        low, high = interval["low"], interval["high"]
        ends = "undefined" if low is None else f"{points(low)} to {points(high)}"
        rows.append({
            "contrast": pt.text(contrast["key"]),
            "planned": pt.planned(same),
            "interval": pt.Value(low, ends, interval["reason"], "", {"low": low, "high": high}),
            "margin": pt.number(same["margin_pp"], lambda value: f"±{value:g} pp"),
            "p": pt.number(same["p"], pt.p_value),
            "p_holm": pt.number(same["p_holm"], pt.p_value),
            "says": pt.text(says),
        })  # fmt: skip
    planned = any(c["equivalence"]["planned"] for c in tests["contrasts"])
    return Section(
        "Equivalence" if planned else "Equivalence, unplanned", ("; ".join(findings),), None,
        (PageTable("equivalence", "Two one-sided tests at ±margin", SAME, tuple(rows)),),
        ("Two one-sided t tests: the same as the 90 % interval inside ±margin. “Not shown” is no "
         "proof of a difference.",), unplanned=not planned,
    )  # fmt: skip


def _second(tests: Mapping[str, Any]) -> Section:
    rows = tuple(
        {
            "contrast": pt.text(contrast["key"]),
            "margin": pt.number(contrast["second_margin"]["margin_pp"], lambda v: f"{v:g} pp"),
            "p": pt.number(contrast["second_margin"]["p"], pt.p_value),
            "p_holm": pt.number(contrast["second_margin"]["p_holm"], pt.p_value),
        }
        for contrast in tests["contrasts"]
    )
    columns = (Column("contrast", "Contrast"), Column("margin", "Margin, pp", True),
               Column("p", "p, raw", True), Column("p_holm", "p, adjusted", True))  # fmt: skip
    return Section("At a second margin", (), None,
                   (PageTable("second", "Every contrast at a second margin", columns, rows),),
                   unplanned=True)  # fmt: skip


def _left_out(asked: Asked, tests: Mapping[str, Any]) -> Section:
    rows = tuple(
        {
            "contrast": pt.text(contrast["key"]),
            "history": pt.text(gone["history"], url=asked.answers(history=gone["history"])),
            "reason": pt.text(gone["reason"]),
        }
        for contrast in tests["contrasts"]
        for gone in contrast["estimate"]["excluded"]
    )
    if not rows:
        return Section("Histories left out", ("No history was left out of any contrast.",))
    columns = (Column("contrast", "Contrast"), Column("history", "History"),
               Column("reason", "Why"))  # fmt: skip
    return Section("Histories left out", (), None,
                   (PageTable("left_out", "Histories left out, by contrast", columns, rows),),
                   ("Each is left out of its contrast alone; n says so.",))  # fmt: skip
