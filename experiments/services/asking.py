"""In which order probes are asked, whether they fit, and what their retrieval was worth."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from stores.formats.base import Reading
from stores.formats.reading import TEMPLATE_TOKENS
from stores.models import Probe
from stores.roles import ContextOverflowError


@dataclass(frozen=True, slots=True)
class Question:
    """One probe, and what the reader is shown for it."""

    probe: Probe
    reading: Reading


def asking_order(
    questions: Sequence[Question], *, repeat: int, cell: str, seed: int
) -> list[Question]:
    """Order questions so that those with one prefix follow each other.

    A repeat (above 0) asks in an order of its own, shuffled from the plan's seed, the cell and the
    number of the repeat, so that it is the same after a resume.
    """
    usual = _grouped(questions)
    if not repeat:
        return usual
    digest = hashlib.sha256(f"{seed}\0{cell}\0{repeat}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    shuffled = _grouped([questions[n] for n in rng.permutation(len(questions))])
    # Of a few questions, a shuffle may be the usual order: a repeat has to be another one.
    return shuffled if shuffled != usual else usual[::-1]


def _grouped(questions: Sequence[Question]) -> list[Question]:
    groups: dict[tuple[str, str], list[Question]] = {}
    for question in questions:
        key = (question.reading.system, question.reading.prefix)
        groups.setdefault(key, []).append(question)
    return [question for group in groups.values() for question in group]


def check_room(
    questions: Sequence[Question],
    *,
    count_tokens: Callable[[str], int],
    context_tokens: int,
    output_tokens: int,
    reader: str,
) -> None:
    """Raise ContextOverflowError, with the numbers, where a prompt and its answer do not fit."""
    count = cache(count_tokens)
    for question in questions:
        reading = question.reading
        # Prefix and suffix are counted apart, so that a long prefix is counted once.
        prompt = count(reading.system) + count(reading.prefix) + count(reading.suffix)
        needed = prompt + TEMPLATE_TOKENS + output_tokens
        if needed > context_tokens:
            raise ContextOverflowError(
                f"probe {question.probe.key} needs {needed:,} tokens ({prompt:,} of prompt,"
                f" {TEMPLATE_TOKENS} of chat template, {output_tokens:,} reserved for the answer),"
                f" but {reader} is given {context_tokens:,}; raise budgets.context_tokens or use"
                " shorter histories"
            )


def rank_and_recall(reading: Reading, *, top_k: int) -> tuple[int | None, float | None]:
    """Return the rank of the first evidence chunk among the top k, and recall at k.

    Recall is the share of the probe's evidence chunks that are among the top k; evidence that no
    chunk holds counts as one that is missing. Both are None for formats that retrieve nothing by
    rank, the rank also where no evidence was retrieved.
    """
    if not reading.evidence_ranks:
        return None, None
    # One entry per chunk, by its name; evidence that no chunk holds goes by its own.
    items = reading.evidence_items or {}
    chunks = {items.get(event, event): rank for event, rank in reading.evidence_ranks.items()}
    shown = [rank for rank in chunks.values() if rank is not None and rank <= top_k]
    return min(shown, default=None), len(shown) / len(chunks)
