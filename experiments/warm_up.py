"""How fast a model is on this machine: three short calls, timed before a study."""

from collections.abc import Callable
from dataclasses import dataclass

from stores.roles import ChatModel, ChatReply, ChatRequest, Embedder

PROMPT_LINES = 3
OUTPUT_TOKENS = 24
LEAST_S = 1e-6
LINE = "[{n}] 09:{n:02d} Anna Berg moved pump {n} of the north hall to code QX-{n}821 on 3 May.\n"
QUESTION = "Count from one to one hundred in words: one, two, three,"
TEXTS = tuple(LINE.format(n=n) for n in range(10, 42))


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens a second that a model computes and writes, and what every call takes beside them.

    `template_tokens` is what its chat template adds to a prompt.
    """

    prompt_tokens_per_s: float
    output_tokens_per_s: float
    call_s: float
    template_tokens: int
    measured_on: str

    def engine_s(self, *, calls: int, computed_tokens: int, output_tokens: int) -> float:
        """Seconds that so many calls and tokens take, one call after the other."""
        return (
            calls * self.call_s
            + computed_tokens / self.prompt_tokens_per_s
            + output_tokens / self.output_tokens_per_s
        )


def warm_up(chat: ChatModel) -> Rate:
    """Time a prompt that is computed, the same prompt from the cache, and a longer answer to it.

    Two calls that differ in the prompt alone tell what a prompt token takes, two that differ in
    the answer alone what an output token takes. What is left of a call is its own time, whatever it
    asks. The prompt is short: on a long one attention costs more, so that a forecast for long
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
    new, again, longer = (
        chat.chat([_request(text=text, tokens=tokens)])[0] for tokens in (1, 1, OUTPUT_TOKENS)
    )
    chat.forget()
    prompt_s = _seconds_of_one(new, again, of=_computed)
    output_s = _seconds_of_one(longer, again, of=_written)
    rest_s = again.wall_s - _computed(again) * prompt_s - _written(again) * output_s
    counted = chat.count_tokens(text + QUESTION)
    return Rate(
        prompt_tokens_per_s=1 / prompt_s,
        output_tokens_per_s=1 / output_s,
        call_s=max(0.0, rest_s),
        template_tokens=max(0, new.prompt_tokens - counted),
        measured_on=(
            f"{1 / prompt_s:,.0f} prompt tokens and {1 / output_s:,.1f} output tokens a second,"
            f" and {max(0.0, rest_s):.2f} s for a call, one call after the other (timed:"
            f" {_computed(new)} prompt tokens in {new.wall_s:.2f} s, {_written(longer)} output"
            f" tokens in {longer.wall_s:.2f} s)"
        ),
    )


def _seconds_of_one(more: ChatReply, less: ChatReply, *, of: Callable[[ChatReply], int]) -> float:
    """Seconds of one token, from two calls that differ in these tokens alone.

    Where they do not differ (an engine without a cache, an answer that ended at once), or the clock
    cannot tell them apart, the longer call counts whole: rather too much time than too little.
    """
    tokens, seconds = of(more) - of(less), more.wall_s - less.wall_s
    if tokens < 1 or seconds <= 0:
        tokens, seconds = of(more), more.wall_s
    return max(seconds, LEAST_S) / tokens


def texts_per_s(embedder: Embedder, *, clock: Callable[[], float]) -> float:
    """Time the embedding of a few texts of about a chunk's length."""
    texts = ["".join(TEXTS[n : n + PROMPT_LINES]) for n in range(0, 24, 3)]
    embedder.embed_passages(texts[:1])
    started = clock()
    embedder.embed_passages(texts)
    return len(texts) / max(clock() - started, 1e-6)


def _request(*, text: str, tokens: int) -> ChatRequest:
    return ChatRequest(system="", prefix=text, suffix=QUESTION, max_output_tokens=tokens)


def _written(reply: ChatReply) -> int:
    return max(1, reply.output_tokens)


def _computed(reply: ChatReply) -> int:
    return max(1, reply.prompt_tokens - reply.cached_tokens + reply.primed_tokens)
