"""Migration test 2: every index of the upgrade, read by every reader, or ranked alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.plan.migration_test import Ground
from experiments.plan.repeats import choose_cells
from experiments.plan.schema import EmbeddingUpgrade, StudyPlan
from experiments.plan.specs import EvaluationSpec, Expansion, LeftOut, StoreSpec
from stores.errors import InvalidInputError
from stores.vectors.arms import arm_of, dial_name
from stores.vectors.spaces import no_mixing

NAME = "embedding_upgrade"
FORMAT = "rag"


@dataclass(frozen=True, slots=True)
class EmbeddingUpgradeTest:
    """One store for each index and history; each is read by every reader of the plan.

    With the four indexes of the paper and two readers: 4 stores and 8 evaluations of a history.
    A retrieval-only test ranks the evidence once for all readers and asks none of them.
    """

    name: str = NAME
    title: str = "Embedding upgrade"

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return stores by history, then evaluations by reader, then the noise repeats."""
        upgrade = plan.tests.embedding_upgrade
        assert upgrade is not None, "the plan has no embedding upgrade"
        stores = [
            _store(history.key, index, upgrade)
            for history in ground.applicable(FORMAT)
            for index in planned_indexes(upgrade)
        ]
        order = readers(plan, upgrade)
        cells = [_cell(store, reader) for reader in order for store in stores]
        repeats = [replace(cell, repeat=1) for cell in _chosen(plan, upgrade, cells)]
        repeats.sort(key=lambda cell: order.index(cell.reader))
        return Expansion(
            stores=tuple(stores),
            evaluations=(*cells, *repeats),
            left_out=ground.left_out([FORMAT]),
        )


def planned_indexes(upgrade: EmbeddingUpgrade) -> tuple[str, ...]:
    """Return every index of an upgrade by its name, each once: the named ones, then the dial."""
    return tuple(dict.fromkeys([*upgrade.indexes, *(dial_name(p) for p in upgrade.dial)]))


def readers(plan: StudyPlan, upgrade: EmbeddingUpgrade) -> tuple[str, ...]:
    """Return who reads: the models of the directions, in the plan's order; '' for nobody."""
    if upgrade.retrieval_only:
        return ("",)
    used = {key for direction in plan.planned_directions for key in direction}
    return tuple(model.key for model in plan.models if not used or model.key in used)


def _store(history: str, index: str, upgrade: EmbeddingUpgrade) -> StoreSpec:
    embedder = upgrade.old if arm_of(index).embedder == "old" else upgrade.new
    return StoreSpec(
        key=f"{history}/{FORMAT}/{index}",
        history=history,
        format=FORMAT,
        embedder=embedder,
        index=index,
    )


def _cell(store: StoreSpec, reader: str) -> EvaluationSpec:
    return EvaluationSpec(
        history=store.history,
        format=FORMAT,
        store_key=store.key,
        reader=reader,
        embedder=store.embedder,
        index=store.index,
    )


def _chosen(
    plan: StudyPlan, upgrade: EmbeddingUpgrade, cells: Sequence[EvaluationSpec]
) -> list[EvaluationSpec]:
    if upgrade.noise_repeats > len(cells):
        raise InvalidInputError(
            f"{upgrade.noise_repeats:,} noise repeats are asked for, but the embedding upgrade has "
            f"{len(cells):,} cells",
            where="tests.embedding_upgrade.noise_repeats",
            expected=f"at most {len(cells):,}",
        )
    return choose_cells(cells, count=upgrade.noise_repeats, seed=plan.seed)


def leave_out_impossible(
    expansions: Mapping[str, Expansion], plan: StudyPlan, sizes: Mapping[str, int]
) -> dict[str, Expansion]:
    """Take out the indexes that would compare vectors of different dimensions, and say why.

    Parameters
    ----------
    sizes
        The dimension of each embedder's vectors, where it is known before the launch.
    """
    upgrade = plan.tests.embedding_upgrade
    if upgrade is None or NAME not in expansions:
        return dict(expansions)
    old, new = sizes.get(upgrade.old), sizes.get(upgrade.new)
    if old is None or new is None or old == new:
        return dict(expansions)
    gone = [name for name in planned_indexes(upgrade) if arm_of(name).crosses]
    why = no_mixing(old, new)
    expansion = expansions[NAME]
    kept = Expansion(
        stores=tuple(store for store in expansion.stores if store.index not in gone),
        evaluations=tuple(cell for cell in expansion.evaluations if cell.index not in gone),
        left_out=(
            *expansion.left_out,
            *(left_out_index(name, why) for name in gone),
        ),
    )
    if not kept.stores:
        raise InvalidInputError(
            f"the test {NAME} has nothing to do: {why}", where="tests.embedding_upgrade.indexes"
        )
    return {**expansions, NAME: kept}


def left_out_index(name: str, why: str) -> LeftOut:
    """Return the record of an index that no history of the study can have."""
    return LeftOut("", FORMAT, f"the index {name}: {why}")


def retrieval_only(plan: StudyPlan) -> StudyPlan:
    """Return the part of a plan that needs no model: its embedding upgrade, ranked alone.

    It is a study of its own, with its own key, so that the plan that asks for answers can still be
    launched under its key.

    Raises
    ------
    InvalidInputError
        The plan has no embedding upgrade.
    """
    upgrade = plan.tests.embedding_upgrade
    if upgrade is None:
        raise InvalidInputError(
            "there is nothing to retrieve without answers",
            where="tests", expected="embedding_upgrade, with old and new",
        )  # fmt: skip
    others = [name for name, settings in plan.tests if settings is not None and name != NAME]
    if upgrade.retrieval_only and not others and not plan.models:
        return plan
    alone = {"noise_repeats": 0, "retrieval_only": True}
    tests = plan.tests.model_copy(
        update={
            **dict.fromkeys(type(plan.tests).model_fields),
            NAME: upgrade.model_copy(update=alone),
        }
    )
    return plan.model_copy(
        update={
            "key": f"{plan.key[:70]}-retrieval",
            "title": f"{plan.title[:180]} (retrieval only)",
            "formats": (FORMAT,),
            "models": (),
            "directions": (),
            "embedders": tuple(e for e in plan.embedders if e.key in (upgrade.old, upgrade.new)),
            "tests": tests,
            "analysis": plan.analysis.model_copy(update={"contrasts": ()}),
        }
    )
