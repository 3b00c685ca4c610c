"""Migration test 3: what brings a degraded store back, at which budget, against a fresh store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.normal_cells import plain_store, reading_order, stores_of
from experiments.plan.schema import Repair, StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec
from stores.formats.repairing import METHODS, RAG_REEMBED

NAME = "repair"
FRESH = "fresh"
RAG = METHODS[RAG_REEMBED]


@dataclass(frozen=True, slots=True)
class RepairTest:
    """Per direction every method at every rung on the old store, and one fresh store a format.

    With two models: 2 directions x (4 methods x 3 rungs + 3 fresh) = 30 evaluations of a history.
    The inherited stores as they are (`none`) are read by the writer swap and the embedding upgrade.
    """

    name: str = NAME
    title: str = "Repair"

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return degraded and fresh stores, repaired ones by repairer, evaluations by reader."""
        settings = plan.tests.repair
        assert settings is not None, "the plan has no repair"
        formats = repaired_formats(plan)
        plain = [store for store in stores_of(plan, ground, formats) if store.format != RAG]
        if RAG in formats:
            for history in ground.applicable(RAG):
                keys = embedders_of(plan)
                plain += [plain_store(history.key, RAG, embedder=key) for key in keys]
        known = {store.key: store for store in plain}
        repaired, cells = list[StoreSpec](), list[EvaluationSpec]()
        for old, new in plan.planned_directions:
            for name in formats:
                for history in ground.applicable(name):
                    fresh = known[_key(plan, history.key, name, new=new)]
                    cells.append(_cell(fresh, old, new, FRESH))
                    degraded = known[_key(plan, history.key, name, old=old)]
                    for store in _repairs(plan, settings, degraded, (old, new)):
                        repaired.append(store)
                        cells.append(_cell(store, old, new, store.repair))
        order = [*(model.key for model in plan.models), ""]
        repaired.sort(key=lambda store: order.index(store.writer))
        readers = reading_order(plan)
        cells.sort(key=lambda cell: readers.index(cell.reader))
        return Expansion(
            stores=(*plain, *repaired),
            evaluations=tuple(cells),
            left_out=ground.left_out(formats),
        )


def repaired_formats(plan: StudyPlan) -> list[str]:
    """The formats of the plan that one of its methods repairs."""
    settings = plan.tests.repair
    methods: Sequence[str] = settings.methods if settings is not None else ()
    repaired = {METHODS[method] for method in methods}
    return [name for name in plan.formats if name in repaired]


def embedders_of(plan: StudyPlan) -> tuple[str, str]:
    """The embedder of the degraded index and the one it is embedded anew with; '' for unknown."""
    settings, upgrade = plan.tests.repair, plan.tests.embedding_upgrade
    assert settings is not None, "the plan has no repair"
    old = settings.old_embedder or (upgrade.old if upgrade is not None else "")
    return old, settings.new_embedder or (upgrade.new if upgrade is not None else "")


def _key(plan: StudyPlan, history: str, name: str, *, old: str = "", new: str = "") -> str:
    """The key of the store that the old or the new model, or embedder, made."""
    if name == RAG:
        before, after = embedders_of(plan)
        return plain_store(history, name, embedder=before if old else after).key
    return plain_store(history, name, writer=old or new).key


def _repairs(
    plan: StudyPlan, settings: Repair, degraded: StoreSpec, direction: tuple[str, str]
) -> Iterator[StoreSpec]:
    """Every method at every rung on one store. The repairer is the new model by default."""
    old, new = direction
    for method in settings.methods:
        if METHODS[method] != degraded.format:
            continue
        for rung in range(1, len(settings.rungs) + 1):
            reembeds = method == RAG_REEMBED
            yield replace(
                degraded,
                # The direction, because several may repair one store; the repairer may be shared.
                key=f"{degraded.key}/{old}/{new}/{method}/{rung}",
                writer="" if reembeds else settings.repairer or new,
                embedder=embedders_of(plan)[1] if reembeds else "",
                parent=degraded.key,
                repair=method,
                rung=rung,
            )


def _cell(store: StoreSpec, old: str, new: str, repair: str) -> EvaluationSpec:
    """A cell of a repair goes by the old model of its direction, whatever its format."""
    return EvaluationSpec(
        history=store.history,
        format=store.format,
        store_key=store.key,
        writer=old,
        reader=new,
        embedder=store.embedder,
        repair=repair,
        rung=store.rung,
    )
