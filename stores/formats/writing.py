"""Writer calls: one per window of events, each a pure function of the history and the budget."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stores.formats.base import WriteBudget
from stores.formats.fence import fenced
from stores.formats.prompts import Prompt, filled
from stores.roles import ChatReply, ChatRequest
from stores.workload.types import Event


def windows(events: Sequence[Event], size: int) -> Iterator[Sequence[Event]]:
    """Return the events in windows of `size`, in order; the last one may be shorter."""
    for start in range(0, len(events), size):
        yield events[start : start + size]


@dataclass(frozen=True, slots=True)
class WindowTask:
    """One window and the call that writes it down."""

    events: tuple[Event, ...]
    request: ChatRequest

    @property
    def name(self) -> str:
        """How a notice names the window."""
        first, last = self.events[0].seq, self.events[-1].seq
        return f"event {first}" if first == last else f"events {first} to {last}"


def window_task(
    events: Sequence[Event],
    prompt: Prompt,
    *,
    lines: str,
    budget: WriteBudget,
    json_schema: Mapping[str, Any] | None = None,
    **values: str,
) -> WindowTask:
    """Compose the call for one window. It depends on no earlier reply, so any may be repeated."""
    filling = {"events": fenced("events", lines), **values}
    request = writer_request(prompt, filling, budget=budget, json_schema=json_schema)
    return WindowTask(tuple(events), request)


def writer_request(
    prompt: Prompt,
    filling: Mapping[str, str],
    *,
    budget: WriteBudget,
    json_schema: Mapping[str, Any] | None = None,
) -> ChatRequest:
    """Fill the slots of a writer's prompt; limit, temperature and seed are the budget's."""
    return ChatRequest(
        system=filled(prompt.system, **filling),
        prefix=filled(prompt.prefix, **filling),
        suffix=filled(prompt.suffix, **filling),
        max_output_tokens=budget.writer_output_tokens,
        temperature=budget.temperature,
        seed=budget.seed,
        json_schema=json_schema,
    )


def reply_notice(task: WindowTask, reply: ChatReply) -> str:
    """Return in words what went wrong with a reply, or ''."""
    if reply.finish_reason == "length":
        limit = task.request.max_output_tokens
        return f"The writer's output for {task.name} was cut off at its limit of {limit} tokens."
    if reply.finish_reason == "refused":
        return f"The writer refused to write down {task.name}."
    if not reply.text.strip():
        return f"The writer wrote nothing for {task.name}."
    return ""
