"""The calls of a study before it is run: the formats' own prompts, written and read by stand-ins.

Windows, transcripts, chunks and questions are exactly those of the study. What a writer will write
is not known: a stand-in that keeps every event's line, or one claim of it, takes its place.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from experiments.engines.scripted import ScriptedModel, ScriptedOptions
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from stores.formats.base import MemoryFormat, Reading, Written
from stores.formats.fence import event_lines
from stores.formats.reading import shared_reading
from stores.formats.repairing import (
    FROM_STORE,
    METHODS,
    NOTES_RAW,
    Allowed,
    OutputLimitError,
    rebuild_notes,
)
from stores.roles import ChatModel, ChatReply, ChatRequest, EmbeddingGeneration, Vectors
from stores.workload.types import History

NO_LIMIT = 10**9
DIMENSION = 384
# What every reader of such a cell is shown instead of a store.
SHOWS_EVIDENCE = ("raw_evidence", "stored_evidence")


@dataclass(frozen=True, slots=True)
class PromptText:
    """One call: its instruction, what it shares with its neighbours, its own, the expected reply.

    An engine keeps the instruction from job to job, the prefix within one job.
    """

    instruction: str
    prefix: str
    own: str
    reply: str
    output_limit: int


@dataclass(frozen=True, slots=True)
class DryStore:
    """A store that a stand-in wrote: its calls, its size, and how many passages were embedded."""

    calls: tuple[PromptText, ...]
    content: bytes
    passages: int


@dataclass(slots=True)
class DryRun:
    """Prompts of one study by history; each is composed once and kept."""

    plan: StudyPlan
    formats: Mapping[str, MemoryFormat]
    _stores: dict[tuple[str, str], DryStore] = field(default_factory=dict)
    _readings: dict[tuple[str, str, str], tuple[PromptText, ...]] = field(default_factory=dict)

    def store(self, history: History, name: str) -> DryStore:
        """Write a history's store in a format, as one writer will."""
        key = (history.key, name)
        if key not in self._stores:
            self._stores[key] = self._write(history, name)
        return self._stores[key]

    def readings(self, history: History, name: str, condition: str) -> tuple[PromptText, ...]:
        """Return the readers' calls of one cell."""
        shown = condition if condition in (*SHOWS_EVIDENCE, "no_memory") else "normal"
        key = (history.key, name, shown)
        if key not in self._readings:
            self._readings[key] = self._read(history, name, shown)
        return self._readings[key]

    def repair(self, history: History, method: str, rung: int) -> tuple[PromptText, ...]:
        """Return the repairer's calls on a store that kept everything, at one budget rung."""
        settings = self.plan.tests.repair
        assert settings is not None, "a repair belongs to the test of that name"
        # A repair computes its instruction anew, whatever was asked before it.
        writer = _Writer()
        budget, prompts = write_budget(self.plan), self.plan.prompts
        # All calls at once: their limits then add up to the allowance, the most that is written.
        allowance = settings.rungs[rung - 1]
        repairer = Allowed(writer, allowance_tokens=allowance, calls_at_once=NO_LIMIT)
        with suppress(OutputLimitError):  # the calls so far are still made, and paid
            if method == NOTES_RAW:
                rebuild_notes(history, repairer=repairer, budget=budget, prompts=prompts)
            else:
                content = self.store(history, METHODS[method]).content
                FROM_STORE[method](content, repairer=repairer, budget=budget, prompts=prompts)
        return tuple(writer.calls)

    def _write(self, history: History, name: str) -> DryStore:
        writer, embedder = _Writer(), _Embedder()
        memory_format = self.formats[name]
        written: Written = memory_format.write(
            history,
            writer=writer if memory_format.needs_writer else None,
            embedder=embedder if memory_format.needs_embedder else None,
            budget=write_budget(self.plan),
            prompts=self.plan.prompts,
        )
        return DryStore(tuple(writer.calls), written.content, embedder.passages)

    def _read(self, history: History, name: str, shown: str) -> tuple[PromptText, ...]:
        if shown == "normal":
            memory_format = self.formats[name]
            readings: Sequence[Reading] = memory_format.read(
                self.store(history, name).content,
                history.probes,
                embedder=_Embedder() if memory_format.needs_embedder else None,
                budget=write_budget(self.plan),
                prompts=self.plan.prompts,
            )
        else:
            readings = [
                shared_reading(
                    event_lines([history.event(k) for k in probe.evidence])
                    if shown in SHOWS_EVIDENCE
                    else "",
                    probe.question,
                    prompts=self.plan.prompts,
                )
                for probe in history.probes
            ]
        limit, kept = self.plan.budgets.reader_output_tokens, dict[str, str]()
        return tuple(
            PromptText(
                # Equal prefixes become one string: a long transcript is kept once.
                instruction=kept.setdefault(reading.system, reading.system),
                prefix=kept.setdefault(reading.prefix, reading.prefix),
                own=reading.suffix,
                reply=probe.answer,
                output_limit=limit,
            )
            for reading, probe in zip(readings, history.probes, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some calls. `computed`: with each shared prefix computed once."""

    calls: int = 0
    prompt: int = 0
    computed: int = 0
    output: int = 0
    output_limit: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        """Return the sum of both."""
        names = ("calls", "prompt", "computed", "output", "output_limit")
        return Tokens(*(getattr(self, name) + getattr(other, name) for name in names))

    def times(self, factor: float) -> "Tokens":
        """Scale what was counted on some histories to all of them."""
        names = ("calls", "prompt", "computed", "output", "output_limit")
        return Tokens(*(round(getattr(self, name) * factor) for name in names))


def count_calls(
    calls: Sequence[PromptText],
    count: Callable[[str], int],
    *,
    template_tokens: int,
    computed: str | None = None,
) -> Tokens:
    """Count a series of calls; neighbours with one instruction or prefix compute it once.

    `computed` is the instruction that was computed just before the first of them.
    """
    total, instruction, prefix = Tokens(), computed, ""
    for call in calls:
        known, shared = count(call.instruction) + template_tokens, count(call.prefix)
        new = 1  # what is shared is asked for once more, bare
        if call.instruction != instruction:
            new, prefix = known, ""
        if call.prefix != prefix:
            new += shared
        own, output = count(call.own), min(call.output_limit, count(call.reply) + 1)
        total = total.plus(Tokens(1, known + shared + own, new + own, output, call.output_limit))
        instruction, prefix = call.instruction, call.prefix
    return total


class _Writer:
    """Keeps everything: a note of every line, a claim of every line that names something."""

    def __init__(self) -> None:
        self.calls: list[PromptText] = []
        self._model: ChatModel = ScriptedModel(
            "stand-in", context_tokens=NO_LIMIT, options=ScriptedOptions()
        )
        self.identity, self.context_tokens = self._model.identity, NO_LIMIT

    def count_tokens(self, text: str) -> int:
        return self._model.count_tokens(text)

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        # The limit is in tokens of the real writer; the stand-in would count words.
        replies = self._model.chat([replace(one, max_output_tokens=10**6) for one in requests])
        self.calls += [
            PromptText(one.system, one.prefix, one.suffix, reply.text, one.max_output_tokens)
            for one, reply in zip(requests, replies, strict=True)
        ]
        return replies

    def forget(self) -> None:
        """Nothing is cached."""

    def close(self) -> None:
        """Nothing is open."""


class _Embedder:
    """Gives every text a vector of its own, so that each question finds some chunks."""

    def __init__(self) -> None:
        self.passages = 0
        self.generation = EmbeddingGeneration(
            "stand-in", "stand-in", "1", "stand-in", DIMENSION, "none", True, "", "", 512
        )

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += len(texts)
        return self.embed_queries(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
            row[:] = np.random.default_rng(seed).standard_normal(DIMENSION)
            row /= np.linalg.norm(row)
        return rows

    def close(self) -> None:
        """Nothing is open."""
