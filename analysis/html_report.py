"""A report as one self-contained page: it opens offline and loads nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from analysis.planning import UNPLANNED, direction_mark, mark
from analysis.words import points

WIDTH, LABEL, ROW = 720, 250, 34
MARKED = (
    "service_change", "embedding_upgrade", "loss_decomposition", "repair", "screening"
)  # fmt: skip
Document = Mapping[str, Any]


def html_report(document: Document) -> str:
    """Return the page of a report. Charts are drawn here; the page holds no script."""
    return render_to_string(
        "analyze/report.html",
        {
            "report": document,
            "chart": swap_chart(document),
            "marks": {part: mark(document, part) for part in MARKED},
            "directions": [_direction(direction) for direction in document["directions"]],
            "tests": [_test(row) for row in document["planned_tests"]["contrasts"]],
            "indexes": [
                {"format": part["format"], "rows": [_index(row) for row in part["indexes"]]}
                for part in document["embedding_upgrade"] or ()
            ],
            "losses": [_loss(part) for part in document["loss_decomposition"] or ()],
            "repairs": _repairs(document["repair"]),
            "schemes": [_scheme(row) for row in (document["screening"] or {}).get("schemes", ())],
        },
    )


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


def _test(row: Document) -> dict[str, Any]:
    return {
        "key": row["key"],
        "definition": row["definition"],
        "planned": row["planned"],
        "estimate": _pp(row["estimate"]),
        "n": row["estimate"]["n_histories"],
        "margin": f"{row['margin_pp']:g} pp",
        "p": _p(row["p"]),
        "p_holm": _p(row["p_holm"]),
        "bound": _pp(row["bootstrap"]["lower_bound"]),
        "boot_p": _p(row["bootstrap"]["p"]),
        "equivalence": _p(row["equivalence"]["p_holm"])
        + ("" if row["equivalence"]["planned"] else f" ({UNPLANNED})"),
        "decision": row["decision"],
        "excluded": row["estimate"]["excluded"],
    }


def _index(row: Document) -> dict[str, Any]:
    return {
        "name": row["index"] if row["deployable"] else f"{row['index']} (oracle, not deployable)",
        "accuracy": _accuracy(row["accuracy"]),
        "gain": _pp(row["gain_pp"]) if row["gain_pp"]["value"] is not None else "—",
        "recall": _number(row["recall_at_8"]),
        "mrr": _number(row["mrr"]),
        "forfeited": _share(row["share_of_gain_forfeited"]),
    }


def _loss(part: Document) -> dict[str, Any]:
    return {
        "format": part["format"],
        "left_out": part["left_out_because"],
        "total": _number(part["total"]),
        "parts": [
            {
                "name": name,
                "value": _number(part["components"][name]),
                "share": _share(part["shares"][name]),
            }
            for name in ("construction", "retrieval", "reader")
        ],
    }


def _repairs(repair: Document | None) -> dict[str, Any] | None:
    if repair is None:
        return None
    rows: dict[tuple[str, ...], list[str]] = {}
    for found in repair["usd"]:
        if found["method"] != "any":
            key = (f"{found['old']} → {found['new']}", found["format"], found["method"])
            rows.setdefault(key, []).append(_recovered(found))
    targets = [f"{target:.0%}" for target in repair["targets"]]
    lines = [{"key": key, "cells": cells} for key, cells in rows.items()]
    return {"targets": targets, "rows": lines, "note": repair["note"]}


def _recovered(found: Document) -> str:
    count, cost = f"{found['n_success']}/{found['n_histories']}", found["median_cost"]
    if cost["status"] == "unreachable":
        return f"{count}, ∞"
    return count if cost["value"] is None else f"{count}, ${cost['value']:,.3g}"


def _scheme(row: Document) -> dict[str, Any]:
    return {
        "left_out": f"one {row['scheme']}",
        "mae": _number(row["mae"]),
        "rmse": _number(row["rmse"]),
        "bias": _number(row["bias"]),
        "slope": _number(row["mean_slope"]),
        "n": row["n_predictions"],
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


def _share(figure: Document) -> str:
    return "—" if figure["value"] is None else f"{figure['value']:.0%}"


def _p(figure: Document) -> str:
    return f"undefined: {figure['reason']}" if figure["value"] is None else f"{figure['value']:.2g}"
