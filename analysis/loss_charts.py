"""Stacked bars of where each format loses, from finished numbers. No statistics here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.chart_frame import COLOURS, Figure, axis_title, frame
from stores.counting import count_of

Loss = Mapping[str, Any]
# In the order in which memory passes through them; each its own colour and hatching.
STACKED = ("construction", "retrieval", "reader")
NAMES = {"construction": "construction", "retrieval": "retrieval", "reader": "reading"}
HATCHES = {"construction": "", "retrieval": "/", "reader": "."}
ROW_PX = 78
FRAME_PX = 130


def stacked(
    rows: Sequence[tuple[str, Loss]],
    *,
    url_of: Callable[[Loss, str], str],
    findings: Sequence[str],
) -> Figure:
    """Draw one bar per row, its stages side by side; what is negative lies left of zero.

    Parameters
    ----------
    rows
        Label and loss of each bar; a stage without a value is left out of its bar.
    url_of
        Where a stage of a bar leads.
    findings
        What was found; the picture's title.
    """
    labels = [label for label, _ in rows]
    traces = [_trace(rows, part, at, url_of) for at, part in enumerate(STACKED)]
    height = FRAME_PX + ROW_PX * max(2, len(rows))
    layout = frame(height, findings)
    layout["barmode"] = "relative"
    layout["bargap"] = 0.45
    layout["xaxis"] |= {
        "title": axis_title("loss, pp of accuracy (left of 0: the other way)"),
        "zeroline": True, "zerolinewidth": 2,
    }  # fmt: skip
    layout["yaxis"] = {
        "tickvals": list(range(len(labels))), "ticktext": labels,
        "range": [len(labels) - 0.5, -0.5], "automargin": True, "showgrid": False,
        "zeroline": False, "fixedrange": True,
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _trace(
    rows: Sequence[tuple[str, Loss]], part: str, at: int, url_of: Callable[[Loss, str], str]
) -> Figure:
    shown = [
        (place, loss, loss["components"][part])
        for place, (_, loss) in enumerate(rows)
        if loss["components"][part]["value"] is not None
    ]
    colour = COLOURS[at % len(COLOURS)]
    return {
        "type": "bar", "orientation": "h", "name": NAMES[part],
        "x": [100 * estimate["value"] for _, _, estimate in shown],
        "y": [place for place, _, _ in shown],
        "width": 0.5,
        # Without a ground of its own a hatched bar is white on white.
        "marker": {"color": colour, "pattern": {
            "shape": HATCHES[part], "bgcolor": colour, "fgcolor": "#ffffff", "fgopacity": 0.55,
            "size": 7}},
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 1.5, "width": 4, "color": "#5c6773",
            "array": [_above(estimate) for _, _, estimate in shown],
            "arrayminus": [_below(estimate) for _, _, estimate in shown],
        },
        "hovertext": [_hover(rows[place][0], part, estimate) for place, _, estimate in shown],
        "hoverinfo": "text",
        "customdata": [url_of(loss, part) for _, loss, _ in shown],
    }  # fmt: skip


def _above(estimate: Mapping[str, Any]) -> float:
    if estimate["high"] is None:
        return 0.0
    return 100 * float(estimate["high"] - estimate["value"])


def _below(estimate: Mapping[str, Any]) -> float:
    return 0.0 if estimate["low"] is None else 100 * float(estimate["value"] - estimate["low"])


def _hover(label: str, part: str, estimate: Mapping[str, Any]) -> str:
    span = "no interval"
    if estimate["low"] is not None:
        span = f"95 % interval {100 * estimate['low']:.1f} to {100 * estimate['high']:.1f}"
    return (
        f"<b>{label}</b>, {NAMES[part]}<br>{100 * estimate['value']:.1f} pp, {span}<br>"
        f"{count_of(estimate['n_histories'], 'history')}"
    )
