"""Style rewrites: a model rewrites another model's notes in its own manner, window by window."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stores.formats.base import WriteBudget, Written
from stores.formats.codes import find_codes
from stores.formats.content import parse_content
from stores.formats.fence import fenced, neutral
from stores.formats.notes import Notes, capped
from stores.formats.prompts import DEFAULT_VERSION, Prompt, load_prompt
from stores.formats.writing import writer_request
from stores.roles import ChatModel, ChatReply, ChatRequest

PROMPT = "notes_style"
REWRITTEN = "rewritten"


@dataclass(frozen=True, slots=True)
class RewriteFigures:
    """What a style rewrite did: notes (one per window), those reached, those that lost a code."""

    notes: int
    reached: int
    dropping: int


def rewrite_notes(
    content: bytes,
    *,
    rewriter: ChatModel,
    budget: WriteBudget,
    prompts: str = DEFAULT_VERSION,
    name: str = PROMPT,
) -> Written:
    """Let the rewriter put each window's notes in its own words; `name` is the prompt's.

    A note is reached when the rewriter's reply is whole. One whose reply was cut off at the output
    limit, refused or empty stays as it was. The cap on notes holds as for any other store.
    """
    prompt = load_prompt(name, prompts)
    parts = parse_content(content, Notes.name)["notes"]
    asked = [n for n, part in enumerate(parts) if part["text"].strip()]
    requests = [_request(parts[n]["text"], prompt, budget) for n in asked]
    replies = rewriter.chat(requests) if requests else []
    rewritten = [{**part, REWRITTEN: False} for part in parts]
    for n, reply in zip(asked, replies, strict=True):
        if _whole(reply):
            rewritten[n] = {**parts[n], "text": reply.text.strip(), REWRITTEN: True}
    kept, cut = capped(rewritten, budget.notes_kib)
    return Written(
        content=kept,
        prompt_version=prompt.version,
        prompt_sha256=prompt.sha256,
        notices=tuple(filter(None, (_left(replies), cut))),
    )


def rewrite_figures(old: bytes, new: bytes, *, code_pattern: str) -> RewriteFigures:
    """Count the notes that a rewrite reached, and those among them that lost an exact code."""
    before = [part for part in parse_content(old, Notes.name)["notes"] if part["text"].strip()]
    after = {tuple(part["events"]): part for part in parse_content(new, Notes.name)["notes"]}
    reached = dropping = 0
    for part in before:
        other = after.get(tuple(part["events"]))
        if other is None or not other.get(REWRITTEN):
            continue
        reached += 1
        codes = set(find_codes(part["text"], code_pattern))
        dropping += bool(codes - set(find_codes(other["text"], code_pattern)))
    return RewriteFigures(len(before), reached, dropping)


def _request(text: str, prompt: Prompt, budget: WriteBudget) -> ChatRequest:
    filling = {"notes": fenced("notes", neutral(text))}
    return writer_request(prompt, filling, budget=budget)


def _whole(reply: ChatReply) -> bool:
    return reply.finish_reason == "stop" and bool(reply.text.strip())


def _left(replies: Sequence[ChatReply]) -> str:
    """Say in words which notes were not reached."""
    reasons: dict[str, Any] = {
        "cut off at the output limit": sum(r.finish_reason == "length" for r in replies),
        "refused": sum(r.finish_reason == "refused" for r in replies),
        "empty": sum(r.finish_reason == "stop" and not r.text.strip() for r in replies),
    }
    said = ", ".join(f"{count} {reason}" for reason, count in reasons.items() if count)
    if not said:
        return ""
    missed = sum(reasons.values())
    return (
        f"The rewriter did not reach {missed} of {len(replies)} notes, which stay as they were: "
        f"{said}."
    )
