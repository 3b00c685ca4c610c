"""What a plan expands to: stores to build and evaluations to run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """One store to build. `key` names it within its run; `index` the arm of an upgrade."""

    key: str
    history: str
    format: str
    writer: str = ""
    embedder: str = ""
    index: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationSpec:
    """One cell: which store, read by whom (nobody: retrieval alone), under which condition."""

    history: str
    format: str
    store_key: str
    writer: str = ""
    reader: str = ""
    embedder: str = ""
    condition: str = "normal"
    index: str = ""
    repair: str = ""
    rung: int = 0
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A format that does not apply to a history, and why: shown, never dropped in silence."""

    history: str
    format: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """The work of one run, in the order in which it is done: one model at a time where possible."""

    stores: tuple[StoreSpec, ...]
    evaluations: tuple[EvaluationSpec, ...]
    left_out: tuple[LeftOut, ...] = ()
