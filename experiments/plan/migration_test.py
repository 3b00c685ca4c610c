"""What a migration test promises: its cells, given the plan and the histories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from experiments.plan.schema import StudyPlan
from experiments.plan.specs import Expansion, LeftOut
from stores.formats.base import MemoryFormat
from stores.workload.types import History


@dataclass(frozen=True, slots=True)
class Ground:
    """What a test expands over: the histories, and the formats as they are implemented."""

    histories: Sequence[History]
    formats: Mapping[str, MemoryFormat]

    def applicable(self, name: str) -> list[History]:
        """The histories that can be kept in a format, in their order."""
        return [h for h in self.histories if not self.formats[name].why_not_applicable(h)]

    def left_out(self, names: Sequence[str]) -> tuple[LeftOut, ...]:
        """Every history that a format does not apply to, with the format's reason."""
        return tuple(
            LeftOut(history.key, name, reason)
            for name in names
            for history in self.histories
            if (reason := self.formats[name].why_not_applicable(history))
        )


class MigrationTest(Protocol):
    """One migration test: one file, one entry in `expand.TESTS`."""

    @property
    def name(self) -> str:
        """The name in `schema.Tests`, in addresses and in the answers table."""
        ...

    @property
    def title(self) -> str:
        """The name for people."""
        ...

    def expand(self, plan: StudyPlan, ground: Ground) -> Expansion:
        """Return the stores and evaluations in the order of work, without running anything."""
        ...
