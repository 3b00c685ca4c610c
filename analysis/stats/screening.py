"""The quick check: how well a few fixed probes predict the accuracy on all the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.cells import Cell, Cube
from analysis.stats.figures import BoolArray, Estimate, Figure, FloatArray, PerHistory
from analysis.stats.inference import estimate

SCHEMES = ("history", "pair", "format")


@dataclass(frozen=True, slots=True)
class Predictions:
    """One row per cell and history: the score on the screening probes, and on the others.

    `groups` says for every scheme which group a row belongs to.
    """

    histories: tuple[str, ...]
    history: Any
    x: FloatArray
    y: FloatArray
    groups: dict[str, Any]
    labels: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the line that was fitted without a group predicts that group.

    Attributes
    ----------
    scheme
        What was left out: a history, a (writer, reader) pair, a format.
    mae, rmse
        Mean absolute and root mean squared error, fractions.
    bias
        Predicted − actual, with its interval *across histories*.
    mean_slope
        Over the folds.
    """

    scheme: str
    n_predictions: int
    n_folds: int
    mae: Figure
    rmse: Figure
    bias: Estimate
    mean_slope: Figure

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "scheme": self.scheme,
            "n_predictions": self.n_predictions,
            "n_folds": self.n_folds,
            "mae": self.mae.as_json(),
            "rmse": self.rmse.as_json(),
            "bias": self.bias.as_json(),
            "mean_slope": self.mean_slope.as_json(),
        }


def predictions(cube: Cube, cells: Sequence[Cell] | None = None) -> Predictions:
    """Scores on the screening probes and on the others, for every cell and history.

    Parameters
    ----------
    cube
        All answers.
    cells
        By default every normal cell without index or repair, first repeat.

    Notes
    -----
    A history without screening probes, or with an unscored answer in the cell, is left out of that
    cell. The pair of a format that nobody writes is (none, reader).

    Examples
    --------
    >>> cube = Cube.of({Cell("lc_raw", reader="A"): {"h": [1, 0, 1, 1]}}, screening=2)
    >>> data = predictions(cube)
    >>> data.x, data.y, data.labels["pair"]
    (array([0.5]), array([1.]), ('none → A',))
    """
    chosen = [
        cell
        for cell in (cube.first_repeats() if cells is None else cells)
        if cell.condition == "normal" and not cell.index and not cell.repair
    ]
    rows: list[tuple[int, float, float, str, str]] = []
    for cell in chosen:
        quick, rest = cube.counts(cell, cube.screening), cube.counts(cell, ~cube.screening)
        usable = np.flatnonzero(quick.defined & rest.defined)
        x, y = quick.accuracy().values, rest.accuracy().values
        pair = f"{cell.writer or 'none'} → {cell.reader}"
        rows += [(int(h), float(x[h]), float(y[h]), pair, cell.format) for h in usable]
    history = np.array([row[0] for row in rows], dtype=np.int64)
    pairs, pair_of = np.unique([row[3] for row in rows], return_inverse=True)
    formats, format_of = np.unique([row[4] for row in rows], return_inverse=True)
    return Predictions(
        histories=cube.histories,
        history=history,
        x=np.array([row[1] for row in rows], dtype=np.float64),
        y=np.array([row[2] for row in rows], dtype=np.float64),
        groups={"history": history, "pair": pair_of, "format": format_of},
        labels={"pair": tuple(pairs.tolist()), "format": tuple(formats.tolist())},
    )


def leave_one_out(x: FloatArray, y: FloatArray, groups: Any) -> tuple[FloatArray, FloatArray]:
    """Predict every row by ``y = a + b·x`` fitted by least squares without its group.

    Returns
    -------
    predicted : array, shape (n,)
        NaN where the other groups have no spread in x.
    slopes : array, shape (n_groups,)
        One per fold, NaN likewise.

    Notes
    -----
    Sums of each group are taken from the totals: all folds at the price of one.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> predicted, slopes = leave_one_out(x, 1 + 2 * x, np.array([0, 0, 1, 1]))
    >>> predicted, slopes
    (array([1., 3., 5., 7.]), array([2., 2.]))
    """
    n_groups = int(groups.max()) + 1 if groups.size else 0

    def without(values: FloatArray) -> FloatArray:
        of_group = np.bincount(groups, weights=values, minlength=n_groups)
        return np.asarray(values.sum() - of_group)

    # Around the mean, so that the sums do not cancel.
    cx, cy = x - x.mean() if x.size else x, y - y.mean() if y.size else y
    n = without(np.ones_like(x))
    sx, sy = without(cx), without(cy)
    sxx, sxy = without(cx * cx), without(cx * cy)
    spread = n * sxx - sx * sx
    enough = (n >= 2) & (spread > 1e-12)
    slopes = np.full(n_groups, np.nan)
    np.divide(n * sxy - sx * sy, spread, out=slopes, where=enough)
    intercepts = np.where(enough, (sy - slopes * sx) / np.maximum(n, 1), np.nan)
    predicted = intercepts[groups] + slopes[groups] * cx + (y.mean() if y.size else 0.0)
    return np.asarray(predicted), slopes


def calibrate(data: Predictions, scheme: str, rows: BoolArray | None = None) -> Calibration:
    """Calibration of the quick check under one leave-one-out scheme.

    Parameters
    ----------
    data
        From `predictions`.
    scheme
        history, pair or format.
    rows
        Only these rows (one format: "calibrated per format"); None: all.

    Returns
    -------
    Calibration
        Undefined where there is only one group, or no spread in the screening scores.

    Notes
    -----
    Source: the paper, appendix C and Table 5 (whose half-widths treat predictions as independent;
    the interval of the bias here is across histories); statistics.md, row "Screening".

    Examples
    --------
    >>> scores = {"a": [1, 0, 1, 0], "b": [1, 1, 1, 1], "c": [0, 0, 0, 0]}
    >>> data = predictions(Cube.of({Cell("lc_raw", reader="A"): scores}, screening=2))
    >>> round(calibrate(data, "history").mae.value, 6)
    0.0
    """
    keep = np.ones(data.x.size, dtype=np.bool_) if rows is None else rows
    x, y, history = data.x[keep], data.y[keep], data.history[keep]
    _, groups = np.unique(data.groups[scheme][keep], return_inverse=True)
    predicted, slopes = leave_one_out(x, y, groups)
    usable = ~np.isnan(predicted)
    errors = (predicted - y)[usable]
    bias = _by_history(errors, history[usable], data.histories)
    if not errors.size:
        none = Figure.undefined("one group alone, or no spread in the screening scores")
        return Calibration(scheme, 0, int(slopes.size), none, none, bias, none)
    return Calibration(
        scheme=scheme,
        n_predictions=int(errors.size),
        n_folds=int(slopes.size),
        mae=Figure.ok(float(np.abs(errors).mean())),
        rmse=Figure.ok(float(np.sqrt(np.mean(errors**2)))),
        bias=bias,
        mean_slope=Figure.ok(float(np.nanmean(slopes))),
    )


def _by_history(errors: FloatArray, history: Any, histories: tuple[str, ...]) -> Estimate:
    n = np.bincount(history, minlength=len(histories))
    total = np.bincount(history, weights=errors, minlength=len(histories))
    reasons = tuple("" if count else "no prediction" for count in n.tolist())
    means = PerHistory(histories, total / np.maximum(n, 1), np.asarray(n > 0), reasons)
    return estimate(means, unit="accuracy")


def correlation(data: Predictions) -> Figure:
    """Pearson ρ of the screening score with the score on the others, over all cells.

    A ratio; undefined for fewer than two rows, and where either has no spread.

    Notes
    -----
    Source: the paper, appendix C; statistics.md, row "Screening".

    Examples
    --------
    >>> scores = {"a": [1, 0, 1, 0], "b": [1, 1, 1, 1], "c": [0, 0, 0, 0]}
    >>> data = predictions(Cube.of({Cell("lc_raw", reader="A"): scores}, screening=2))
    >>> round(correlation(data).value, 6)
    1.0
    """
    if data.x.size < 2 or np.ptp(data.x) == 0 or np.ptp(data.y) == 0:
        return Figure.undefined("no spread in the scores")
    return Figure.ok(float(np.corrcoef(data.x, data.y)[0, 1]))
