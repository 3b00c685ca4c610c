"""A report as one self-contained page: it opens offline and loads nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

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
from analysis.page_parts import Asked, labelled
from analysis.planning import UNPLANNED, direction_mark
from analysis.words import points
from experiments.models import Study

WIDTH, LABEL, ROW = 720, 250, 34
# What a report shows below its verdicts: the same sections as on the pages of a study.
PAGES = (swap_view, gap_view, loss_view, tests_view, repair_view, screening_view, gates_view)
# A longer table (every single prediction) is in the JSON alone.
LONGEST = 300
Document = Mapping[str, Any]


def html_report(document: Document) -> str:
    """Return the page of a report. Charts are drawn here; the page holds no script."""
    pages = [page.build(_asked(document)) for page in PAGES]
    return render_to_string(
        "analyze/report.html",
        {
            "report": document,
            "chart": swap_chart(document),
            "directions": [_direction(direction) for direction in document["directions"]],
            "pages": [labelled(page, document) for page in pages if not page.missing],
            "longest": LONGEST,
            "only": _one_history(document),
        },
    )


def html_comparison(document: Document) -> str:
    """Return the page of two reports side by side; as self-contained as that of one."""
    rows = [
        {
            "direction": f"{row['old']} → {row['new']}",
            "format": " ".join(filter(None, (row["format"], row["embedder"]))),
            "sides": [_side(row["first"]), _side(row["second"])],
        }
        for row in document["rows"]
    ]
    return render_to_string("analyze/comparison.html", {"report": document, "rows": rows})


def _asked(document: Document) -> Asked:
    """What the pages of a study are made from; a file has no addresses to lead to."""
    study = Study(key="table", source=Study.Source.TABLE)
    return Asked(study, document, {})


def _side(figures: Document | None) -> dict[str, str]:
    if figures is None:
        return {"missing": "not there"}
    return {
        "verdict": figures["verdict"]["sentence"],
        "mark": "" if figures["planned"] else f" ({UNPLANNED})",
        "own": _accuracy(figures["own"]),
        "inherited": _accuracy(figures["inherited"]),
        "delta": _pp(figures["swap_delta_pp"]),
        "service": _pp(figures["service_change_pp"]),
    }


def _one_history(document: Document) -> list[dict[str, Any]]:
    only = document["this_store_only"] or {"comparisons": ()}
    return [
        {
            **row,
            "shown": [
                ("Difference", _pp(row["difference_pp"])),
                ("Exact McNemar p", _p(row["mcnemar_p"])),
            ]
            if row["status"] == "ok"
            else [("Undefined", row["reason"])],
        }
        for row in only["comparisons"]
    ]


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
                "title": _pp(figure),
            }
            for position, (label, figure) in enumerate(rows)
        ],
    }  # fmt: skip


def _direction(direction: Document) -> dict[str, Any]:
    return {
        "old": direction["old"],
        "new": direction["new"],
        "mark": direction_mark(direction),
        "rows": [
            {
                "name": " ".join(filter(None, (entry["format"], entry["embedder"]))),
                "verdict": entry["verdict"],
                "own": _accuracy(entry["own"]),
                "inherited": _accuracy(entry["inherited"]),
                "delta": _pp(entry["swap_delta_pp"]),
                "retained": _number(entry["retained_performance"]),
                "service": _pp(entry["service_change_pp"]),
            }
            for entry in direction["formats"]
        ],
    }


def _span(figure: Document, words: Sequence[str]) -> str:
    return f" [{words[0]}, {words[1]}]" if figure.get("low") is not None else ""


def _pp(figure: Document) -> str:
    if figure["value"] is None:
        return f"undefined: {figure['reason']}"
    ends = [points(figure.get("low")), points(figure.get("high"))]
    return f"{points(figure['value'])} pp{_span(figure, ends)}"


def _accuracy(figure: Document) -> str:
    if figure["value"] is None:
        return "—"
    ends = [f"{100 * (figure.get(end) or 0):.1f}" for end in ("low", "high")]
    return f"{100 * figure['value']:.1f} %{_span(figure, ends)}"


def _number(figure: Document) -> str:
    if figure["value"] is None:
        return "—"
    ends = [f"{figure.get(end) or 0:.3f}" for end in ("low", "high")]
    return f"{figure['value']:.3f}{_span(figure, ends)}"


def _p(figure: Document) -> str:
    return f"undefined: {figure['reason']}" if figure["value"] is None else f"{figure['value']:.2g}"
