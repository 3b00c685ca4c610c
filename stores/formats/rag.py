"""`rag`: chunks of whole events with one vector each; the nearest ones are shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from stores.formats.base import ProbeCoverage, Reading, Retrieved, WriteBudget, Written
from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.content import canonical_json, parse_content
from stores.formats.coverage import Item, cover
from stores.formats.fence import event_line, event_lines, joined_days
from stores.formats.prompts import DEFAULT_VERSION
from stores.formats.reading import selected_reading, shared_reading
from stores.roles import ChatModel, Embedder
from stores.vectors.generations import checked_vectors, generation_from_json, generation_to_json
from stores.vectors.index import Ranking, VectorIndex, decode_vectors, encode_vector
from stores.workload.types import Event, History, Probe


class Rag:
    """Cosine top k over chunks. No reranker, no query rewriting, no lexical search."""

    name = "rag"
    needs_writer = False
    needs_embedder = True
    schema_version = ""

    def why_not_applicable(self, history: History) -> str:  # noqa: ARG002
        """Every text can be embedded."""
        return ""

    def write(
        self,
        history: History,
        *,
        writer: ChatModel | None,  # noqa: ARG002
        embedder: Embedder | None,
        budget: WriteBudget,
        prompts: str = DEFAULT_VERSION,  # noqa: ARG002
    ) -> Written:
        """Cut the history into chunks of whole events and embed each one."""
        assert embedder is not None, "rag needs an embedder"
        groups = chunk_events(history.events, budget.chunk_chars)
        texts = [event_lines(group) for group in groups]
        vectors = checked_vectors(
            embedder.embed_passages(texts),
            generation=embedder.generation, count=len(texts), where="embedder",
        )  # fmt: skip
        chunks = [
            {
                "item": f"chunk-{number:04d}",
                "events": [event.key for event in group],
                "text": text,
                "vector": encode_vector(vector),
            }
            for number, (group, text, vector) in enumerate(
                zip(groups, texts, vectors, strict=True), start=1
            )
        ]
        generation = generation_to_json(embedder.generation)
        content = {"format": self.name, "generation": generation, "chunks": chunks}
        return Written(canonical_json(content))

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,
        budget: WriteBudget,
        prompts: str = DEFAULT_VERSION,
    ) -> list[Reading]:
        """Show each probe its nearest chunks, in the order of the history.

        Raises
        ------
        InvalidInputError
            When the embedder is of another generation than the stored vectors.
        """
        assert embedder is not None, "rag needs an embedder"
        chunks = parse_content(content, self.name)["chunks"]
        if not probes:
            return []
        queries = embedder.embed_queries([probe.question for probe in probes])
        rankings = stored_index(content).rank(queries, generation=embedder.generation)
        return [
            _reading(chunks, ranking, probe, budget.top_k, prompts)
            for probe, ranking in zip(probes, rankings, strict=True)
        ]

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """One item per chunk, without its vector."""
        return [
            {"item": chunk["item"], "text": chunk["text"], "events": chunk["events"]}
            for chunk in parse_content(content, self.name)["chunks"]
        ]

    def coverage(
        self,
        content: bytes,
        history: History,
        probes: Sequence[Probe],
        *,
        code_pattern: str = DEFAULT_CODE_PATTERN,
    ) -> list[ProbeCoverage]:
        """Everything is kept: chunks hold whole events."""
        items = [
            Item(chunk["item"], line)
            for chunk in parse_content(content, self.name)["chunks"]
            for line in chunk["text"].split("\n")
        ]
        return cover(items, history, probes, code_pattern=code_pattern)


def chunk_events(events: Sequence[Event], chunk_chars: int) -> list[list[Event]]:
    """Group whole events, in order, into chunks of at most `chunk_chars` characters.

    An event that is longer by itself is a chunk by itself: events are never cut.
    """
    groups: list[list[Event]] = []
    room = 0
    for event in events:
        length = len(event_line(event)) + 1
        if not groups or length > room:
            groups.append([])
            room = chunk_chars + 1
        groups[-1].append(event)
        room -= length
    return groups


def stored_index(content: bytes) -> VectorIndex:
    """Return the vectors of a rag store with their generation."""
    stored = parse_content(content, Rag.name)
    generation = generation_from_json(stored["generation"])
    encoded = [chunk["vector"] for chunk in stored["chunks"]]
    return VectorIndex(generation, decode_vectors(encoded, generation=generation))


def _reading(
    chunks: Sequence[Mapping[str, Any]], ranking: Ranking, probe: Probe, top_k: int, prompts: str
) -> Reading:
    ranks = ranking.ranks
    shown = sorted(int(position) for position in ranking.order[:top_k])
    retrieved = tuple(
        Retrieved(
            item=chunks[position]["item"],
            rank=int(ranks[position]),
            score=float(ranking.scores[position]),
            events=tuple(chunks[position]["events"]),
            text=chunks[position]["text"],
        )
        for position in shown
    )
    evidence_ranks = {
        key: min(
            (int(ranks[p]) for p, chunk in enumerate(chunks) if key in chunk["events"]),
            default=None,
        )
        for key in probe.evidence
    }
    memory = joined_days(item.text for item in retrieved)
    if len(chunks) <= top_k:
        # Every probe sees every chunk: the memory is shared, and an engine computes it once.
        whole = shared_reading(memory, probe.question, prompts=prompts)
        return Reading(whole.system, whole.prefix, whole.suffix, retrieved, evidence_ranks)
    return selected_reading(
        memory,
        probe.question,
        retrieved=retrieved,
        evidence_ranks=evidence_ranks,
        prompts=prompts,
    )
