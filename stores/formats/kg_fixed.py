"""`kg_fixed`: claims under one schema for every model, read by walking from the question."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from stores.formats.base import ProbeCoverage, Reading, Retrieved, WriteBudget, Written
from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.content import canonical_json, parse_content
from stores.formats.coverage import Item, cover
from stores.formats.fence import numbered_texts, one_line
from stores.formats.kg_claims import (
    CLAIM_PREDICATES,
    SCHEMA_VERSION,
    Claim,
    claims_schema,
    parse_claims,
)
from stores.formats.kg_graph import ClaimGraph
from stores.formats.prompts import DEFAULT_VERSION, Prompt, load_prompt
from stores.formats.reading import selected_reading
from stores.formats.writing import WindowTask, reply_notice, window_task, windows
from stores.roles import ChatModel, ChatReply, Embedder
from stores.workload.types import History, Probe


class KgFixed:
    """Subject, predicate, object. Only what the writer claimed feeds the read."""

    name = "kg_fixed"
    needs_writer = True
    needs_embedder = False
    schema_version = SCHEMA_VERSION

    def why_not_applicable(self, history: History) -> str:
        """The schema comes from event fields, so that a history must have them."""
        without = sum(event.fields is None for event in history.events)
        if without:
            return (
                f"kg_fixed needs structured fields, and {without} of {len(history.events)} "
                f"events of history {history.key!r} have none"
            )
        return ""

    def write(
        self,
        history: History,
        *,
        writer: ChatModel | None,
        embedder: Embedder | None,  # noqa: ARG002
        budget: WriteBudget,
        prompts: str = DEFAULT_VERSION,
    ) -> Written:
        """Let the writer claim what each window of events says. It never sees event fields."""
        assert writer is not None, "kg_fixed needs a writer"
        prompt = load_prompt("kg_fixed", prompts)
        tasks = [
            window_task(
                events,
                prompt,
                budget=budget,
                lines=numbered_texts(events),
                json_schema=claims_schema(events),
                predicates=", ".join(CLAIM_PREDICATES),
            )
            for events in windows(history.events, budget.events_per_claim_window)
        ]
        replies = writer.chat([task.request for task in tasks]) if tasks else []
        return claims_written(tasks, replies, prompt)

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,  # noqa: ARG002
        budget: WriteBudget,  # noqa: ARG002
        prompts: str = DEFAULT_VERSION,
    ) -> list[Reading]:
        """Show each probe the claims within two hops of its entities, in time order."""
        graph = ClaimGraph(_claims(content))
        return [_reading(graph, probe, prompts) for probe in probes]

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """One item per claim, its parts beside it."""
        return [
            {**asdict(claim), "text": claim_text(claim), "events": [claim.event]}
            for claim in _claims(content)
        ]

    def coverage(
        self,
        content: bytes,
        history: History,
        probes: Sequence[Probe],
        *,
        code_pattern: str = DEFAULT_CODE_PATTERN,
    ) -> list[ProbeCoverage]:
        """Look for the evidence claim by claim: the code must stand beside its own subject."""
        items = [
            Item(claim.item, f"{claim.subject} | {claim.object}") for claim in _claims(content)
        ]
        return cover(items, history, probes, code_pattern=code_pattern)


def claims_written(
    tasks: Sequence[WindowTask], replies: Sequence[ChatReply], prompt: Prompt
) -> Written:
    """Return the store of all claims, each once, and in words what was left out."""
    rows: list[dict[str, Any]] = []
    notices: list[str] = []
    for task, reply in zip(tasks, replies, strict=True):
        claims, problem = parse_claims(reply.text, task.events)
        rows.extend(row for row in claims if row not in rows)
        notices += [notice] if (notice := reply_notice(task, reply)) else []
        if problem and reply.text.strip():
            notices.append(f"In the writer's claims for {task.name}: {problem}.")
    claims = [{"item": f"claim-{n:04d}", **row} for n, row in enumerate(rows, start=1)]
    return Written(
        content=canonical_json({"format": KgFixed.name, "claims": claims}),
        prompt_version=prompt.version,
        prompt_sha256=prompt.sha256,
        schema_version=SCHEMA_VERSION,
        notices=tuple(notices),
    )


def claim_text(claim: Claim) -> str:
    """Return a claim as a reader sees it."""
    said = f"{claim.subject} {claim.predicate.replace('_', ' ')} {claim.object}"
    return one_line(f"{said} ({claim.source})" if claim.source else said)


def _claims(content: bytes) -> list[Claim]:
    return [Claim(**row) for row in parse_content(content, KgFixed.name)["claims"]]


def _reading(graph: ClaimGraph, probe: Probe, prompts: str) -> Reading:
    found = graph.walk(probe.question)
    shown = [entry for entry in found if entry.hop is not None]
    lines = [claim_text(entry.claim) for entry in shown]
    evidence_ranks = {
        key: min((entry.rank for entry in found if entry.claim.event == key), default=None)
        for key in probe.evidence
    }
    return selected_reading(
        "\n".join(lines),
        probe.question,
        retrieved=tuple(
            Retrieved(
                item=entry.claim.item,
                rank=entry.rank,
                score=None,
                events=(entry.claim.event,),
                text=claim_text(entry.claim),
            )
            for entry in shown
        ),
        evidence_ranks=evidence_ranks,
        prompts=prompts,
    )
