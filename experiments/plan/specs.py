"""What a plan expands to: stores to build and evaluations to run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """One store to build. `key` names it within its run; `index` the arm of an upgrade.

    A `derived` store is made from another one of the run, its `parent`: `style_rewrite` (by
    `writer`) or `corrupt_p` (by nobody). A repaired one is made from its degraded `parent` by the
    method `repair` at a budget `rung`; `writer` is its repairer.
    """

    key: str
    history: str
    format: str
    writer: str = ""
    embedder: str = ""
    index: str = ""
    derived: str = ""
    parent: str = ""
    repair: str = ""
    rung: int = 0

    @property
    def is_copied(self) -> bool:
        """Made from its parent by no model at all."""
        return self.derived.startswith("corrupt_")


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

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it a cell of its own within a study."""
        return (
            self.history, self.format, self.writer, self.reader, self.embedder, self.condition,
            self.index, self.repair, self.rung, self.repeat,
        )  # fmt: skip


# The format of a cell that every format and writer of a reader shares.
EVERY_FORMAT = "*"


def shared_cell(history: str, *, reader: str, condition: str) -> EvaluationSpec:
    """Return a cell that reads no store: all formats and writers of its reader share it."""
    return EvaluationSpec(
        history=history, format=EVERY_FORMAT, store_key="", reader=reader, condition=condition
    )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A format that does not apply to a history, and why: shown, never dropped in silence."""

    history: str
    format: str
    reason: str


@dataclass(frozen=True, slots=True)
class Expansion:
    """The work of one run, in the order in which it is done: one model at a time where possible.

    `reused` are cells of this test that an earlier test of the same study runs anyway: its answers
    count here as well, and nothing is asked twice.
    """

    stores: tuple[StoreSpec, ...]
    evaluations: tuple[EvaluationSpec, ...]
    left_out: tuple[LeftOut, ...] = ()
    reused: tuple[EvaluationSpec, ...] = ()

    @property
    def counted(self) -> tuple[EvaluationSpec, ...]:
        """Every evaluation that this test counts, run here or taken from an earlier test."""
        return (*self.evaluations, *self.reused)
