"""Migration test 4: the same cells with the evidence supplied, and notes rewritten in new style."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.normal_cells import cells_of, models_of, reading_order, stores_of
from experiments.plan.schema import ControlledEvidence, StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, StoreSpec, shared_cell

NAME = "controlled_evidence"
# The formats whose loss is decomposed; kg_fixed is read by traversal and only checked.
DECOMPOSED = ("notes", "rag")
CHECKED = "kg_fixed"


@dataclass(frozen=True, slots=True)
class ControlledEvidenceTest:
    """Normal cells of `notes` and `rag`, the same with their stored items, raw evidence by reader.

    Beside them one style rewrite and one check of isolated kg items for each direction. With two
    models: 6 + 6 + 2 + 2 + 2 = 18 evaluations of a history. Normal cells that another test of the
    plan reads as well are taken from there.
    """

    name: str = NAME
    title: str = "Controlled evidence"

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return stores by writer, rewrites last, then evaluations by reader."""
        settings = plan.tests.controlled_evidence
        assert settings is not None, "the plan has no controlled evidence"
        formats = [name for name in DECOMPOSED if name in plan.formats]
        stores = stores_of(plan, ground, formats)
        checked = _checked_stores(plan, ground, settings)
        rewrites = list(_rewrites(plan, stores)) if settings.style_rewrite else []
        cells = [*_decomposed(plan, stores), *_raw(plan, ground, formats)]
        cells += [*_checks(plan, checked), *_rewritten(rewrites)]
        order = reading_order(plan)
        cells.sort(key=lambda cell: order.index(cell.reader))
        return Expansion(
            stores=(*stores, *checked, *rewrites),
            evaluations=tuple(cells),
            left_out=ground.left_out([*formats, *_checked_formats(plan, settings)]),
        )


def _decomposed(plan: StudyPlan, stores: Sequence[StoreSpec]) -> Iterator[EvaluationSpec]:
    for store in stores:
        for cell in cells_of(plan, store):
            yield cell
            yield replace(cell, condition="stored_evidence")


def _raw(plan: StudyPlan, ground: Ground, formats: Sequence[str]) -> Iterator[EvaluationSpec]:
    """One cell of each reader and history: what the events say is the same for every format."""
    keys = {history.key for name in formats for history in ground.applicable(name)}
    for key in sorted(keys):
        for reader in models_of(plan):
            yield shared_cell(key, reader=reader, condition="raw_evidence")


def _rewrites(plan: StudyPlan, stores: Sequence[StoreSpec]) -> Iterator[StoreSpec]:
    """The new model of each direction rewrites the old one's notes, one rewriter at a time."""
    for new in models_of(plan):
        for store in stores:
            if store.format == "notes" and (store.writer, new) in plan.planned_directions:
                yield StoreSpec(
                    key=f"{store.key}/style/{new}",
                    history=store.history,
                    format=store.format,
                    writer=new,
                    derived="style_rewrite",
                    parent=store.key,
                )


def _rewritten(rewrites: Sequence[StoreSpec]) -> Iterator[EvaluationSpec]:
    for store in rewrites:
        old = store.parent.split("/")[-1]
        yield EvaluationSpec(
            history=store.history,
            format=store.format,
            store_key=store.key,
            writer=old,
            reader=store.writer,
            condition="style_rewrite",
        )


def _checked_stores(
    plan: StudyPlan, ground: Ground, settings: ControlledEvidence
) -> list[StoreSpec]:
    old = {old for old, _ in plan.planned_directions}
    formats = _checked_formats(plan, settings)
    return [s for s in stores_of(plan, ground, formats) if s.writer in old]


def _checked_formats(plan: StudyPlan, settings: ControlledEvidence) -> list[str]:
    return [CHECKED] if settings.kg_items and CHECKED in plan.formats else []


def _checks(plan: StudyPlan, stores: Sequence[StoreSpec]) -> Iterator[EvaluationSpec]:
    """Do isolated items of an inherited graph do as well as its normal read?"""
    for store in stores:
        for cell in cells_of(plan, store):
            if (cell.writer, cell.reader) not in plan.planned_directions:
                continue
            if plan.tests.writer_swap is None:  # nobody else reads it normally
                yield cell
            yield replace(cell, condition="stored_evidence")
