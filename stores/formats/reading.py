"""What a reader is shown: one instruction and one layout for every format."""

from collections.abc import Callable

from stores.formats.base import Reading, Retrieved
from stores.formats.fence import fenced, one_line
from stores.formats.prompts import DEFAULT_VERSION, Prompt, filled, load_prompt
from stores.roles import ChatRequest

EMPTY_MEMORY = "(nothing)"
# What a chat template puts around a system and a user message, rounded up; engines that render
# the template themselves are asked instead.
TEMPLATE_TOKENS = 32


def reader_prompt(version: str = DEFAULT_VERSION) -> Prompt:
    """Return the one instruction that all readers of all formats get."""
    return load_prompt("reader", version)


def shared_reading(memory: str, question: str, *, prompts: str = DEFAULT_VERSION) -> Reading:
    """Compose a reading whose memory is the same for every probe of the store.

    `memory` is neutral text already (see `fence`). It goes into the prefix, whole, and the
    question comes last, so that an engine computes the memory once.
    """
    prompt = reader_prompt(prompts)
    return Reading(
        system=prompt.system,
        prefix=filled(prompt.prefix, memory=fenced("memory", memory or EMPTY_MEMORY)),
        suffix=filled(prompt.suffix, question=one_line(question)),
    )


def selected_reading(
    memory: str,
    question: str,
    *,
    retrieved: tuple[Retrieved, ...],
    evidence_ranks: dict[str, int | None],
    prompts: str = DEFAULT_VERSION,
) -> Reading:
    """Compose a reading whose memory was selected for this question.

    The message is the same text as `shared_reading` would give; the cut between prefix and suffix
    lies before the memory, so that every probe branches off at the same point.
    """
    whole = shared_reading(memory, question, prompts=prompts)
    return Reading(
        system=whole.system,
        prefix="",
        suffix=whole.prefix + whole.suffix,
        retrieved=retrieved,
        evidence_ranks=evidence_ranks,
    )


def reader_request(reading: Reading, *, max_output_tokens: int, seed: int = 0) -> ChatRequest:
    """Return the call that asks a reading: temperature 0, no stop string.

    A stop string would cut an answer that lists several codes down to its first one.
    """
    return ChatRequest(
        system=reading.system,
        prefix=reading.prefix,
        suffix=reading.suffix,
        max_output_tokens=max_output_tokens,
        temperature=0.0,
        seed=seed,
    )


def required_tokens(reading: Reading, count_tokens: Callable[[str], int], output: int) -> int:
    """Return the tokens that one reading needs: its prompt, the template, the reserved output."""
    prompt = count_tokens(reading.system) + count_tokens(reading.prefix + reading.suffix)
    return prompt + TEMPLATE_TOKENS + output
