"""The cells that the gates are decided on; they are run before any migration test counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.normal_cells import cells_of, models_of, reading_order, stores_of
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec, shared_cell

NAME = "gates"


@dataclass(frozen=True, slots=True)
class GatesTest:
    """For each reader: no memory and raw evidence; each format normally and at every dose.

    A reader reads its own stores here: whether it can be trusted does not depend on a migration.
    """

    name: str = NAME
    title: str = "Gates"

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return stores by writer, corrupted ones last, then evaluations by reader."""
        settings = plan.tests.gates
        assert settings is not None, "the plan has no gates to run"
        stores = stores_of(plan, ground, plan.formats)
        corrupted = {
            (store.key, dose): _corrupted(store, dose)
            for dose in settings.doses
            for store in stores
        }
        cells = list(_shared(plan, ground))
        for store in stores:
            for cell in _own(plan, store):
                cells.append(cell)
                cells += [
                    replace(
                        cell,
                        condition=f"corrupt_{dose}",
                        store_key=corrupted[store.key, dose].key,
                    )
                    for dose in settings.doses
                ]
        order = reading_order(plan)
        cells.sort(key=lambda cell: order.index(cell.reader))
        return Expansion(
            stores=(*stores, *corrupted.values()),
            evaluations=tuple(cells),
            left_out=ground.left_out(plan.formats),
        )


def _shared(plan: StudyPlan, ground: Ground) -> Iterator[EvaluationSpec]:
    conditions: Sequence[str] = ("no_memory", "raw_evidence")
    for history in ground.histories:
        for reader in models_of(plan):
            for condition in conditions:
                yield shared_cell(history.key, reader=reader, condition=condition)


def _own(plan: StudyPlan, store: StoreSpec) -> Iterator[EvaluationSpec]:
    for cell in cells_of(plan, store):
        if cell.writer in ("", cell.reader):
            yield cell


def _corrupted(store: StoreSpec, dose: int) -> StoreSpec:
    name = f"corrupt_{dose}"
    return replace(store, key=f"{store.key}/{name}", derived=name, parent=store.key)
