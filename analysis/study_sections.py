"""The sections of a study's first page below its verdicts: pictures, tables, trust, cost."""

from collections.abc import Iterable, Sequence

from django.urls import reverse
from django.utils.http import urlencode

from analysis import charts, gap_view, gates_view, tests_view
from analysis import page_tables as pt
from analysis.cost_tables import COST_COLUMNS, cost_row
from analysis.labels import FORMAT_NAMES
from analysis.page_parts import Asked, Chart, Section
from analysis.page_tables import Column, PageTable
from analysis.swap_tables import kinds, service, swap
from analysis.swap_words import Entry, links, none_planned
from analysis.templatetags.memport import duration, usd
from experiments.models import Deviation, Run
from experiments.run_costs import Cost

Pair = tuple[Entry, Entry]


def found(asked: Asked) -> list[Section]:
    """What was found: swap deltas, service change, kinds, indexes, contrasts."""
    pairs = [(d, e) for d in asked.report["directions"] for e in d["formats"]]
    sections = [_swap(asked, pairs), _service(asked, pairs), kinds(asked, pairs)] if pairs else []
    sections += [
        gap_view.indexes(asked, part, part["indexes"])
        for part in asked.report.get("embedding_upgrade") or ()
    ]
    if (asked.report.get("planned_tests") or {}).get("contrasts"):
        sections.append(tests_view.contrasts(asked.report))
    return [section for section in sections if section]


def _swap(asked: Asked, pairs: Sequence[Pair]) -> Section:
    figure = charts.swap_delta(
        asked.report, FORMAT_NAMES, url_of=lambda direction, e: links(asked, direction, e)[1]
    )
    margin = asked.report["settings"]["margin_pp"]
    return Section(
        "Swap delta: inherited memory against the memory the new model would have written",
        tuple(charts.swap_delta_finding(asked.report, FORMAT_NAMES)),
        Chart(figure, "swap-delta", "Swap delta of each written format in percentage points with "
              "95 % intervals, each direction apart; the table below holds the same numbers."),
        (swap(asked, pairs),),
        (f"Marker: mean over histories. Line: 95 % interval. Band: ±{margin:g} pp, the margin "
         "within which a change counts as none. Raw transcript and retrieval have no writer, so "
         "that a writer swap cannot affect them. Click a marker, or a number below, for the "
         "answers behind it.",),
        unplanned=none_planned(pairs),
    )  # fmt: skip


def _service(asked: Asked, pairs: Sequence[Pair]) -> Section:
    figure = charts.service_change(
        asked.report, FORMAT_NAMES, url_of=lambda direction, e: links(asked, direction, e)[1]
    )
    return Section(
        "Service change: what users feel on the day of the switch",
        tuple(charts.service_finding(asked.report, FORMAT_NAMES)),
        Chart(figure, "service-change", "Service change of each format in percentage points with "
              "95 % intervals, each direction apart; the table below holds the same numbers."),
        (service(asked, pairs),),
        ("The new model on the old memory against the old model on the old memory: the reader’s "
         "ability and the migration together. A swap can gain while the service loses.",),
        unplanned=none_planned(pairs),
    )  # fmt: skip


def trust(asked: Asked) -> Section | None:
    """The gates, as on their own page."""
    return gates_view.gates_section(asked) if asked.report.get("gates") else None


def coverage(asked: Asked) -> Section:
    """How much of the evidence each store kept; empty where nothing was built here."""
    rows = tuple(
        {
            "format": pt.text(FORMAT_NAMES.get(row["format"], row["format"]),
                              url=f"{reverse('stores')}?{urlencode({'format': row['format']})}"),
            "writer": pt.text(row["writer"] or "nobody"),
            "stores": pt.count(row["stores"]),
            "kept": pt.count(row["spans_kept"]),
            "required": pt.count(row["spans_required"]),
            "share": pt.number({"value": row["share"], "status": row["status"],
                                "reason": row["reason"]}, pt.percent),
            "mean": pt.estimate(row["across_histories"], pt.percent),
        }
        for row in asked.report["coverage"]
    )  # fmt: skip
    columns = (
        Column("format", "Format"), Column("writer", "Writer"), Column("stores", "Stores", True),
        Column("kept", "Spans kept", True), Column("required", "Spans required", True),
        Column("share", "Share of all spans", True),
        Column("mean", "Mean over histories", True),
    )  # fmt: skip
    title = "How much evidence each store kept"
    if not rows:
        return Section(title, notes=("No store was built here.",))
    return Section(title, tables=(PageTable("coverage", "Evidence coverage", columns, rows),),
                   notes=("A span is a code, or a stretch of text, that a probe needs. What is not "
                          "in the store cannot be read from it.",))  # fmt: skip


def costs(spent: Iterable[tuple[Run, Sequence[Cost], float, float]]) -> Section:
    """What every run cost, by role and model."""
    rows, findings = [], []
    for run, parts, dollars, seconds in spent:
        name = f"{run.test.replace('_', ' ')} {run.number}"
        findings.append(f"{usd(dollars)} and {duration(seconds)} of engine time for the run {name}")
        at = pt.text(name, url=reverse("run", args=[run.pk]))
        rows += [{**cost_row(cost), "run": at} for cost in parts]
    title = "What it cost"
    if not findings:
        return Section(title, notes=("Nothing was run here, so that nothing was spent here.",))
    columns = (*COST_COLUMNS, Column("run", "Run"))
    tables = (PageTable("costs", "Calls of every run", columns, tuple(rows)),) if rows else ()
    return Section(title, tuple(findings), None, tables,
                   ("Dollars at the plan’s prices. Tokens “–”: an embedder counts none. A store "
                    "that was reused cost nothing again.",))  # fmt: skip


def left_out(runs: Iterable[Run], deviations: Iterable[Deviation]) -> Section:
    """What was left out of the runs, and every departure from the plan."""
    notes = []
    for run in runs:
        for one in run.left_out:
            name = FORMAT_NAMES.get(one["format"], one["format"])
            of = f" of {one['history']}" if one.get("history") else ""
            notes.append(f"{name}{of}: {one['reason']}")
    rows = tuple(
        {
            "at": pt.text(f"{one.at:%Y-%m-%d %H:%M}"),
            "by": pt.text(str(one.by or "memport")),
            "what": pt.text(one.what),
            "why": pt.text(one.why),
        }
        for one in deviations
    )
    columns = (Column("at", "When, UTC"), Column("by", "Who"), Column("what", "What"),
               Column("why", "Why"))  # fmt: skip
    title = "Left out, and departures from the plan"
    if not rows:
        notes.append("No departure from the plan was recorded.")
        return Section(title, notes=tuple(notes))
    table = PageTable("deviations", "Departures from the plan", columns, rows)
    return Section(title, notes=tuple(notes), tables=(table,))
