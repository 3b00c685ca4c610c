"""Repairs: a degraded store made anew, by a repairer within an allowance of output tokens.

Each takes what it may see, and nothing else: only `rebuild_notes` is given the history.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from stores.formats.base import WriteBudget, Written
from stores.formats.content import canonical_json, parse_content
from stores.formats.fence import fenced, one_line
from stores.formats.kg_claims import CLAIM_PREDICATES, claims_schema
from stores.formats.kg_fixed import KgFixed, claims_written
from stores.formats.notes import Notes
from stores.formats.prompts import DEFAULT_VERSION, Prompt, load_prompt
from stores.formats.rag import Rag, passage_vectors
from stores.formats.reading import TEMPLATE_TOKENS
from stores.formats.restyling import rewrite_notes
from stores.formats.writing import WindowTask, writer_request
from stores.roles import ChatModel, ChatReply, ChatRequest, Embedder, ModelIdentity
from stores.vectors.generations import generation_to_json
from stores.vectors.index import encode_vector
from stores.workload.types import Event, History

NOTES_RAW, NOTES_STORE, RAG_REEMBED, KG_REBUILD = (
    "notes_raw", "notes_store", "rag_reembed", "kg_rebuild",
)  # fmt: skip
# Method → the format that it repairs, in the order of the protocol.
METHODS: Mapping[str, str] = MappingProxyType(
    {NOTES_RAW: "notes", NOTES_STORE: "notes", RAG_REEMBED: "rag", KG_REBUILD: "kg_fixed"}
)
# Method → the prompt that its repairer is given; the others ask no model to write.
PROMPTS: Mapping[str, str] = MappingProxyType(
    {NOTES_RAW: "notes", NOTES_STORE: "notes_store", KG_REBUILD: "kg_rebuild"}
)


class OutputLimitError(Exception):
    """A repair that stopped at its output limit: it has failed at its rung."""


class Allowed:
    """A repairer whose output, all calls of one repair together, is limited to an allowance.

    Each call may use an even share of what is left, so that `calls_at_once` can be asked together
    and the allowance is never overdrawn. The first reply that is cut off ends the repair.
    """

    def __init__(self, inner: ChatModel, *, allowance_tokens: int, calls_at_once: int = 1) -> None:
        self._inner, self._left, self._at_once = inner, allowance_tokens, calls_at_once

    @property
    def identity(self) -> ModelIdentity:
        """The identity of the repairer."""
        return self._inner.identity

    @property
    def context_tokens(self) -> int:
        """The context of the repairer."""
        return self._inner.context_tokens

    def count_tokens(self, text: str) -> int:
        """Count as the repairer counts."""
        return self._inner.count_tokens(text)

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        """Answer every request, in order; raises `OutputLimitError` where one is cut off."""
        replies: list[ChatReply] = []
        for start in range(0, len(requests), self._at_once):
            share = self._left // (len(requests) - start)
            asked = [self._limited(one, share) for one in requests[start : start + self._at_once]]
            answered = self._inner.chat(asked)
            self._left -= sum(reply.output_tokens for reply in answered)
            if any(reply.finish_reason == "length" for reply in answered):
                raise OutputLimitError
            replies += answered
        return replies

    def forget(self) -> None:
        """Drop the cached prefixes of the repairer."""
        self._inner.forget()

    def close(self) -> None:
        """Leave the repairer open."""

    def _limited(self, request: ChatRequest, share: int) -> ChatRequest:
        """Reserve a share of the allowance, or what the context leaves where that is less."""
        prompt = self.count_tokens(request.system)
        prompt += self.count_tokens(request.prefix + request.suffix)
        limit = min(share, self.context_tokens - prompt - TEMPLATE_TOKENS)
        if limit < 1:  # it could not write a single token
            raise OutputLimitError
        return replace(request, max_output_tokens=limit)


def rebuild_notes(
    history: History, *, repairer: ChatModel, budget: WriteBudget, prompts: str = DEFAULT_VERSION
) -> Written:
    """`notes_raw`: take the notes anew from the retained history."""
    return Notes().write(history, writer=repairer, embedder=None, budget=budget, prompts=prompts)


def rewrite_store(
    content: bytes, *, repairer: ChatModel, budget: WriteBudget, prompts: str = DEFAULT_VERSION
) -> Written:
    """`notes_store`: rewrite the old notes window by window. There is no history to look into."""
    return rewrite_notes(
        content, rewriter=repairer, budget=budget, prompts=prompts, name=PROMPTS[NOTES_STORE]
    )


def remap_claims(
    content: bytes, *, repairer: ChatModel, budget: WriteBudget, prompts: str = DEFAULT_VERSION
) -> Written:
    """`kg_rebuild`: map the stored records into the shared schema anew. No history is needed."""
    prompt = load_prompt(PROMPTS[KG_REBUILD], prompts)
    claims = parse_content(content, KgFixed.name)["claims"]
    tasks = [
        _remapping(rows, prompt, budget)
        for rows in _windows(claims, budget.events_per_claim_window)
    ]
    replies = repairer.chat([task.request for task in tasks]) if tasks else []
    return claims_written(tasks, replies, prompt)


def reembed(content: bytes, *, embedder: Embedder) -> Written:
    """`rag_reembed`: embed the stored chunks anew; their texts stay as they are."""
    chunks = parse_content(content, Rag.name)["chunks"]
    vectors = passage_vectors(embedder, chunks)
    return Written(
        canonical_json(
            {
                "format": Rag.name,
                "generation": generation_to_json(embedder.generation),
                "chunks": [
                    {**chunk, "vector": encode_vector(vector)}
                    for chunk, vector in zip(chunks, vectors, strict=True)
                ],
            }
        )
    )


def not_repaired(content: bytes, *, allowance_tokens: int) -> Written:
    """Return the degraded store as it is, for a repair that stopped at its output limit."""
    notice = (
        f"The repair stopped at its output limit ({allowance_tokens:,} tokens for all of its "
        "calls): it failed at this rung, and the store is as it was before."
    )
    return Written(content, notices=(notice,))


# The methods that write, as long as they are given no more than the store.
FROM_STORE: Mapping[str, Callable[..., Written]] = MappingProxyType(
    {NOTES_STORE: rewrite_store, KG_REBUILD: remap_claims}
)


def _windows(claims: Sequence[Mapping[str, Any]], size: int) -> Iterator[list[Mapping[str, Any]]]:
    """Return the records of `size` events at a time, in the order of their events."""
    events = sorted({claim["seq"] for claim in claims})
    for start in range(0, len(events), size):
        here = set(events[start : start + size])
        yield [claim for claim in claims if claim["seq"] in here]


def _remapping(
    rows: Sequence[Mapping[str, Any]], prompt: Prompt, budget: WriteBudget
) -> WindowTask:
    """Compose the call for some records. Of their events it knows number, name and time alone."""
    known = {row["seq"]: Event(row["event"], row["seq"], "", at=row["at"]) for row in rows}
    events = tuple(known[seq] for seq in sorted(known))
    filling = {
        "records": fenced("records", "\n".join(_line(row) for row in rows)),
        "predicates": ", ".join(CLAIM_PREDICATES),
    }
    schema = claims_schema(events)
    return WindowTask(events, writer_request(prompt, filling, budget=budget, json_schema=schema))


def _line(row: Mapping[str, Any]) -> str:
    parts = (row["subject"], row["predicate"].replace("_", " "), row["object"], row["source"])
    return f"[{row['seq']}] " + " | ".join(one_line(part) for part in parts if part)
