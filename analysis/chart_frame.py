"""What all pictures share: colours, markers, the layout whose title says what was found.

The colours are those of Okabe and Ito; every series also has its own marker, so that no meaning
rests on colour alone. `static/js/charts.js` adds the page's light or dark ground.
"""

from collections.abc import Sequence
from typing import Any

Figure = dict[str, Any]
# Okabe and Ito, without the yellow (too pale on white) and the black (lost on dark).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
MARKERS = ("circle", "diamond", "square", "triangle-up", "cross", "star")
LINE_BREAK_AT = 95


def frame(height: int, findings: Sequence[str]) -> Figure:
    """The layout that every picture shares; its title says what was found."""
    lines = [line for finding in findings for line in _broken(finding)]
    above = 34 + 20 * max(3, len(lines))
    return {
        "height": height,
        "meta": {"paper_width": 960, "paper_height": height + above,
                 "paper_margin": {"t": 34 + above}},
        "margin": {"l": 8, "r": 16, "t": 40, "b": 48}, "font": {"size": 13},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "hovermode": "closest", "dragmode": False, "shapes": [],
        "xaxis": {"automargin": True, "fixedrange": True}, "yaxis": {},
        "title": {"text": "<br>".join(lines), "x": 0.01, "xref": "container", "y": 0.98,
                  "yanchor": "top", "font": {"size": 14}},
    }  # fmt: skip


def axis_title(text: str) -> dict[str, Any]:
    """A title of an axis."""
    return {"text": text, "standoff": 8, "font": {"size": 12}}


def _broken(line: str) -> list[str]:
    """A finding in lines that fit the width of a downloaded picture."""
    lines: list[str] = []
    for word in line.split(" "):
        if lines and len(lines[-1]) + len(word) < LINE_BREAK_AT:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def margin_band(margin_pp: float) -> Figure:
    """The margin: a change inside it is one that the plan takes for none."""
    return {
        "type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": -margin_pp, "x1": margin_pp,
        "name": "band", "fillcolor": "rgba(0,114,178,.10)", "line": {"width": 0}, "layer": "below",
        "label": {"text": f"±{margin_pp:g} pp", "textposition": "top left", "font": {"size": 10}},
    }  # fmt: skip
