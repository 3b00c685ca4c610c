"""Whether the longest prompts of a study fit its context: those that the formats really compose."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.surroundings import Check, ModelElsewhere
from stores.formats.base import MemoryFormat
from stores.formats.reading import TEMPLATE_TOKENS, required_tokens
from stores.roles import ChatModel, ChatReply, ChatRequest, ModelIdentity
from stores.workload.types import History

# Only the longest prompts are encoded: the order by characters is nearly that by tokens.
ENCODED_PROMPTS = 3
# A text that would not fit even at this many bytes a token is refused without being encoded.
LONGEST_TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Need:
    """The most tokens that one kind of call needs, output included, and where."""

    history: str
    tokens: int
    output_tokens: int


def check_room(
    plan: StudyPlan,
    chat: ChatModel,
    key: str,
    histories: Sequence[History],
    formats: Mapping[str, MemoryFormat],
) -> list[Check]:
    """Check the longest transcript, with the unused room kept, and each format's longest window."""
    checks = []
    budgets = plan.budgets
    if "lc_raw" in plan.formats:
        need = _transcript_need(plan, chat, histories, formats["lc_raw"])
        room = budgets.context_tokens - budgets.unused_tokens
        expected = (
            f"at most {room:,} tokens (context {budgets.context_tokens:,}, "
            f"unused {budgets.unused_tokens:,})"
        )
        what = f"its transcript with a question and {need.output_tokens} tokens of answer"
        checks.append(_fits(chat, "longest history", key, need, room, expected, what))
    for name in plan.formats:
        window = _window_need(plan, chat, histories, formats[name])
        if window is not None:
            expected = f"at most {budgets.context_tokens:,} tokens of context"
            what = f"a window of events for {name} with {window.output_tokens} tokens of writing"
            room = budgets.context_tokens
            checks.append(_fits(chat, "longest window", key, window, room, expected, what))
    return checks


def _fits(
    chat: ChatModel, name: str, key: str, need: Need, room: int, expected: str, what: str
) -> Check:
    """Whether a call fits; where it cannot be encoded here, whether it could."""
    fewest, found = need.tokens, f"{need.tokens:,} tokens"
    if isinstance(chat, ModelElsewhere):
        prompt = need.tokens - need.output_tokens
        fewest = prompt // LONGEST_TOKEN_BYTES + need.output_tokens
        if need.tokens <= room:
            found = f"at most {need.tokens:,} tokens"
        elif fewest <= room:
            found = f"{fewest:,} to {need.tokens:,} tokens, to be counted before it is asked,"
        else:
            found = f"more than {fewest:,} tokens"
    ok = fewest <= room
    hint = "" if ok else "raise budgets.context_tokens"
    return Check(name, expected, f"{found} in {need.history!r}: {what}", ok, key, hint)


def _transcript_need(
    plan: StudyPlan, chat: ChatModel, histories: Sequence[History], lc_raw: MemoryFormat
) -> Need:
    """The raw transcript with its longest question, encoded as the reader will get it."""
    output = plan.budgets.reader_output_tokens
    longest = sorted(histories, key=lambda h: sum(len(event.text) for event in h.events))
    tokens = {
        history.key: _transcript_tokens(plan, chat, history, lc_raw)
        for history in longest[-ENCODED_PROMPTS:]
    }
    key = max(tokens, key=lambda key: tokens[key])
    return Need(key, tokens[key], output)


def _transcript_tokens(
    plan: StudyPlan, chat: ChatModel, history: History, lc_raw: MemoryFormat
) -> int:
    budget = write_budget(plan)
    written = lc_raw.write(history, writer=None, embedder=None, budget=budget, prompts=plan.prompts)
    longest = max(history.probes, key=lambda probe: len(probe.question), default=None)
    probes = [longest] if longest is not None else []
    readings = lc_raw.read(
        written.content, probes, embedder=None, budget=budget, prompts=plan.prompts
    )
    output = plan.budgets.reader_output_tokens
    return max((required_tokens(r, chat.count_tokens, output) for r in readings), default=0)


class _SeenError(Exception):
    """The prompts have been seen; nothing is to be written."""


class _Onlooker:
    """Takes a writer's place, looks at its prompts, and ends the writing."""

    def __init__(self, context_tokens: int) -> None:
        self.requests: list[ChatRequest] = []
        self.identity = ModelIdentity("onlooker", "none", "", "")
        self.context_tokens = context_tokens

    def count_tokens(self, text: str) -> int:
        return len(text.encode())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.requests += requests
        raise _SeenError

    def forget(self) -> None:
        """Nothing is cached."""

    def close(self) -> None:
        """Nothing is open."""


def _window_need(
    plan: StudyPlan, chat: ChatModel, histories: Sequence[History], memory_format: MemoryFormat
) -> Need | None:
    """The longest writer call; None for a format that nobody writes, or that never applies."""
    if not memory_format.needs_writer:
        return None
    found: list[tuple[str, ChatRequest]] = []
    for history in histories:
        if not memory_format.why_not_applicable(history):
            found += [(history.key, one) for one in _requests(plan, history, memory_format)]
    found.sort(key=lambda one: len(one[1].prefix) + len(one[1].suffix))
    needs = [
        Need(key, _request_tokens(chat, request), request.max_output_tokens)
        for key, request in found[-ENCODED_PROMPTS:]
    ]
    return max(needs, key=lambda need: need.tokens, default=None)


def _request_tokens(chat: ChatModel, request: ChatRequest) -> int:
    prompt = chat.count_tokens(request.system)
    prompt += chat.count_tokens(request.prefix + request.suffix)
    return prompt + TEMPLATE_TOKENS + request.max_output_tokens


def _requests(plan: StudyPlan, history: History, memory_format: MemoryFormat) -> list[ChatRequest]:
    writer = _Onlooker(plan.budgets.context_tokens)
    budget = write_budget(plan)
    with suppress(_SeenError):
        memory_format.write(
            history, writer=writer, embedder=None, budget=budget, prompts=plan.prompts
        )
    return writer.requests
