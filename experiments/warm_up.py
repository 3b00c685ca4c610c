"""How fast a model is on this machine: two short calls, timed before a study."""

from collections.abc import Callable
from dataclasses import dataclass

from stores.roles import ChatModel, ChatReply, ChatRequest, Embedder

PROMPT_LINES = 3
OUTPUT_TOKENS = 12
LINE = "[{n}] 09:{n:02d} Anna Berg moved pump {n} of the north hall to code QX-{n}821 on 3 May.\n"
QUESTION = "Count from one to one hundred in words: one, two, three,"
TEXTS = tuple(LINE.format(n=n) for n in range(10, 42))


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens a second that a model computes and writes, and what its chat template adds."""

    prompt_tokens_per_s: float
    output_tokens_per_s: float
    template_tokens: int
    measured_on: str

    def engine_s(self, computed_tokens: int, output_tokens: int) -> float:
        """Seconds that so many tokens take, one call after the other."""
        return computed_tokens / self.prompt_tokens_per_s + output_tokens / self.output_tokens_per_s


def warm_up(chat: ChatModel) -> Rate:
    """Time a prompt that is computed, and an answer that is written.

    The prompt is short: on a long one attention costs more, so that a forecast for long
    transcripts from this rate is too low rather than too high.

    Raises
    ------
    EngineError
        The model does not answer.
    """
    text = "".join(LINE.format(n=n) for n in range(10, 10 + PROMPT_LINES))
    chat.forget()
    chat.chat([_request(text="Hello.\n", tokens=1)])  # pages the weights in; counts for nothing
    chat.forget()
    first = chat.chat([_request(text=text, tokens=1)])[0]
    second = chat.chat([_request(text=text, tokens=OUTPUT_TOKENS)])[0]
    chat.forget()
    computed = _computed(first)
    counted = chat.count_tokens(text + QUESTION)
    writing_s = max(second.wall_s, 1e-6)
    return Rate(
        prompt_tokens_per_s=computed / max(first.wall_s, 1e-6),
        output_tokens_per_s=max(1, second.output_tokens) / writing_s,
        template_tokens=max(0, first.prompt_tokens - counted),
        measured_on=(
            f"{computed} prompt tokens in {first.wall_s:.2f} s,"
            f" {second.output_tokens} output tokens in {second.wall_s:.2f} s"
        ),
    )


def texts_per_s(embedder: Embedder, *, clock: Callable[[], float]) -> float:
    """Time the embedding of a few texts of about a chunk's length."""
    texts = ["".join(TEXTS[n : n + PROMPT_LINES]) for n in range(0, 24, 3)]
    embedder.embed_passages(texts[:1])
    started = clock()
    embedder.embed_passages(texts)
    return len(texts) / max(clock() - started, 1e-6)


def _request(*, text: str, tokens: int) -> ChatRequest:
    return ChatRequest(system="", prefix=text, suffix=QUESTION, max_output_tokens=tokens)


def _computed(reply: ChatReply) -> int:
    return max(1, reply.prompt_tokens - reply.cached_tokens + reply.primed_tokens)
