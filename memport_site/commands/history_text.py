"""Histories as text for a terminal."""

from collections import Counter
from typing import Any

from stores.counting import count_of
from stores.workload.bundle import Counts
from stores.workload.locomo import Conversion
from stores.workload.types import History


def readable(history: History) -> str:
    """Return a history with its events and probes, as a person reads it."""
    lines = [f"{history.key}  {history.title}".rstrip(), ""]
    lines.append(f"Events ({len(history.events)})")
    for event in history.events:
        who = f"{event.actor}: " if event.actor else ""
        text = event.text.replace("\n", "\n        ")
        lines.append(f"  {event.key}  {event.at:17} {who}{text}")
    lines += ["", f"Probes ({len(history.probes)})"]
    for probe in history.probes:
        marks = [probe.kind, probe.memory_class, probe.scoring.method]
        marks += ["screening"] if probe.screening else []
        lines.append(f"  {probe.key}  {probe.question}")
        lines.append(f"      answer    {probe.answer}")
        lines.append(f"      evidence  {', '.join(probe.evidence) or 'none named'}")
        lines.append(f"      {', '.join(marks)}")
    return "\n".join(lines)


def counts_text(counts: Counts) -> str:
    """Return what a bundle holds, and what deserves a second look."""
    sizes = (counts.histories, "history"), (counts.events, "event"), (counts.probes, "probe")
    lines = [", ".join(count_of(number, noun) for number, noun in sizes)]
    if counts.answers_not_in_evidence:
        lines.append(
            f"{counts.answers_not_in_evidence} of the free-text answers stand in none of their "
            "evidence events: paraphrases, scored by token F1"
        )
    if counts.probes_without_evidence:
        lines.append(f"{count_of(counts.probes_without_evidence, 'probe')} without evidence")
    for name, count in sorted(counts.unknown_fields.items()):
        lines.append(f"left out: field {name!r}, {count} times")
    return "\n".join(lines)


def conversion_report(made: Conversion, *, categories: dict[int, str]) -> dict[str, Any]:
    """Return the account of a conversion."""
    reasons = Counter(left.reason for left in made.left)
    first: dict[str, str] = {}
    for left in made.left:
        first.setdefault(left.reason, left.where)
    return {
        "history": made.history.key,
        "events": len(made.history.events),
        "categories": {str(number): kind for number, kind in sorted(categories.items())},
        "taken": dict(sorted(made.taken.items())),
        "left": [
            {"reason": reason, "count": count, "first": first[reason]}
            for reason, count in sorted(reasons.items())
        ],
        "notices": dict(sorted(made.notices.items())),
    }


def conversion_text(report: dict[str, Any]) -> str:
    """Return that account in lines."""
    mapping = ", ".join(f"{number} = {kind}" for number, kind in report["categories"].items())
    lines = [
        f"{report['history']}: {count_of(report['events'], 'event')}",
        f"categories read as: {mapping}",
    ]
    taken = ", ".join(f"{kind} {count}" for kind, count in report["taken"].items())
    lines.append(f"questions taken: {sum(report['taken'].values())} ({taken})")
    lines.extend(
        f"left: {row['count']} - {row['reason']} (first: {row['first']})" for row in report["left"]
    )
    lines.extend(f"note: {count} {what}" for what, count in report["notices"].items())
    return "\n".join(lines)
