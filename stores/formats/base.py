"""What every memory format promises: write a store from a history, read it for a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.prompts import DEFAULT_VERSION
from stores.roles import ChatModel, Embedder
from stores.workload.types import History, Probe

SpanState = Literal["kept", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class WriteBudget:
    """Allowances that are equal for every writer of a study.

    `writer_output_tokens` bounds each writer call, one call per window of events. `notes_kib`
    bounds the whole notes store in KiB (1,024 bytes), as it is kept.
    """

    writer_output_tokens: int
    notes_kib: int = 128
    events_per_window: int = 6
    events_per_claim_window: int = 4
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
    """One item that the read path selected, with its rank (from 1) and its source events."""

    item: str
    rank: int
    score: float | None
    events: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader is shown: `system`, then `prefix + suffix` as the user's message.

    `prefix` is the part that all probes of this store share. `evidence_ranks` maps each evidence
    event key to the rank of the item holding it among *all* items (None: held by no item that was
    searched), and is None for formats that retrieve nothing. `evidence_items` maps each of them to
    that item; it tells two items that were not searched from one that holds two events.
    """

    system: str
    prefix: str
    suffix: str
    retrieved: tuple[Retrieved, ...] = ()
    evidence_ranks: Mapping[str, int | None] | None = None
    evidence_items: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class SpanCoverage:
    """One required evidence span (a code, or a stretch of free text) and what became of it.

    `with_entity`: the span stands beside the entity it belongs to, in the same line or claim;
    None where the history does not say which entity that is. `found_in` names the item that holds
    the span, or the changed form of it.
    """

    event: str
    span: str
    state: SpanState
    with_entity: bool | None
    found_in: str = ""


@dataclass(frozen=True, slots=True)
class ProbeCoverage:
    """The required spans of one probe, followed into the store.

    Without spans the coverage is undefined, and `undefined_because` says why.
    """

    probe: str
    spans: tuple[SpanCoverage, ...] = field(default=())
    undefined_because: str = ""

    @property
    def whole(self) -> bool:
        """Every required span was kept; False where coverage is undefined."""
        return bool(self.spans) and all(span.state == "kept" for span in self.spans)


class MemoryFormat(Protocol):
    """One memory format. Stateless: everything it knows is in its arguments."""

    name: str
    needs_writer: bool
    needs_embedder: bool
    # Names the schema that its content is constrained to; '' where there is none.
    schema_version: str

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
        prompts: str = DEFAULT_VERSION,
    ) -> Written: ...

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,
        budget: WriteBudget,
        prompts: str = DEFAULT_VERSION,
    ) -> list[Reading]:
        """Return one reading per probe, in order. A reading depends on its own probe alone."""
        ...

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """Return the items of a store for people: each with `item`, `text`, `events`."""
        ...

    def coverage(
        self,
        content: bytes,
        history: History,
        probes: Sequence[Probe],
        *,
        code_pattern: str = DEFAULT_CODE_PATTERN,
    ) -> list[ProbeCoverage]:
        """Follow each probe's evidence into the store. See `stores.formats.coverage`."""
        ...
