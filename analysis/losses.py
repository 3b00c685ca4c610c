"""Losses by stage: the decomposition with the single probes that each part counts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis import sections
from analysis.stats.cells import Cell, Cube
from analysis.stats.decomposition import COMPONENTS, matched_cells
from analysis.stats.figures import BoolArray
from analysis.stats.stages import STAGES, Followed, FollowedProbes, Patterns, patterns

# What the stage of a probe is called in words; those of a component are in `loss_charts.NAMES`.
STAGE_WORDS = {
    "construction": "lost in construction: right with the original events, wrong with what the "
    "store keeps of them",
    "retrieval": "lost in retrieval: right with the store’s own items at hand, wrong when they had "
    "to be found",
    "reading": "lost in reading: wrong even with the original events at hand",
    "none": "not lost: right in every condition",
    "no stage": "fits no stage: more help made a right answer wrong",
}


@dataclass(frozen=True, slots=True)
class PartOfLoss:
    """The probes of one part; of a component how many were lost there, and the other way."""

    probes: FollowedProbes
    lost: int = 0
    regained: int = 0


def section(cube: Cube) -> list[dict[str, Any]] | None:
    """Return the decomposition of every format, with how many probes each part counts."""
    parts = sections.loss_decomposition(cube)
    if parts is None:
        return None
    return [{**part, **_counts(patterns(cube, part["format"]))} for part in parts]


def _counts(found: Patterns) -> dict[str, Any]:
    return {
        "probes_counted": int(found.counted.sum()),
        "probes_by_component": found.by_component(),
        "probes_by_stage": dict(found.by_stage()),
    }


def probes_of(
    cube: Cube,
    name: str,
    *,
    part: str,
    kind: str = "",
    writer: str = "",
    reader: str = "",
) -> PartOfLoss | None:
    """Return exactly the probes that a part of the decomposition counts, or those of a stage.

    Parameters
    ----------
    name
        The format.
    part
        A component (`retrieval`, `construction`, `reader`) or `stage:` and a stage.
    kind, writer, reader
        Only probes of this kind, only cells of these models; '' for all.

    Returns
    -------
    PartOfLoss
        None where the format was not decomposed, or there is no such part.
    """
    cells = [c for c in matched_cells(cube, name) if _is(c, writer, reader)]
    if not cells:
        return None
    found = patterns(cube, name, cells=cells, mask=_mask(cube, kind))
    stage = part.removeprefix("stage:")
    if stage != part and stage in STAGES:
        return PartOfLoss(found.of_stage(stage))
    if part not in COMPONENTS:
        return None
    signs = found.signs(part)
    places = np.asarray(signs != 0, dtype=np.bool_)
    return PartOfLoss(found.of(places), int((signs > 0).sum()), int((signs < 0).sum()))


def _is(cell: Cell, writer: str, reader: str) -> bool:
    return writer in ("", cell.writer) and reader in ("", cell.reader)


def _mask(cube: Cube, kind: str) -> BoolArray | None:
    return np.asarray(cube.kinds == kind, dtype=np.bool_) if kind else None


def sign_of(part: str, one: Followed) -> int:
    """What one probe adds to a component; 0 for a stage."""
    parts = {
        "retrieval": one.stored - one.normal,
        "construction": one.raw - one.stored,
        "reader": 1 - one.raw,
    }
    return int(parts.get(part, 0))
