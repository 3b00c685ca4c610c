"""Migration test 1: every model writes, every model reads, in the planned directions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.repeats import choose_cells
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec
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
        stores = _stores(plan, ground)
        cells = [cell for store in stores for cell in _cells(plan, store)]
        readers = _reading_order(plan)
        cells.sort(key=lambda cell: readers.index(cell.reader))
        repeats = [replace(cell, repeat=1) for cell in _chosen(plan, cells)]
        repeats.sort(key=lambda cell: readers.index(cell.reader))
        return Expansion(
            stores=tuple(stores),
            evaluations=(*cells, *repeats),
            left_out=ground.left_out(plan.formats),
        )


def _stores(plan: StudyPlan, ground: Ground) -> list[StoreSpec]:
    """Those that no model writes first, then everything of one writer after the other."""
    free = [name for name in plan.formats if not ground.formats[name].needs_writer]
    written = [name for name in plan.formats if ground.formats[name].needs_writer]
    stores = []
    for name in free:
        embedders = _embedders(plan) if ground.formats[name].needs_embedder else ("",)
        for history in ground.applicable(name):
            stores += [_store(history.key, name, embedder=key) for key in embedders]
    for writer in _models(plan):
        for name in written:
            stores += [_store(h.key, name, writer=writer) for h in ground.applicable(name)]
    return stores


def _store(history: str, name: str, *, writer: str = "", embedder: str = "") -> StoreSpec:
    key = "/".join(part for part in (history, name, writer, embedder) if part)
    return StoreSpec(key=key, history=history, format=name, writer=writer, embedder=embedder)


def _cells(plan: StudyPlan, store: StoreSpec) -> Iterator[EvaluationSpec]:
    """The cells of one store: every reader that a planned direction needs on it."""
    pairs = {pair for old, new in plan.planned_directions for pair in (
        (old, old), (new, new), (old, new),
    )}  # fmt: skip
    for reader in _models(plan):
        if not store.writer or (store.writer, reader) in pairs:
            yield EvaluationSpec(
                history=store.history,
                format=store.format,
                store_key=store.key,
                writer=store.writer,
                reader=reader,
                embedder=store.embedder,
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


def _models(plan: StudyPlan) -> list[str]:
    """The models that a direction names, in the plan's order."""
    used = {key for direction in plan.planned_directions for key in direction}
    return [model.key for model in plan.models if model.key in used]


def _reading_order(plan: StudyPlan) -> list[str]:
    """The last writer reads first: its weights are still in memory."""
    return _models(plan)[::-1]


def _embedders(plan: StudyPlan) -> tuple[str, ...]:
    settings = plan.tests.writer_swap
    named = settings.embedders if settings is not None else ()
    return named or tuple(embedder.key for embedder in plan.embedders[:1])
