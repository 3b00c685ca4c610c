"""How large a synthetic history is, and the presets."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

SplitName = Literal["study", "calibration"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Everything besides the seed that decides a synthetic history.

    Parameters
    ----------
    name
        Names the preset; part of every history key and of the random stream.
    histories, calibration_histories
        How many histories each split has.
    probes_per_kind
        Probes of each of the five kinds in one history.
    screening_per_kind
        How many of those are screening probes, chosen by the seed.
    max_changes
        A temporal value changes once up to this often.
    max_relations
        A multi-hop question chains one up to this many relations (1 or 2) before the value.
    reuse_percent
        How often a fact is said about an entity that already has another one.
    decoys
        Facts with codes of their own that no probe asks for.
    notes
        Events without any code.
    code_digits
        Digits of a value code, 2 to 4. Two still leave 57,600 codes to guess among.
    recorded
        Whether an event carries the minute and the role that wrote it down, or its day alone. Small
        models read a token per digit: the minute and the role are a third of a short event.
    """

    name: str
    histories: int
    calibration_histories: int
    probes_per_kind: int
    screening_per_kind: int = 0
    max_changes: int = 1
    max_relations: int = 1
    reuse_percent: int = 0
    decoys: int = 0
    notes: int = 2
    code_digits: int = 4
    recorded: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.max_relations <= 2 or self.max_changes < 1 or self.probes_per_kind < 1:
            raise ValueError(f"impossible parameters: {self}")
        if not 0 <= self.screening_per_kind <= self.probes_per_kind:
            raise ValueError("screening_per_kind must be between 0 and probes_per_kind")
        if not 2 <= self.code_digits <= 4:
            raise ValueError("code_digits must be between 2 and 4")
        if not 0 <= self.reuse_percent <= 100 or self.decoys < 0 or self.notes < 0:
            raise ValueError(f"impossible parameters: {self}")

    def count(self, split: SplitName) -> int:
        """Return how many histories this split has."""
        return self.histories if split == "study" else self.calibration_histories


# Short for a reason: the demo's study takes minutes on two cores, each token of it milliseconds.
TINY = Parameters(
    name="tiny",
    histories=6,
    calibration_histories=3,
    probes_per_kind=1,
    notes=1,
    code_digits=2,
    recorded=False,
)
SMALL = Parameters(
    name="small",
    histories=8,
    calibration_histories=4,
    probes_per_kind=8,
    max_changes=2,
    max_relations=2,
    reuse_percent=40,
    decoys=16,
    notes=32,
)
# About 100,000 tokens a history, by the Qwen2.5 tokenizer and as `lc_raw` shows it to a reader.
PAPER = Parameters(
    name="paper",
    histories=48,
    calibration_histories=12,
    probes_per_kind=32,
    screening_per_kind=4,
    max_changes=2,
    max_relations=2,
    reuse_percent=60,
    decoys=400,
    notes=4540,
)
PRESETS = MappingProxyType({p.name: p for p in (TINY, SMALL, PAPER)})
