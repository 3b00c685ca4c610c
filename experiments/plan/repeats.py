"""Which cells are read once more for the noise floor: a seeded choice, spread over the study."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple

from experiments.plan.specs import EvaluationSpec


def choose_cells(cells: Sequence[EvaluationSpec], *, count: int, seed: int) -> list[EvaluationSpec]:
    """Choose `count` cells, as evenly over format, writer and reader as the count allows.

    Each cell's place in the draw is a hash of the seed and its key, so the choice is the same on
    every machine and does not depend on the order of the cells.
    """
    strata: dict[tuple[str, ...], list[EvaluationSpec]] = defaultdict(list)
    for cell in sorted(cells, key=lambda cell: _draw(cell, seed)):
        strata[cell.format, cell.writer, cell.reader, cell.embedder, cell.index].append(cell)
    # Round by round: the first of every stratum, then the second of every stratum, …
    rounds = [
        (n, _draw(cell, seed), cell) for kept in strata.values() for n, cell in enumerate(kept)
    ]
    return [cell for _, _, cell in sorted(rounds, key=lambda entry: entry[:2])[:count]]


def _draw(cell: EvaluationSpec, seed: int) -> str:
    text = json.dumps([seed, *astuple(cell)], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
