"""Migration test 1: every model writes, every model reads, in the planned directions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.normal_cells import cells_of, reading_order, stores_of
from experiments.plan.repeats import choose_cells
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion
from stores.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class WriterSwapTest:
    """`notes` and `kg_fixed` are written by each model; `lc_raw` and `rag` are the controls.

    A direction old→new needs three cells of each written format: both models on their own stores,
    and the new one on the old one's. With every ordered pair of M models that is M × M.
    """

    name: str = "writer_swap"
    title: str = "Writer swap"

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return stores by writer, then evaluations by reader, then the noise repeats."""
        stores = stores_of(plan, ground, plan.formats)
        cells = [cell for store in stores for cell in cells_of(plan, store)]
        readers = reading_order(plan)
        cells.sort(key=lambda cell: readers.index(cell.reader))
        repeats = [replace(cell, repeat=1) for cell in _chosen(plan, cells)]
        repeats.sort(key=lambda cell: readers.index(cell.reader))
        return Expansion(
            stores=tuple(stores),
            evaluations=(*cells, *repeats),
            left_out=ground.left_out(plan.formats),
        )


def _chosen(plan: StudyPlan, cells: Sequence[EvaluationSpec]) -> list[EvaluationSpec]:
    settings = plan.tests.writer_swap
    count = settings.noise_repeats if settings is not None else 0
    if count > len(cells):
        raise InvalidInputError(
            f"{count:,} noise repeats are asked for, but the writer swap has {len(cells):,} cells",
            where="tests.writer_swap.noise_repeats",
            expected=f"at most {len(cells):,}",
        )
    return choose_cells(cells, count=count, seed=plan.seed)
