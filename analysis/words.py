"""Verdicts in the words of people who must decide."""

from collections.abc import Callable, Mapping
from typing import Any

from analysis.stats.swap import Swap
from analysis.stats.verdicts import Verdict
from stores.counting import count_of, was_or_were

HEADINGS = {
    "safe": "Safe",
    "loses": "Loses",
    "worse": "Worse, perhaps within the margin",
    "undecided": "Undecided",
    "too_few_histories": "Too few histories",
    "withheld": "No verdict",
    "not_affected": "Not affected",
}
FORMAT_NAMES = {
    "lc_raw": "the raw transcript",
    "rag": "retrieval (RAG)",
    "notes": "notes",
    "kg_fixed": "the knowledge graph",
}


def points(value: float | None) -> str:
    """A signed number of percentage points.

    Examples
    --------
    >>> points(-13.28), points(0.04), points(-0.04)
    ('−13.3', '0.0', '0.0')
    """
    if value is None:
        return "undefined"
    rounded = round(value, 1)
    return "0.0" if rounded == 0 else f"{rounded:+.1f}".replace("-", "−")


def format_name(name: str) -> str:
    """What people call a format."""
    return FORMAT_NAMES.get(name, name)


def heading(verdict: Verdict) -> str:
    """The verdict in two or three words."""
    if verdict.outcome == "safe" and verdict.gain:
        return "Safe, and gains"
    return HEADINGS[verdict.outcome]


def service_words(swap: Swap, verdict: Verdict) -> str:
    """What the users of the service feel; "but" where the verdict sounds otherwise."""
    change = swap.service_change_pp
    if change.value is None:
        return f"Service change: undefined, because {change.figure.reason}."
    span = ""
    if change.low is not None and change.high is not None:
        span = f" (95 % interval {points(change.low)} to {points(change.high)})"
    users = "Users"
    if verdict.outcome == "safe" and change.high is not None and change.high < 0:
        users = "But users"
    elif verdict.outcome in ("loses", "worse") and change.low is not None and change.low > 0:
        users = "Even so, users"
    return f"{users} see {points(change.value)} pp on the day of the switch{span}."


def sentence(swap: Swap, verdict: Verdict, *, margin_pp: float) -> str:
    """The verdict in one plain sentence.

    A number is a swap delta in percentage points: negative is a loss against the store that the
    new model would have written itself.
    """
    name = format_name(swap.format.name)
    if verdict.outcome == "not_affected":
        return f"Not affected by a writer swap: nobody writes {name}; only the reader changes."
    if verdict.outcome == "withheld":
        return f"No verdict: {verdict.reason}."
    seen = _seen(swap, verdict)
    about = f"{swap.new} on {swap.old}'s {_short(swap.format.name)}"
    if verdict.outcome == "safe":
        beware = f" Beware: {verdict.reason}." if verdict.reason else ""
        if verdict.gain:
            return f"Safe to switch: {about} gains {seen}.{beware}"
        return f"Safe to switch: {about} loses less than {margin_pp:g} points ({seen}).{beware}"
    if verdict.outcome == "loses":
        return f"Loses: {about} loses more than {margin_pp:g} points ({seen})."
    if verdict.outcome == "worse":
        return f"Worse, perhaps within the margin of {margin_pp:g} points: {about} {seen}."
    if verdict.outcome == "too_few_histories":
        return f"Too few histories: {_direction(swap)}, nothing decided. {verdict.reason}."
    return f"Undecided: {seen}; {_needed(swap, verdict)}."


def _short(name: str) -> str:
    return {"kg_fixed": "knowledge graph"}.get(name, name)


def _seen(swap: Swap, verdict: Verdict) -> str:
    ends = f"{points(verdict.interval.low)} to {points(verdict.interval.high)}"
    n = swap.swap_delta_pp.n_histories
    gain = " (a gain)" if verdict.gain and verdict.outcome != "safe" else ""
    delta = points(swap.swap_delta_pp.value)
    return f"{delta} pp, 95 % interval {ends}, {count_of(n, 'history')}{gain}"


def _direction(swap: Swap) -> str:
    delta = swap.swap_delta_pp
    if delta.value is None:
        return f"no swap delta ({delta.figure.reason})"
    word = "a loss" if delta.value < 0 else "a gain" if delta.value > 0 else "no change"
    return f"{word} was seen ({points(delta.value)} pp, {count_of(delta.n_histories, 'history')})"


def _needed(swap: Swap, verdict: Verdict) -> str:
    if verdict.reason:
        return verdict.reason
    needed = verdict.histories_to_decide
    if needed.value is None:
        return f"how many histories would decide cannot be named: {needed.reason}"
    n = swap.swap_delta_pp.n_histories
    measured = f"{count_of(n, 'history')} {was_or_were(n)} measured"
    return f"{measured}, about {needed.value:,.0f} would decide at this spread"


def duration_words(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> duration_words(42.0), duration_words(5400.0), duration_words(360000.0)
    ('42 s', '1 h 30 min', '100 h')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest and hours < 100 else f"{hours:,} h"


def bytes_words(size: float) -> str:
    """A size for people, in units of 1,024.

    Examples
    --------
    >>> bytes_words(2048), bytes_words(5 * 1024**3)
    ('2.0 KiB', '5.0 GiB')
    """
    value, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:,.0f} bytes" if unit == "bytes" else f"{value:,.1f} {unit}"


def amount(figure: Mapping[str, Any], write: Callable[[float], str]) -> str:
    """A figure `{value, status, reason}` in words, or why there is none."""
    if figure["value"] is None:
        return f"not known ({reasons_by_word(figure['reason'])})"
    return write(figure["value"])


def reasons_by_word(reasons: str) -> str:
    """Name a reason once for all that it holds for.

    Examples
    --------
    >>> reasons_by_word("a: not measured; b: not measured; c: not here")
    'a, b: not measured; c: not here'
    """
    whose: dict[str, list[str]] = {}
    for part in reasons.split("; "):
        name, mark, reason = part.partition(": ")
        whose.setdefault(reason if mark else part, []).append(name if mark else "")
    return "; ".join(
        f"{', '.join(filter(None, names))}: {reason}" if any(names) else reason
        for reason, names in whose.items()
    )


def count_words(number: float) -> str:
    """A large count in few characters.

    Examples
    --------
    >>> count_words(9_468), count_words(408_480), count_words(40_848_101)
    ('9,468', '408 k', '40.8 M')
    """
    if number < 100_000:
        return f"{number:,.0f}"
    for size, unit in ((1e9, "G"), (1e6, "M")):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number / 1e3:,.0f} k"
