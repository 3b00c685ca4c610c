"""Pictures of the further study pages, from finished numbers. No statistics here."""

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.chart_frame import COLOURS, MARKERS, Figure, axis_title, frame, margin_band

FRAME_PX = 110
ROW_PX = 44
# How far the dots of one row are spread, so that equal values stay apart.
JITTER = 0.11
DASHES = ("dash", "dot", "dashdot")


@dataclass(frozen=True, slots=True)
class Dot:
    """One history: its value, what is said of it, and where it leads."""

    value: float
    hover: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Mean:
    """An estimate with its interval."""

    value: float
    low: float | None
    high: float | None
    hover: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of a picture: its dots and its mean; `series` decides colour and marker."""

    label: str
    series: str
    dots: tuple[Dot, ...] = ()
    mean: Mean | None = None


def strips(
    rows: Sequence[Strip], *, axis: str, findings: Sequence[str], band: float | None = None,
    margin: float | None = None, zero: bool = True,
) -> Figure:  # fmt: skip
    """Draw dots and means, one row each; `band` shades ±δ, `margin` draws a line at δ."""
    names = list(dict.fromkeys(row.series for row in rows))
    traces: list[Figure] = []
    for place, name in enumerate(names):
        own = [(at, row) for at, row in enumerate(rows) if row.series == name]
        colour, symbol = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        if any(row.dots for _, row in own):
            traces.append(_dots(own, name, colour))
        if any(row.mean for _, row in own):
            traces.append(_means(own, name, colour, symbol))
    height = FRAME_PX + ROW_PX * max(2, len(rows))
    layout = frame(height, findings)
    layout["xaxis"] |= {"title": axis_title(axis), "zeroline": zero, "zerolinewidth": 2}
    layout["yaxis"] = {
        "tickvals": list(range(len(rows))), "ticktext": [row.label for row in rows],
        "range": [len(rows) - 0.5, -0.5], "automargin": True, "showgrid": False,
        "zeroline": False, "fixedrange": True,
    }  # fmt: skip
    layout["shapes"] = [*([] if band is None else [margin_band(band)]), *_line(margin)]
    return {"data": traces, "layout": layout}


def _dots(own: Sequence[tuple[int, Strip]], name: str, colour: str) -> Figure:
    dots = [(at, n, dot) for at, row in own for n, dot in enumerate(row.dots)]
    return {
        "type": "scatter", "mode": "markers", "name": f"{name}: each history",
        "x": [round(dot.value, 4) for _, _, dot in dots],
        "y": [round(at + JITTER * (1 + n % 3), 2) for at, n, _ in dots],
        "marker": {"size": 6, "color": colour, "opacity": 0.45, "symbol": "circle"},
        "hovertext": [dot.hover for _, _, dot in dots], "hoverinfo": "text",
        "customdata": [dot.url for _, _, dot in dots],
    }  # fmt: skip


def _means(own: Sequence[tuple[int, Strip]], name: str, colour: str, symbol: str) -> Figure:
    marks = [(at, row.mean) for at, row in own if row.mean]
    return {
        "type": "scatter", "mode": "markers", "name": f"{name}: mean and 95 % interval",
        "x": [mean.value for _, mean in marks], "y": [at - JITTER for at, _ in marks],
        "error_x": errors([mean for _, mean in marks], colour),
        "marker": {"size": 11, "color": colour, "symbol": symbol},
        "hovertext": [mean.hover for _, mean in marks], "hoverinfo": "text",
        "customdata": [mean.url for _, mean in marks],
    }  # fmt: skip


def errors(means: Sequence[Mean], colour: str) -> Figure:
    """Error bars of intervals; none where there is no interval."""
    return {
        "type": "data", "symmetric": False, "thickness": 2, "width": 5, "color": colour,
        "array": [0 if m.high is None else m.high - m.value for m in means],
        "arrayminus": [0 if m.low is None else m.value - m.low for m in means],
    }  # fmt: skip


def points(
    series: Sequence[tuple[str, Sequence[tuple[float, float, str, str]]]], *, x: str, y: str,
    findings: Sequence[str], lines: Sequence[tuple[str, Sequence[tuple[float, float]]]] = (),
    joined: bool = False, height: int = 420, log_x: bool = False, size: int = 8,
) -> Figure:  # fmt: skip
    """Draw named series of (x, y, hover, address), and named lines (x, y) beside them."""
    traces: list[Figure] = []
    for place, (name, marks) in enumerate(series):
        colour, symbol = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        traces.append({
            "type": "scatter", "mode": "lines+markers" if joined else "markers", "name": name,
            "x": [mark[0] for mark in marks], "y": [mark[1] for mark in marks],
            "marker": {"size": size, "color": colour, "symbol": symbol},
            "line": {"width": 2, "color": colour},
            "hovertext": [mark[2] for mark in marks], "hoverinfo": "text",
            "customdata": [mark[3] for mark in marks],
        })  # fmt: skip
    for place, (name, ends) in enumerate(lines):
        traces.append({
            "type": "scatter", "mode": "lines", "name": name, "hoverinfo": "name",
            "x": [end[0] for end in ends], "y": [end[1] for end in ends],
            "line": {"width": 1.5, "color": "#7a8796", "dash": DASHES[place % len(DASHES)]},
        })  # fmt: skip
    layout = frame(height, findings)
    layout["xaxis"] |= {"title": axis_title(x)} | ({"type": "log"} if log_x else {})
    layout["yaxis"] = {"title": axis_title(y), "automargin": True, "fixedrange": True}
    return {"data": traces, "layout": layout}


def _line(at: float | None) -> list[Figure]:
    if at is None:
        return []
    return [{
        "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": at, "x1": at, "layer": "below",
        "line": {"width": 1.5, "color": "#7a8796", "dash": "dash"},
        "label": {"text": f"margin {at:g} pp", "textposition": "end", "textangle": 0,
                  "font": {"size": 10}},
    }]  # fmt: skip
