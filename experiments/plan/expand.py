"""A study plan → the work of each of its migration tests."""

from collections.abc import Mapping, Sequence

from experiments.plan.embedding_upgrade import EmbeddingUpgradeTest
from experiments.plan.migration_test import Ground, MigrationTest
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import Expansion
from experiments.plan.writer_swap import WriterSwapTest
from stores.errors import InvalidInputError
from stores.formats.base import MemoryFormat
from stores.formats.formats import FORMATS
from stores.workload.types import History

# A migration test is one file in this package, one entry here, one field of `schema.Tests`.
_ALL: tuple[MigrationTest, ...] = (WriterSwapTest(), EmbeddingUpgradeTest())
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
    return expansions
