"""What every memory format promises: write a store from a history, read it for a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from stores.roles import ChatModel, Embedder
from stores.workload.types import History, Probe

SpanState = Literal["kept", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class WriteBudget:
    """Allowances that are equal for every writer of a study."""

    writer_output_tokens: int
    notes_kib: int = 128
    events_per_window: int = 6
    chunk_chars: int = 512
    top_k: int = 8
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """A store's content, ready to be kept.

    `content` is canonical UTF-8 JSON (or the bare transcript): equal stores are equal bytes.
    `notices` says in words what the writer's run left out, such as an output that hit its limit.
    """

    content: bytes
    prompt_version: str = ""
    prompt_sha256: str = ""
    schema_version: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One item that the read path selected. `rank` counts from 1; `events` are its source events."""

    item: str
    rank: int
    score: float | None
    events: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader is shown: `system`, then `prefix + suffix` as the user's message.

    `prefix` is the part that all probes of this store share. `evidence_ranks` maps each evidence
    event key to the rank of the item holding it among *all* items (None: held by no item), and is
    None for formats that retrieve nothing.
    """

    system: str
    prefix: str
    suffix: str
    retrieved: tuple[Retrieved, ...] = ()
    evidence_ranks: Mapping[str, int | None] | None = None


@dataclass(frozen=True, slots=True)
class SpanCoverage:
    """One required evidence span (a code, or a stretch of free text) and what became of it."""

    event: str
    span: str
    state: SpanState
    with_entity: bool
    found_in: str = ""


@dataclass(frozen=True, slots=True)
class ProbeCoverage:
    """The required spans of one probe, followed into the store."""

    probe: str
    spans: tuple[SpanCoverage, ...] = field(default=())

    @property
    def whole(self) -> bool:
        return all(span.state == "kept" for span in self.spans)


class MemoryFormat(Protocol):
    """One memory format. Stateless: everything it knows is in its arguments."""

    name: str
    needs_writer: bool
    needs_embedder: bool

    def why_not_applicable(self, history: History) -> str:
        """Return the reason why this history cannot be kept in this format, or ''."""
        ...

    def write(
        self,
        history: History,
        *,
        writer: ChatModel | None,
        embedder: Embedder | None,
        budget: WriteBudget,
    ) -> Written: ...

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,
        budget: WriteBudget,
    ) -> list[Reading]:
        """Return one reading per probe, in order."""
        ...

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """Return the items of a store for people: each with `item`, `text`, `events`."""
        ...

    def coverage(
        self, content: bytes, history: History, probes: Sequence[Probe]
    ) -> list[ProbeCoverage]: ...
