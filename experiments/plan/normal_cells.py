"""The stores and normal cells of a plan: who writes, who reads whom. Several tests begin here."""

from collections.abc import Iterator, Sequence

from experiments.plan.migration_test import Ground
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import EvaluationSpec, StoreSpec


def stores_of(plan: StudyPlan, ground: Ground, formats: Sequence[str]) -> list[StoreSpec]:
    """Those that no model writes first, then everything of one writer after the other."""
    free = [name for name in formats if not ground.formats[name].needs_writer]
    written = [name for name in formats if ground.formats[name].needs_writer]
    stores = []
    for name in free:
        embedders = _embedders(plan) if ground.formats[name].needs_embedder else ("",)
        for history in ground.applicable(name):
            stores += [plain_store(history.key, name, embedder=key) for key in embedders]
    for writer in models_of(plan):
        for name in written:
            stores += [plain_store(h.key, name, writer=writer) for h in ground.applicable(name)]
    return stores


def cells_of(plan: StudyPlan, store: StoreSpec) -> Iterator[EvaluationSpec]:
    """The cells of one store: every reader that a planned direction needs on it."""
    pairs = {pair for old, new in plan.planned_directions for pair in (
        (old, old), (new, new), (old, new),
    )}  # fmt: skip
    for reader in models_of(plan):
        if not store.writer or store.writer == reader or (store.writer, reader) in pairs:
            yield EvaluationSpec(
                history=store.history,
                format=store.format,
                store_key=store.key,
                writer=store.writer,
                reader=reader,
                embedder=store.embedder,
            )


def models_of(plan: StudyPlan) -> list[str]:
    """The models that a direction names, in the plan's order; all where there is no direction."""
    used = {key for direction in plan.planned_directions for key in direction}
    return [model.key for model in plan.models if not used or model.key in used]


def reading_order(plan: StudyPlan) -> list[str]:
    """The last writer reads first: its weights are still in memory."""
    return models_of(plan)[::-1]


def plain_store(history: str, name: str, *, writer: str = "", embedder: str = "") -> StoreSpec:
    """Return a store that is written from its history."""
    key = "/".join(part for part in (history, name, writer, embedder) if part)
    return StoreSpec(key=key, history=history, format=name, writer=writer, embedder=embedder)


def _embedders(plan: StudyPlan) -> tuple[str, ...]:
    settings = plan.tests.writer_swap
    named = settings.embedders if settings is not None else ()
    return named or tuple(embedder.key for embedder in plan.embedders[:1])
