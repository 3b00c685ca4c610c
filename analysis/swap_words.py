"""What the swap page calls things, and where its numbers lead."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.labels import FORMAT_NAMES
from analysis.page_parts import Asked, direction_words
from analysis.page_tables import Column
from analysis.planning import UNPLANNED

Entry = Mapping[str, Any]
ACCURACIES = (Column("own", "Own store", True), Column("inherited", "Inherited store", True))


def written_only(pairs: Any) -> list[tuple[Entry, Entry]]:
    """The directions and formats that a writer swap can affect."""
    return [(d, e) for d, e in pairs if e["written"]]


def name_of(entry: Entry) -> str:
    """A format for people, with its embedder where it has one."""
    name = FORMAT_NAMES.get(entry["format"], str(entry["format"]))
    return f"{name} · {entry['embedder']}" if entry.get("embedder") else name


def in_words(entry: Entry) -> str:
    """A format inside a sentence: its first letter small."""
    name = name_of(entry)
    return name[:1].lower() + name[1:]


def links(asked: Asked, direction: Entry, entry: Entry) -> tuple[str, str]:
    """Where the own and the inherited accuracy of a format lead."""
    fields = {"format": entry["format"], "reader": direction["new"], "index": "none"}
    fields |= {"embedder": entry["embedder"]} if entry.get("embedder") else {}
    own = fields | ({"writer": direction["new"]} if entry["written"] else {})
    return asked.answers(**own), asked.answers(**fields, writer=direction["old"])


def finding_of(direction: Entry, entry: Entry) -> str:
    """What was found in one direction and format; marked where the plan did not name it."""
    says = entry["verdict"]["heading"].lower()
    marked = "" if entry["planned"] else f" ({UNPLANNED})"
    return f"{direction_words(direction)}, {in_words(entry)}{marked}: {says}"


def none_planned(pairs: Iterable[tuple[Entry, Entry]]) -> bool:
    """Whether the plan named none of these directions and formats."""
    return not any(entry["planned"] for _, entry in pairs)
