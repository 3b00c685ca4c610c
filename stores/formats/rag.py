"""`rag`: chunks of whole events with one vector each; the nearest ones are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stores.errors import InvalidInputError
from stores.formats.base import ProbeCoverage, Reading, Retrieved, WriteBudget, Written
from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.content import canonical_json, parse_content
from stores.formats.coverage import Item, cover
from stores.formats.fence import event_line, event_lines, joined_days
from stores.formats.prompts import DEFAULT_VERSION
from stores.formats.reading import selected_reading, shared_reading
from stores.roles import ChatModel, Embedder, Vectors
from stores.vectors.generations import checked_vectors, generation_from_json, generation_to_json
from stores.vectors.index import Ranking, VectorIndex, decode_vectors, encode_vector
from stores.vectors.upgraded import PartRanking
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
        chunks = cut_chunks(history, budget)
        vectors = passage_vectors(embedder, chunks)
        for chunk, vector in zip(chunks, vectors, strict=True):
            chunk["vector"] = encode_vector(vector)
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
            chunk_reading(chunks, ranking, probe, top_k=budget.top_k, prompts=prompts)
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


def cut_chunks(history: History, budget: WriteBudget) -> list[dict[str, Any]]:
    """Return the chunks of a history as they are kept, without their vectors."""
    return [
        {
            "item": f"chunk-{number:04d}",
            "events": [event.key for event in group],
            "text": event_lines(group),
        }
        for number, group in enumerate(chunk_events(history.events, budget.chunk_chars), start=1)
    ]


def passage_vectors(embedder: Embedder, chunks: Sequence[Mapping[str, Any]]) -> Vectors:
    """Embed the texts of chunks, all in one call: a smaller batch could differ in last bits."""
    return checked_vectors(
        embedder.embed_passages([chunk["text"] for chunk in chunks]),
        generation=embedder.generation, count=len(chunks), where="embedder",
    )  # fmt: skip


def stored_index(content: bytes) -> VectorIndex:
    """Return the vectors of a rag store with their generation.

    Raises
    ------
    InvalidInputError
        The store holds vectors of two generations: it is read as the test arm that it was made for.
    """
    stored = parse_content(content, Rag.name)
    if "generation" not in stored:
        raise InvalidInputError(
            "this store holds vectors of two embedding generations",
            where="store content", expected="one generation",
            hint="It belongs to a test arm of an embedding upgrade and is read through that alone",
        )  # fmt: skip
    generation = generation_from_json(stored["generation"])
    encoded = [chunk["vector"] for chunk in stored["chunks"]]
    return VectorIndex(generation, decode_vectors(encoded, generation=generation))


def chunk_reading(
    chunks: Sequence[Mapping[str, Any]],
    ranking: Ranking | PartRanking,
    probe: Probe,
    *,
    top_k: int,
    prompts: str,
) -> Reading:
    """Show the best chunks of a ranking in the order of the history, and keep every rank."""
    ranks = {int(position): rank for rank, position in enumerate(ranking.order, start=1)}
    shown = sorted(int(position) for position in ranking.order[:top_k])
    retrieved = tuple(
        Retrieved(
            item=chunks[position]["item"],
            rank=ranks[position],
            score=float(ranking.scores[position]),
            events=tuple(chunks[position]["events"]),
            text=chunks[position]["text"],
        )
        for position in shown
    )
    holders = chunks_of(chunks, probe)
    memory = joined_days(item.text for item in retrieved)
    reading = selected_reading(
        memory,
        probe.question,
        retrieved=retrieved,
        evidence_ranks={
            key: None if position is None else ranks.get(position)
            for key, position in holders.items()
        },
        prompts=prompts,
    )
    items = {key: chunks[at]["item"] for key, at in holders.items() if at is not None}
    reading = replace(reading, evidence_items=items)
    if len(shown) < len(chunks):
        return reading
    # Every probe sees every chunk: the memory is shared, and an engine computes it once.
    whole = shared_reading(memory, probe.question, prompts=prompts)
    return replace(reading, prefix=whole.prefix, suffix=whole.suffix)


def chunks_of(chunks: Sequence[Mapping[str, Any]], probe: Probe) -> dict[str, int | None]:
    """Return the position of the chunk that holds each evidence event; None: no chunk does."""
    place = {key: position for position, chunk in enumerate(chunks) for key in chunk["events"]}
    return {key: place.get(key) for key in probe.evidence}
