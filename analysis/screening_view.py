"""The page of screening: what a few fixed probes say about the others, and what they cannot."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES
from analysis.page_parts import Asked, Chart, Filter, PartPage, Section, is_unplanned
from analysis.page_tables import Column, PageTable, Row
from analysis.part_charts import points
from analysis.stats.screening import SCHEMES, leave_one_out

SCHEME_NAMES = {"history": "an unseen history", "pair": "an unseen model pair",
                "format": "an unseen format"}  # fmt: skip
CALIBRATION = (
    Column("what", "Predicted is"), Column("mae", "Mean absolute error", True),
    Column("rmse", "Root mean squared error", True),
    Column("bias", "Bias: predicted − actual", True), Column("slope", "Mean slope", True),
    Column("n", "Predictions", True), Column("folds", "Folds", True),
)  # fmt: skip


def build(asked: Asked) -> PartPage:
    """Return the page; the address chooses the scheme and may narrow it to one format."""
    title = "Screening"
    part = asked.report.get("screening")
    if not part:
        return PartPage(title, "", missing="No probe of this study is marked as a screening probe.")
    scheme = asked.chosen("scheme", SCHEMES) or SCHEMES[0]
    formats = list(dict.fromkeys(point["format"] for point in part["points"]))
    form = asked.chosen("format", formats)
    sizes = part["probes_per_history"]
    n = sizes["least"] if sizes["least"] == sizes["most"] else f"{sizes['least']}–{sizes['most']}"
    return PartPage(
        title,
        f"How well {n} fixed probes of a history predict the accuracy on all its other probes.",
        (_scatter(asked, part, scheme, form), _schemes(asked, part), _can(part),
         _formats(asked, part)),
        filters=(
            Filter("scheme", "Predicted is", tuple(SCHEME_NAMES.items()), scheme, any_label=""),
            Filter("format", "Format", tuple((f, FORMAT_NAMES.get(f, f)) for f in formats), form),
        ),
    )  # fmt: skip


def predicted(part: Mapping[str, Any], scheme: str) -> list[float | None]:
    """The prediction of every point, by the line that was fitted without its group."""
    rows = part["points"]
    x = np.array([row["screening"] for row in rows], dtype=np.float64)
    y = np.array([row["others"] for row in rows], dtype=np.float64)
    _, groups = np.unique([row[scheme] for row in rows], return_inverse=True)
    values, _ = leave_one_out(x, y, groups)
    return [None if np.isnan(value) else float(value) for value in values]


def _scatter(asked: Asked, part: Mapping[str, Any], scheme: str, form: str) -> Section:
    rows = zip(part["points"], predicted(part, scheme), strict=True)
    series: dict[str, list[tuple[float, float, str, str]]] = {}
    lines = []
    for row, value in rows:
        if form not in ("", row["format"]):
            continue
        writer, _, reader = row["pair"].partition(" → ")
        writer = "" if writer == "none" else writer
        url = asked.answers(format=row["format"], reader=reader, index="none", writer=writer,
                            history=row["history"])  # fmt: skip
        name = FORMAT_NAMES.get(row["format"], row["format"])
        lines.append(_point(row, name, value, url))
        if value is not None:
            hover = f"{row['history']}, {row['pair']}"
            mark = (round(value, 3), round(row["others"], 3), hover, url)
            series.setdefault(name, []).append(mark)
    found = next(one for one in part["schemes"] if one["scheme"] == scheme)
    findings = _findings(part, found)
    figure = points(list(series.items()), x="predicted accuracy on the other probes",
                    y="actual accuracy on the other probes", findings=findings, height=460, size=6,
                    lines=[("predicted = actual", [(0.0, 0.0), (1.0, 1.0)])])  # fmt: skip
    return Section(
        "Predicted against actual", findings,
        Chart(figure, "screening", "Predicted against actual accuracy on the other probes, one "
              "marker per cell and history; the download below holds every point."),
        (PageTable("points", "Predictions", (
            Column("history", "History"), Column("pair", "Writer → reader"),
            Column("format", "Format"), Column("screening", "On the screening probes", True),
            Column("predicted", "Predicted", True), Column("others", "On the others", True),
            Column("error", "Predicted − actual, pp", True)), tuple(lines)),),
        ("Straight line by least squares, fitted without the group that it predicts.",),
        unplanned=is_unplanned(asked.report, "screening"),
    )  # fmt: skip


def _point(row: Mapping[str, Any], name: str, value: float | None, url: str) -> Row:
    line = {
        "history": pt.text(row["history"], url=url), "pair": pt.text(row["pair"]),
        "format": pt.text(name), "screening": pt.number(row["screening"], pt.percent),
        "predicted": pt.Value(None, "undefined", "the other groups have no spread"),
        "others": pt.number(row["others"], pt.percent),
    }  # fmt: skip
    if value is None:
        return line
    error = pt.number(100 * (value - row["others"]), pt.pp)
    return line | {"predicted": pt.number(value, pt.percent), "error": error}


def _findings(part: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[str, ...]:
    mae, rho = found["mae"]["value"], part["rho"]["value"]
    if mae is None:
        return (f"No prediction is possible: {found['mae']['reason']}",)
    words = f"For {SCHEME_NAMES[found['scheme']]} screening is off by {100 * mae:.1f} pp"
    return (words + ("" if rho is None else f"; ρ of the scores is {rho:.2f}"),)


def _row(what: str, found: Mapping[str, Any]) -> dict[str, pt.Value]:
    def pp(value: float) -> str:
        return f"{pt.plain(100 * value, 1)} pp"

    return {
        "what": pt.text(what), "mae": pt.number(found["mae"], pp),
        "rmse": pt.number(found["rmse"], pp),
        "bias": pt.estimate(found["bias"], lambda value: pt.pp(100 * value)),
        "slope": pt.number(found["mean_slope"], pt.ratio),
        "n": pt.count(found["n_predictions"]), "folds": pt.count(found["n_folds"]),
    }  # fmt: skip


def _schemes(asked: Asked, part: Mapping[str, Any]) -> Section:
    rows = tuple(_row(SCHEME_NAMES[one["scheme"]], one) for one in part["schemes"])
    errors = [one["mae"]["value"] for one in part["schemes"]]
    finding: tuple[str, ...] = ()
    if all(error is not None for error in errors):
        ends = " to ".join(f"{100 * error:.1f}" for error in (min(errors), max(errors)))
        finding = (f"Off by {ends} pp, depending on what was never seen before",)
    return Section("Three ways of leaving out", finding, None,
                   (PageTable("schemes", "Calibration by scheme", CALIBRATION, rows),),
                   ("The interval of the bias is across histories: predictions of one history are "
                    "not independent.",),
                   unplanned=is_unplanned(asked.report, "screening"))  # fmt: skip


def _formats(asked: Asked, part: Mapping[str, Any]) -> Section:
    rows = tuple(_row(FORMAT_NAMES.get(one["format"], one["format"]), one)
                 for one in part["per_format"])  # fmt: skip
    return Section("Calibrated per format", (), None,
                   (PageTable("formats", "Calibration within each format, an unseen history",
                              CALIBRATION, rows),),
                   unplanned=is_unplanned(asked.report, "screening"))  # fmt: skip


def _can(part: Mapping[str, Any]) -> Section:
    errors = [one["rmse"]["value"] for one in part["schemes"] if one["rmse"]["value"] is not None]
    off = (
        f" One prediction is off by {100 * max(errors):.0f} pp in the worst scheme."
        if errors
        else ""
    )
    return Section(
        "What screening can decide", (),
        notes=("It can rank candidates, and stop one that is plainly bad, before money is spent.",),
        warnings=(f"It cannot approve a migration: a margin of a few points is smaller than its "
                  f"error.{off}",),
    )  # fmt: skip
