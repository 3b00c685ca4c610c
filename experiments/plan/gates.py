"""What a plan says of the gates: for each one, whether a failure stops the study or is marked."""

from typing import Any, Literal

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from experiments.plan.part import PlanPart

GateName = Literal["floor", "ceiling", "dose", "range", "coverage"]
GATES: tuple[GateName, ...] = ("floor", "ceiling", "dose", "range", "coverage")
Consequence = Literal["stop", "mark"]


class GatePolicy(PlanPart):
    """The consequence of each gate's failure.

    `stop`: the run stops before money is spent on what cannot count, and the verdicts of that
    reader are withheld. `mark`: the failure stands beside every verdict. One word in a plan
    (`gates: mark`) is that consequence for all gates; a gate that it does not name stops.
    """

    floor: Consequence = "stop"
    ceiling: Consequence = "stop"
    dose: Consequence = "stop"
    range: Consequence = "stop"
    coverage: Consequence = "stop"

    @model_validator(mode="before")
    @classmethod
    def _one_word_for_all(cls, value: Any) -> Any:
        if value in ("stop", "mark"):
            return dict.fromkeys(GATES, value)
        if isinstance(value, str):
            raise PydanticCustomError(
                "literal_error", "not a consequence", {"expected": "'stop' or 'mark'"}
            )
        return value

    def consequence(self, gate: str) -> Consequence:
        """Return what follows from a failure of this gate; raises KeyError for an unknown one."""
        if gate not in GATES:
            raise KeyError(f"there is no gate {gate!r}")
        found: Consequence = getattr(self, gate)
        return found

    @property
    def stopping(self) -> tuple[GateName, ...]:
        """The gates whose failure stops the study, in the order of `GATES`."""
        return tuple(gate for gate in GATES if self.consequence(gate) == "stop")

    @property
    def in_words(self) -> str:
        """`stop` or `mark` where all gates have the same, else which ones stop."""
        if not self.stopping:
            return "mark"
        return "stop" if self.stopping == GATES else f"stop: {', '.join(self.stopping)}"
