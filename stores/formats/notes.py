"""`notes`: natural-language notes, written window by window, read whole."""

from collections.abc import Mapping, Sequence
from typing import Any

from stores.formats.base import ProbeCoverage, Reading, WriteBudget, Written
from stores.formats.codes import DEFAULT_CODE_PATTERN
from stores.formats.content import canonical_json, parse_content
from stores.formats.coverage import Item, cover
from stores.formats.fence import neutral, writer_lines
from stores.formats.prompts import DEFAULT_VERSION, load_prompt
from stores.formats.reading import shared_reading
from stores.formats.writing import reply_notice, window_task, windows
from stores.roles import ChatModel, Embedder
from stores.workload.types import History, Probe

KIBIBYTE = 1024


class Notes:
    """What a writer found worth keeping, in its own words."""

    name = "notes"
    needs_writer = True
    needs_embedder = False
    schema_version = ""

    def why_not_applicable(self, history: History) -> str:  # noqa: ARG002
        """Notes can be taken of anything."""
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
        """Let the writer note down each window of events; keep what fits the cap."""
        assert writer is not None, "notes need a writer"
        prompt = load_prompt("notes", prompts)
        tasks = [
            window_task(events, prompt, lines=writer_lines(events), budget=budget)
            for events in windows(history.events, budget.events_per_window)
        ]
        replies = writer.chat([task.request for task in tasks]) if tasks else []
        notices = [
            notice
            for task, reply in zip(tasks, replies, strict=True)
            if (notice := reply_notice(task, reply))
        ]
        parts = [
            {"events": [event.key for event in task.events], "text": reply.text.strip()}
            for task, reply in zip(tasks, replies, strict=True)
        ]
        content, cut = capped(parts, budget.notes_kib)
        return Written(
            content=content,
            prompt_version=prompt.version,
            prompt_sha256=prompt.sha256,
            notices=(*notices, *([cut] if cut else [])),
        )

    def read(
        self,
        content: bytes,
        probes: Sequence[Probe],
        *,
        embedder: Embedder | None,  # noqa: ARG002
        budget: WriteBudget,  # noqa: ARG002
        prompts: str = DEFAULT_VERSION,
    ) -> list[Reading]:
        """Show the notes, all of them, to every probe."""
        parts = parse_content(content, self.name)["notes"]
        memory = "\n".join(neutral(part["text"]) for part in parts if part["text"])
        return [shared_reading(memory, probe.question, prompts=prompts) for probe in probes]

    def describe(self, content: bytes) -> list[Mapping[str, Any]]:
        """One item per line of the notes, with the events of its window."""
        items: list[Mapping[str, Any]] = []
        for window, part in enumerate(parse_content(content, self.name)["notes"], start=1):
            lines = [line.strip() for line in part["text"].splitlines()]
            items.extend(
                {"item": f"note-{window:03d}-{number:02d}", "text": line, "events": part["events"]}
                for number, line in enumerate((line for line in lines if line), start=1)
            )
        return items

    def coverage(
        self,
        content: bytes,
        history: History,
        probes: Sequence[Probe],
        *,
        code_pattern: str = DEFAULT_CODE_PATTERN,
    ) -> list[ProbeCoverage]:
        """Look for the evidence line by line."""
        items = [Item(row["item"], row["text"]) for row in self.describe(content)]
        return cover(items, history, probes, code_pattern=code_pattern)


def capped(parts: Sequence[Mapping[str, Any]], notes_kib: int) -> tuple[bytes, str]:
    """Return notes as content of at most `notes_kib` KiB, and a notice when some had to go.

    The cap holds for the stored bytes, so for the notes a reader sees as well. What does not fit
    is cut from the end, at a line's end where the cut window has one, and never inside a
    character.
    """
    cap = notes_kib * KIBIBYTE
    whole = _content(parts)
    if len(whole) <= cap:
        return whole, ""
    kept: list[Mapping[str, Any]] = []
    for part in parts:
        if len(_content([*kept, part])) > cap:
            if shorter := _longest_fit(kept, part, cap):
                kept.append(shorter)
            break
        kept.append(part)
    content = _content(kept)
    lost = sum(len(p["text"]) for p in parts) - sum(len(p["text"]) for p in kept)
    return content, (
        f"The notes were cut at the cap of {notes_kib} KiB ({cap:,} bytes): "
        f"{len(whole):,} bytes were written, the last {lost:,} characters were dropped."
    )


def _content(parts: Sequence[Mapping[str, Any]]) -> bytes:
    return canonical_json({"format": Notes.name, "notes": list(parts)})


def _longest_fit(
    kept: Sequence[Mapping[str, Any]], part: Mapping[str, Any], cap: int
) -> Mapping[str, Any] | None:
    """Return the part with the longest beginning of its text that fits; None if nothing does."""
    text = part["text"]
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if len(_content([*kept, {**part, "text": text[:middle]}])) <= cap:
            low = middle
        else:
            high = middle - 1
    head = text[:low]
    if "\n" in head:
        head = head[: head.rindex("\n")]
    return {**part, "text": head} if head else None
