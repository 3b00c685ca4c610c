"""The parts of a report beside the writer swap: each is left out where its cells do not exist."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.stats.cells import ABSENT, BLANK, RIGHT, Cell, Cube
from analysis.stats.decomposition import decompose, matched_cells
from analysis.stats.inference import estimate
from analysis.stats.metrics import difference
from analysis.stats.one_history import LABEL, compare_paired
from analysis.stats.recovery import TARGETS, recoveries
from analysis.stats.rungs import rung_results
from analysis.stats.screening import SCHEMES, calibrate, correlation, predictions
from analysis.stats.swap import directions_of, formats_of, masks_by, normal_cell
from stores.counting import count_of, was_or_were


def loss_decomposition(cube: Cube) -> list[dict[str, Any]] | None:
    """Return where each format loses: overall, by cell, by probe kind."""
    names = sorted({c.format for c in cube.cells if c.condition == "stored_evidence"})
    if not names or not any(c.condition == "raw_evidence" for c in cube.cells):
        return None
    parts = []
    for name in names:
        cells = matched_cells(cube, name)
        parts.append(
            {
                **decompose(cube, name).as_json(),
                "by_cell": [
                    decompose(cube, name, cells=[cell], keep_values=False).as_json()
                    for cell in cells
                ],
                "by_kind": [
                    {"kind": kind, **decompose(cube, name, mask=mask, keep_values=False).as_json()}
                    for kind, mask in masks_by(cube.kinds)
                ],
            }
        )
    return parts


def repair(cube: Cube) -> dict[str, Any] | None:
    """Return cost to recover by format, direction, method and target, per history."""
    found = recoveries(cube)
    if not found:
        return None
    units = [name.removeprefix("cost_") for name in cube.costs if name != "cost_usd"]
    return {
        "targets": list(TARGETS),
        "note": "repair model and direction change together: no clean comparison of models",
        "usd": [recovery.as_json() for recovery in found],
        **{unit: [r.as_json() for r in recoveries(cube, unit=unit)] for unit in units},
        "by_rung": {
            unit: [result.as_json() for result in rung_results(cube, unit=unit)]
            for unit in ("usd", *units)
        },
    }


def screening(cube: Cube) -> dict[str, Any] | None:
    """Return how the quick check predicts, under three schemes and calibrated per format."""
    if not cube.screening.any() or cube.screening.all():
        return None
    data = predictions(cube)
    if not data.x.size:
        return None
    formats = data.labels["format"]
    return {
        "probes_per_history": _screening_probes(cube),
        "rho": correlation(data).as_json(),
        "schemes": [calibrate(data, scheme).as_json() for scheme in SCHEMES],
        "per_format": [
            {"format": name, **calibrate(data, "history", data.groups["format"] == at).as_json()}
            for at, name in enumerate(formats)
        ],
        "points": [
            {
                "history": data.histories[h],
                "pair": data.labels["pair"][p],
                "format": formats[f],
                "screening": x,
                "others": y,
            }
            for h, p, f, x, y in zip(
                data.history.tolist(),
                data.groups["pair"].tolist(),
                data.groups["format"].tolist(),
                data.x.tolist(),
                data.y.tolist(),
                strict=True,
            )
        ],
        "note": "ranks candidates or stops a bad one; it never approves",
    }


def _screening_probes(cube: Cube) -> dict[str, int]:
    n = np.asarray(cube.per_history(cube.screening))
    return {"least": int(n.min()), "most": int(n.max())}


def style_rewrite(cube: Cube) -> list[dict[str, Any]] | None:
    """Return the accuracy change when the new model rewrites the old notes in its own manner."""
    cells = [c for c in cube.first_repeats() if c.condition == "style_rewrite" and not c.repair]
    if not cells:
        return None
    return [
        {
            "format": cell.format,
            "writer": cell.writer,
            "rewriter": cell.reader,
            "accuracy_change": estimate(
                difference(
                    cube.counts(cell),
                    cube.first(Cell(cell.format, cell.embedder, cell.writer, cell.reader)),
                ),
                unit="accuracy",
            ).as_json(),
        }
        for cell in cells
    ]


def this_store_only(cube: Cube) -> dict[str, Any] | None:
    """Return paired comparisons where there is one history alone; None where there are more."""
    if len(cube.histories) != 1:
        return None
    comparisons = []
    for old, new in directions_of(cube):
        for form in formats_of(cube):
            if not form.written:
                continue
            own = normal_cell(form, writer=new, reader=new)
            inherited = normal_cell(form, writer=old, reader=new)
            if own in cube.row and inherited in cube.row:
                pair = _paired(cube, own, inherited)
                comparisons.append({"format": form.name, "old": old, "new": new, **pair})
    return {"label": LABEL, "comparisons": comparisons}


def _paired(cube: Cube, own: Cell, inherited: Cell) -> dict[str, Any]:
    a, b = cube.correct[cube.row[own]], cube.correct[cube.row[inherited]]
    scored = (a > BLANK) & (b > BLANK)
    unscored = int(np.sum(((a != ABSENT) | (b != ABSENT)) & ~scored))
    if unscored:
        return {
            "status": "undefined",
            "reason": (
                f"{count_of(unscored, 'probe')} {was_or_were(unscored)} not scored, "
                "or not asked, in both cells"
            ),
        }
    first, second = (a == RIGHT).tolist(), (b == RIGHT).tolist()
    return {
        "status": "ok",
        "reason": "",
        **compare_paired(cube.histories[0], first, second).as_json(),
    }


def probe_sets(cube: Cube) -> list[dict[str, Any]]:
    """Return every cell and history that lacks probes which other cells of the history were asked.

    Such cells cannot be compared with those others: the history is left out of the comparison.
    """
    asked = np.array([cube.per_history(row != ABSENT) for row in cube.correct], dtype=np.int64)
    rows, histories = np.nonzero((asked > 0) & (asked < cube.probes_per_history))
    return [
        {
            "history": cube.histories[position],
            "cell": cube.cells[row].label(),
            "asked": int(asked[row, position]),
            "of": int(cube.probes_per_history[position]),
            "reason": "cells over different probes cannot be compared",
        }
        for row, position in zip(rows.tolist(), histories.tolist(), strict=True)
    ]


# More cells or histories than this are counted and not named.
NAMED = 5


def probe_set_words(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say, cell by cell, in which histories it lacks probes; nothing where none does."""
    by_cell: dict[str, list[str]] = {}
    for one in found:
        short = f"{one['history']}: {one['asked']} of {one['of']}"
        by_cell.setdefault(one["cell"], []).append(short)
    lines = [
        f"{cell} lacks probes that other cells were asked in "
        f"{count_of(len(histories), 'history')} ({_first_of(histories)}): cells over different "
        "probes cannot be compared, and the history is left out where they would be"
        for cell, histories in list(by_cell.items())[:NAMED]
    ]
    if len(by_cell) > NAMED:
        others = count_of(len(by_cell) - NAMED, "further cell")
        lines.append(f"{others} like that: `probe_sets` of the JSON report names all")
    return lines


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f", and {more} more" if more > 0 else "")


def cells_table(cube: Cube) -> list[dict[str, Any]]:
    """Return the accuracy of every cell, first repeats and others, with its n."""
    return [
        {
            **{name: getattr(cell, name) for name in cell.__dataclass_fields__},
            "accuracy": estimate(
                cube.counts(cell).accuracy(), unit="accuracy", keep_values=False
            ).as_json(),
        }
        for cell in cube.cells
    ]
