"""Plotly figures as plain JSON, made from finished figures of a report. No statistics here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.chart_frame import COLOURS, MARKERS, Figure, axis_title, frame, margin_band
from analysis.planning import direction_mark
from analysis.words import points
from stores.counting import count_of

Report = Mapping[str, Any]
UrlOf = Callable[[Mapping[str, Any], Mapping[str, Any]], str]

ROW_PX = 34
FRAME_PX = 110
# How far the rows of one format are spread, in units of the distance between two formats.
SPREAD = 0.5


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate in a chart: where it stands, its interval, and what is said of it."""

    value: float
    low: float | None
    high: float | None
    row: float
    hover: str
    url: str


def swap_delta(report: Report, names: Mapping[str, str], *, url_of: UrlOf) -> Figure:
    """Draw the swap delta of every written format, each direction apart, with the margin band."""
    margin = report["settings"]["margin_pp"]
    figure = _forest(
        report,
        names,
        _decided_delta,
        [f for f in _formats(report) if _is_written(report, f)],
        url_of,
        findings=swap_delta_finding(report, names),
    )
    figure["layout"]["shapes"] = [margin_band(margin), *figure["layout"]["shapes"]]
    figure["layout"]["xaxis"]["title"] = axis_title("swap delta, pp (left of 0: a loss)")
    return figure


def service_change(report: Report, names: Mapping[str, str], *, url_of: UrlOf) -> Figure:
    """Draw what users of the service see on the day of the switch, each direction apart."""
    figure = _forest(
        report, names, lambda entry: entry["service_change_pp"], _formats(report), url_of,
        findings=service_finding(report, names),
    )  # fmt: skip
    figure["layout"]["xaxis"]["title"] = axis_title("service change, pp (left of 0: worse)")
    return figure


def swap_delta_finding(report: Report, names: Mapping[str, str]) -> list[str]:
    """Say what was found: one line per direction, the verdict of each written format."""
    lines = []
    for direction in report["directions"]:
        parts = [
            f"{names.get(entry['format'], entry['format'])}: {entry['verdict']['heading'].lower()}"
            for entry in direction["formats"]
            if entry["written"]
        ]
        said = "; ".join(parts) or "no format that a model writes"
        head = f"{direction['old']} → {direction['new']}{direction_mark(direction)}"
        lines.append(f"{head}. {said}")
    return lines


def service_finding(report: Report, names: Mapping[str, str]) -> list[str]:
    """Say what was found: one line per direction, the largest change of the service."""
    lines = []
    for direction in report["directions"]:
        known = [e for e in direction["formats"] if e["service_change_pp"]["value"] is not None]
        head = f"{direction['old']} → {direction['new']}{direction_mark(direction)}: "
        if not known:
            lines.append(head + "no service change could be computed")
            continue
        low = min(known, key=lambda entry: entry["service_change_pp"]["value"])
        high = max(known, key=lambda entry: entry["service_change_pp"]["value"])
        ends = [f"{names.get(e['format'], e['format'])} {points(e['service_change_pp']['value'])}"
                for e in ([low] if low is high else [low, high])]  # fmt: skip
        lines.append(head + "users see " + " to ".join(ends) + " pp")
    return lines


def _decided_delta(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """The swap delta with the interval that the verdict rests on."""
    interval = entry["verdict"]["interval"]
    if interval["low"] is None:
        return dict(entry["swap_delta_pp"])
    return {**entry["swap_delta_pp"], "low": interval["low"], "high": interval["high"]}


def _formats(report: Report) -> list[str]:
    """Every format of the report, in the order of its first direction."""
    return (
        [entry["format"] for entry in report["directions"][0]["formats"]]
        if report["directions"]
        else []
    )


def _is_written(report: Report, name: str) -> bool:
    return any(
        entry["written"]
        for direction in report["directions"]
        for entry in direction["formats"]
        if entry["format"] == name
    )


def _forest(
    report: Report,
    names: Mapping[str, str],
    estimate_of: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    formats: Sequence[str],
    url_of: UrlOf,
    *,
    findings: Sequence[str],
) -> Figure:
    """One row per format and direction: a marker and its 95 % interval."""
    directions = report["directions"]
    rows = {name: float(position) for position, name in enumerate(formats)}
    traces, missing = [], []
    for number, direction in enumerate(directions):
        offset = SPREAD * ((number + 0.5) / len(directions) - 0.5)
        marks = []
        for entry in direction["formats"]:
            if entry["format"] not in rows:
                continue
            row = rows[entry["format"]] + offset
            estimate = estimate_of(entry)
            if estimate["value"] is None:
                missing.append(_undefined(row, number))
                continue
            marks.append(_mark(direction, entry, estimate, row, names, url_of(direction, entry)))
        name = f"{direction['old']} → {direction['new']}{direction_mark(direction)}"
        traces.append(_trace(name, marks, number))
    n_rows = len(formats) * max(1, len(directions))
    layout = _layout(formats, names, height=FRAME_PX + ROW_PX * max(2, n_rows), findings=findings)
    layout["annotations"] = missing
    return {"data": traces, "layout": layout}


def _mark(
    direction: Mapping[str, Any], entry: Mapping[str, Any], estimate: Mapping[str, Any],
    row: float, names: Mapping[str, str], url: str,
) -> Mark:  # fmt: skip
    name = names.get(entry["format"], entry["format"])
    span = "no interval"
    if estimate["low"] is not None:
        span = f"95 % interval {points(estimate['low'])} to {points(estimate['high'])}"
    hover = (
        f"<b>{name}</b>, {direction['old']} → {direction['new']}<br>"
        f"{points(estimate['value'])} pp, {span}<br>{count_of(estimate['n_histories'], 'history')}"
    )
    return Mark(estimate["value"], estimate["low"], estimate["high"], row, hover, url)


def _trace(name: str, marks: Sequence[Mark], number: int) -> Figure:
    colour, symbol = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    return {
        "type": "scatter", "mode": "markers", "name": name,
        "x": [mark.value for mark in marks], "y": [mark.row for mark in marks],
        "error_x": {
            "type": "data", "symmetric": False, "thickness": 2, "width": 5, "color": colour,
            "array": [0 if m.high is None else m.high - m.value for m in marks],
            "arrayminus": [0 if m.low is None else m.value - m.low for m in marks],
        },
        "marker": {"size": 11, "color": colour, "symbol": symbol},
        "hovertext": [mark.hover for mark in marks], "hoverinfo": "text",
        "customdata": [mark.url for mark in marks],
    }  # fmt: skip


def _undefined(row: float, number: int) -> Figure:
    return {
        "x": 0, "y": row, "text": "undefined", "showarrow": False, "xanchor": "left", "xshift": 8,
        "font": {"size": 11, "color": COLOURS[number % len(COLOURS)]},
    }  # fmt: skip


def _layout(
    formats: Sequence[str], names: Mapping[str, str], *, height: int, findings: Sequence[str]
) -> Figure:
    positions = [float(position) for position in range(len(formats))]
    layout = frame(height, findings)
    layout["xaxis"] |= {"zeroline": True, "zerolinewidth": 2, "ticksuffix": ""}
    layout["yaxis"] = {
        "tickvals": positions, "ticktext": [names.get(name, name) for name in formats],
        "range": [len(formats) - 0.5, -0.5], "automargin": True, "showgrid": False,
        "zeroline": False, "fixedrange": True,
    }  # fmt: skip
    layout["shapes"] = [
        {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": p + 0.5, "y1": p + 0.5,
         "name": "divider", "line": {"width": 1, "color": "#c2cad4"}, "layer": "below"}
        for p in positions[:-1]
    ]  # fmt: skip
    return layout
