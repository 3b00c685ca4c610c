"""A study plan → the work of each of its migration tests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from experiments.plan.controlled_evidence import ControlledEvidenceTest
from experiments.plan.embedding_upgrade import EmbeddingUpgradeTest
from experiments.plan.gate_cells import GatesTest
from experiments.plan.migration_test import Ground, MigrationTest
from experiments.plan.repair import RepairTest
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import Expansion
from experiments.plan.writer_swap import WriterSwapTest
from stores.errors import InvalidInputError
from stores.formats.base import MemoryFormat
from stores.formats.formats import FORMATS
from stores.workload.types import History

# A migration test is one file in this package, one entry here, one field of `schema.Tests`.
# They are run in this order; a cell of several tests is run by the first of them.
_ALL: tuple[MigrationTest, ...] = (
    GatesTest(),
    WriterSwapTest(),
    EmbeddingUpgradeTest(),
    RepairTest(),
    ControlledEvidenceTest(),
)
TESTS: dict[str, MigrationTest] = {test.name: test for test in _ALL}


def expand(
    plan: StudyPlan,
    histories: Sequence[History],
    *,
    formats: Mapping[str, MemoryFormat] = FORMATS,
) -> dict[str, Expansion]:
    """Return the stores and evaluations of every test of the plan, by the test's name.

    Raises
    ------
    InvalidInputError
        No history at all, or no format that applies to any of them.
    """
    if not histories:
        raise InvalidInputError("the plan names no history that exists", where="histories")
    ground = Ground(sorted(histories, key=lambda history: history.key), formats)
    expansions = {
        name: test.expand(plan, ground)
        for name, test in TESTS.items()
        if getattr(plan.tests, name) is not None
    }
    for name, expansion in expansions.items():
        if not expansion.evaluations:
            reasons = sorted({left.reason for left in expansion.left_out})
            raise InvalidInputError(
                f"the test {name} has nothing to do: {'; '.join(reasons)}", where="formats"
            )
    return _each_cell_once(expansions)


def _each_cell_once(expansions: Mapping[str, Expansion]) -> dict[str, Expansion]:
    """Take a cell that an earlier test runs out of the later ones' work: they reuse it."""
    planned: set[tuple[object, ...]] = set()
    result = {}
    for name, expansion in expansions.items():
        own = tuple(cell for cell in expansion.evaluations if cell.key not in planned)
        reused = tuple(cell for cell in expansion.evaluations if cell.key in planned)
        planned |= {cell.key for cell in own}
        result[name] = replace(expansion, evaluations=own, reused=(*expansion.reused, *reused))
    return result
