"""Text from outside is data: it is put between delimiters that it cannot imitate."""

import re
from collections.abc import Iterable

from stores.workload.types import Event

# A tag of ours, an end-of-turn mark of a chat template, HTML: whatever looks like one loses its
# brackets. An engine would otherwise take "<|im_end|>" in an event's text for the end of the turn.
_TAG_LIKE = re.compile(r"<(/?\|?[A-Za-z_/!|][^<>\n]{0,80})>")
_BARE_SPECIAL = re.compile(r"<\||\|>")
_INST = re.compile(r"\[(/?(?:INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS))\]", re.IGNORECASE)
_ISO_TIME = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)(?:T(?P<time>\d\d:\d\d)(?::\d\d)?Z?)?")
_DAY_LINE = re.compile(r"On \d{4}-\d\d-\d\d:")
_BREAKS = re.compile(r"[ \t]*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+[ \t]*")
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def neutral(text: str) -> str:
    """Return the text with nothing left in it that looks like a delimiter or a control token."""
    text = _UNSEEN.sub("", text)
    # Twice: taking the brackets off an inner tag can leave an outer one behind.
    for _ in range(2):
        text = _TAG_LIKE.sub(r"‹\1›", text)
    text = _BARE_SPECIAL.sub(lambda match: "‹|" if match.group() == "<|" else "|›", text)
    return _INST.sub(r"(\1)", text)


def one_line(text: str) -> str:
    """Return the neutral text without line breaks, so that it cannot pose as another line."""
    return _BREAKS.sub(" ", neutral(text)).strip()


def fenced(tag: str, body: str) -> str:
    """Put a neutral body between `<tag>` and `</tag>`, each on a line of its own."""
    return f"<{tag}>\n{body}\n</{tag}>\n"


def event_line(event: Event, *, dated: bool = True) -> str:
    """Return an event as one line: time, actor, text. `dated=False` leaves the day out."""
    at = one_line(event.at) if dated else clock(event.at)
    head = " ".join(part for part in (at, one_line(event.actor)) if part)
    return f"{head}: {one_line(event.text)}" if head else one_line(event.text)


def event_lines(events: Iterable[Event]) -> str:
    """Return events as lines, in their order; a day is written once, on a line above its events.

    Small models read one token per digit, so that a full date on every line would be a third of
    a transcript.
    """
    lines: list[str] = []
    today = None
    for event in events:
        iso = _ISO_TIME.fullmatch(event.at)
        if iso and iso["day"] != today:
            today = iso["day"]
            lines.append(f"On {today}:")
        lines.append(event_line(event, dated=False))
    return "\n".join(lines)


def joined_days(texts: Iterable[str]) -> str:
    """Join texts that `event_lines` made; a day that goes on from one to the next is said once."""
    lines: list[str] = []
    today = None
    for line in (line for text in texts for line in text.split("\n")):
        if _DAY_LINE.fullmatch(line):
            if line == today:
                continue
            today = line
        lines.append(line)
    return "\n".join(lines)


def clock(at: str) -> str:
    """Return the time of day of an ISO time, "" of a day, the whole text where it is neither."""
    iso = _ISO_TIME.fullmatch(at)
    return iso["time"] or "" if iso else one_line(at)


def numbered_texts(events: Iterable[Event]) -> str:
    """Return the texts of events as numbered lines, without time and actor."""
    return "\n".join(f"{event.seq}. {one_line(event.text)}" for event in events)


def writer_lines(events: Iterable[Event]) -> str:
    """Return events as a writer of notes gets them: list items under the day they share.

    A time that is no ISO time stands above its events as a whole. In a conversation the actor
    speaks, so that the text is nothing without the name. The actor of a structured event only
    recorded it, and small writers take a name in front of a text for what the text is about: it
    is left out.
    """
    lines: list[str] = []
    above = ""
    for event in events:
        at = one_line(event.at)
        iso = _ISO_TIME.fullmatch(at)
        day = iso["day"] if iso else at
        if day and day != above:
            lines.append(f"On {day}:")
            above = day
        speaker = "" if event.fields is not None else one_line(event.actor)
        said = f"{speaker}: {one_line(event.text)}" if speaker else one_line(event.text)
        lines.append(f"- {said}")
    return "\n".join(lines)
