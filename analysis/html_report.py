"""A report as one self-contained page: it opens offline and loads nothing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from analysis import (
    gap_view,
    gates_view,
    loss_view,
    repair_view,
    screening_view,
    swap_view,
    tests_view,
)
from analysis import page_tables as pt
from analysis.page_parts import Asked, PartPage, labelled, labels_of
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.planning import UNPLANNED, direction_mark
from analysis.words import points
from experiments.models import Study

WIDTH, LABEL, ROW = 720, 250, 34
# What a report shows below its verdicts: the same sections as on the pages of a study.
PAGES = {
    "swap": swap_view, "indexes": gap_view, "loss": loss_view, "tests": tests_view,
    "repair": repair_view, "screening": screening_view, "gates": gates_view,
}  # fmt: skip
DIRECTION_COLUMNS = (
    Column("format", "Format"), Column("own", "Own store", True),
    Column("inherited", "Inherited store", True), Column("delta", "Swap delta, pp", True),
    Column("retained", "Retained performance", True),
    Column("service", "Service change, pp", True),
)  # fmt: skip
# A longer table (every single prediction) is in the JSON alone.
LONGEST = 300
Document = Mapping[str, Any]


def html_report(document: Document) -> str:
    """Return the page of a report. Charts are drawn here; its one script sorts the tables."""
    made = {slug: page.build(_asked(document)) for slug, page in PAGES.items()}
    labels = "; ".join(labels_of(document))
    return render_to_string(
        "analyze/report.html",
        {
            "report": document,
            "chart": swap_chart(document),
            "directions": [
                _direction(direction, f"direction-{place}", labels)
                for place, direction in enumerate(document["directions"], 1)
            ],
            "pages": [
                _named(labelled(page, document), slug)
                for slug, page in made.items()
                if not page.missing
            ],
            "longest": LONGEST,
            "script": sorting_script(),
        },
    )


def sorting_script() -> str:
    """The script that sorts tables without a server, to stand in the page itself."""
    return (settings.BASE_DIR / "static" / "js" / "tables.js").read_text("utf-8")


def _named(page: PartPage, slug: str) -> PartPage:
    """Return a page with the keys of its tables made unique in a file of all pages."""
    sections = (
        replace(one, tables=tuple(replace(t, key=f"{slug}-{t.key}") for t in one.tables))
        for one in page.sections
    )
    return replace(page, sections=tuple(sections))


def _asked(document: Document) -> Asked:
    """What the pages of a study are made from; a file has no addresses to lead to."""
    study = Study(key="table", source=Study.Source.TABLE)
    return Asked(study, document, {})


def swap_chart(document: Document) -> dict[str, Any]:
    """Return the lines, dots and labels of the swap-delta picture, in the units of its view box."""
    margin = document["settings"]["margin_pp"]
    rows = [
        (
            f"{d['old']} → {d['new']}: {entry['format']}"
            f"{'' if entry['planned'] else f' ({UNPLANNED})'}",
            entry["swap_delta_pp"],
        )
        for d in document["directions"]
        for entry in d["formats"]
        if entry["swap_delta_pp"]["value"] is not None
    ]
    ends = [abs(e) for _, f in rows for e in (f["value"], f["low"], f["high"]) if e is not None]
    reach = 1.1 * max([2 * margin, *ends])
    plot = WIDTH - LABEL - 20

    def x(value: float) -> float:
        return round(LABEL + plot * (value + reach) / (2 * reach), 1)

    return {
        "width": WIDTH,
        "height": ROW * len(rows) + 46,
        "zero": x(0),
        "band": {"x": x(-margin), "width": round(x(margin) - x(-margin), 1)},
        "axis_y": ROW * len(rows) + 12,
        "ticks": [
            {"x": x(value), "label": points(value)} for value in (-reach / 1.1, -margin, 0, margin,
                                                                  reach / 1.1)
        ],
        "rows": [
            {
                "label": label,
                "y": ROW * position + 20,
                "dot": x(figure["value"]),
                "low": None if figure["low"] is None else x(figure["low"]),
                "high": None if figure["high"] is None else x(figure["high"]),
                "title": pp_words(figure),
            }
            for position, (label, figure) in enumerate(rows)
        ],
    }  # fmt: skip


def _direction(direction: Document, key: str, labels: str) -> dict[str, Any]:
    rows = tuple(_direction_row(entry) for entry in direction["formats"])
    title = "Own and inherited store, format by format"
    return {
        "old": direction["old"],
        "new": direction["new"],
        "mark": direction_mark(direction),
        "rows": [
            {"name": _format(entry), "verdict": entry["verdict"]} for entry in direction["formats"]
        ],
        "table": PageTable(key, title, DIRECTION_COLUMNS, rows, labels=labels),
    }


def _direction_row(entry: Document) -> Row:
    return {
        "format": Value(_format(entry), _format(entry), more={
            "verdict": entry["verdict"]["outcome"],
            "planned": "yes" if entry["planned"] else UNPLANNED,
        }),
        "own": pt.estimate(entry["own"], pt.percent),
        "inherited": pt.estimate(entry["inherited"], pt.percent),
        "delta": pt.estimate(entry["swap_delta_pp"], pt.pp),
        "retained": pt.estimate(entry["retained_performance"], pt.fraction),
        "service": pt.estimate(entry["service_change_pp"], pt.pp),
    }  # fmt: skip


def _format(entry: Document) -> str:
    return " ".join(filter(None, (entry["format"], entry["embedder"])))


def _span(figure: Document, words: list[str]) -> str:
    return f" [{words[0]}, {words[1]}]" if figure.get("low") is not None else ""


def pp_words(figure: Document) -> str:
    """Write percentage points with their interval, or why there are none."""
    if figure["value"] is None:
        return f"undefined: {figure['reason']}"
    ends = [points(figure.get("low")), points(figure.get("high"))]
    return f"{points(figure['value'])} pp{_span(figure, ends)}"


def accuracy_words(figure: Document) -> str:
    """Write an accuracy with its interval."""
    if figure["value"] is None:
        return "—"
    ends = [f"{100 * (figure.get(end) or 0):.1f}" for end in ("low", "high")]
    return f"{100 * figure['value']:.1f} %{_span(figure, ends)}"
