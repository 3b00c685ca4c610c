"""Pictures of an embedding upgrade, from finished figures: every index, and the dial as a curve."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from analysis.chart_frame import COLOURS, MARKERS, Figure, axis_title, frame
from analysis.charts import FRAME_PX, ROW_PX

Row = Mapping[str, Any]
# Measure → its name for people, and whether it is a fraction shown in percent.
MEASURES = {
    "accuracy": ("accuracy", True),
    "recall_at_8": ("recall@8", True),
    "mrr": ("MRR", False),
}
KINDS = (("deployable", True), ("oracle: an upper bound, not deployable", False))


def index_forest(
    rows: Sequence[Row], *, measure: str, finding: Sequence[str], url_of: Callable[[str], str]
) -> Figure:
    """Draw one measure of every index with its interval; the oracle has its own marker and name."""
    name, percent = MEASURES[measure]
    at = {row["index"]: position for position, row in enumerate(rows)}
    traces = [
        _marks(
            label,
            [row for row in rows if row["deployable"] is deployable],
            number,
            measure=measure,
            at=at,
            url_of=url_of,
        )
        for number, (label, deployable) in enumerate(KINDS)
        if any(row["deployable"] is deployable for row in rows)
    ]
    height = FRAME_PX + ROW_PX * max(2, len(rows))
    layout = frame(height, finding)
    layout["xaxis"] |= {"title": axis_title(_axis(name, percent)), "zeroline": False}
    layout["yaxis"] = {
        "tickvals": list(at.values()), "ticktext": list(at), "range": [len(rows) - 0.5, -0.5],
        "automargin": True, "showgrid": False, "zeroline": False, "fixedrange": True,
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def dial(rows: Sequence[Row], *, measures: Sequence[str], url_of: Callable[[str], str]) -> Figure:
    """Draw the measures against the share of migrated chunks, and the old index as a level."""
    steps = sorted(
        (row for row in rows if row["migrated_share_percent"] is not None),
        key=lambda row: float(row["migrated_share_percent"]),
    )
    old = next((row for row in rows if row["index"] == "old"), None)
    traces: list[Figure] = []
    for number, measure in enumerate(measures):
        traces.append(_curve(steps, number, measure=measure, url_of=url_of))
        if old is not None and old[measure]["value"] is not None:
            traces.append(_level(old[measure]["value"], number, measure=measure))
    layout = frame(340, [dial_finding(rows, measures[0])])
    layout["xaxis"] |= {
        "title": axis_title("migrated chunks, % (the query is the new embedder’s)"),
        "range": [-3, 103], "zeroline": False,
    }  # fmt: skip
    layout["yaxis"] = {"rangemode": "tozero", "automargin": True, "fixedrange": True}
    return {"data": traces, "layout": layout}


def dial_finding(rows: Sequence[Row], measure: str) -> str:
    """Say where the dial is lowest."""
    known = [
        row
        for row in rows
        if row["migrated_share_percent"] is not None and row[measure]["value"] is not None
    ]
    if not known:
        return "The dial was not measured"
    worst = min(known, key=lambda row: float(row[measure]["value"]))
    name, percent = MEASURES[measure]
    share = worst["migrated_share_percent"]
    value = _value(worst[measure]["value"], percent)
    return f"{name[0].upper()}{name[1:]} is lowest with {share:g} % migrated: {value}"


def _marks(
    label: str, rows: Sequence[Row], number: int, *, measure: str, at: Mapping[str, int],
    url_of: Callable[[str], str],
) -> Figure:  # fmt: skip
    known = [row for row in rows if row[measure]["value"] is not None]
    return {
        "type": "scatter", "mode": "markers", "name": label,
        "x": [row[measure]["value"] for row in known], "y": [at[row["index"]] for row in known],
        "error_x": _errors([row[measure] for row in known], number),
        "marker": {"size": 11, "color": COLOURS[number], "symbol": MARKERS[number]},
        "hovertext": [_hover(row, measure) for row in known], "hoverinfo": "text",
        "customdata": [url_of(row["index"]) for row in known],
    }  # fmt: skip


def _curve(
    steps: Sequence[Row], number: int, *, measure: str, url_of: Callable[[str], str]
) -> Figure:
    known = [row for row in steps if row[measure]["value"] is not None]
    return {
        "type": "scatter", "mode": "lines+markers", "name": MEASURES[measure][0],
        "x": [row["migrated_share_percent"] for row in known],
        "y": [row[measure]["value"] for row in known],
        "error_y": _errors([row[measure] for row in known], number),
        "line": {"width": 2, "color": COLOURS[number]},
        "marker": {"size": 9, "color": COLOURS[number], "symbol": MARKERS[number]},
        "hovertext": [_hover(row, measure) for row in known], "hoverinfo": "text",
        "customdata": [url_of(row["index"]) for row in known],
    }  # fmt: skip


def _level(value: float, number: int, *, measure: str) -> Figure:
    return {
        "type": "scatter", "mode": "lines", "name": f"{MEASURES[measure][0]} of the old index",
        "x": [0, 100], "y": [value, value], "hoverinfo": "name",
        "line": {"width": 1.5, "dash": "dot", "color": COLOURS[number]},
    }  # fmt: skip


def _errors(figures: Sequence[Row], number: int) -> Figure:
    def ends(name: str, sign: int) -> list[float]:
        return [0 if f[name] is None else sign * (f[name] - f["value"]) for f in figures]

    return {
        "type": "data", "symmetric": False, "thickness": 2, "width": 5, "color": COLOURS[number],
        "array": ends("high", 1), "arrayminus": ends("low", -1),
    }  # fmt: skip


def _hover(row: Row, measure: str) -> str:
    figure, (name, percent) = row[measure], MEASURES[measure]
    span = "no interval"
    if figure["low"] is not None:
        low, high = (_value(figure[end], percent) for end in ("low", "high"))
        span = f"95 % interval {low} to {high}"
    n = figure["n_histories"]
    value = _value(figure["value"], percent)
    return f"<b>{row['index']}</b><br>{name} {value}, {span}<br>{n} histories"


def _value(value: float, percent: bool) -> str:
    return f"{100 * value:.1f} %" if percent else f"{value:.3f}"


def _axis(name: str, percent: bool) -> str:
    return f"{name}, share of 1" if percent else name
