"""The table of checks: of a study before it runs, and of the lock of its plan."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from analysis import page_tables as pt
from analysis.page_tables import Column, PageTable, Row, Value
from experiments.surroundings import Check

COLUMNS = (
    Column("check", "Check"), Column("of", "Of"), Column("expected", "Expected"),
    Column("found", "Found"), Column("result", "Result"),
)  # fmt: skip


def checks(
    key: str, title: str, made: Iterable[Check | Mapping[str, Any]], *, subject: str
) -> PageTable:
    """Return one row per check; `subject`: what a check is about that names nothing else."""
    rows = tuple(_row(one if isinstance(one, Mapping) else asdict(one), subject) for one in made)
    return PageTable(key, title, COLUMNS, rows)


def _row(check: Mapping[str, Any], subject: str) -> Row:
    hint = str(check.get("hint") or "")
    result = ("passed", "✓ passed", "good") if check["ok"] else ("failed", "✗ failed", "bad")
    found = str(check["found"])
    return {
        "check": pt.text(str(check["name"])),
        "of": pt.text(str(check.get("subject") or subject)),
        "expected": pt.text(str(check["expected"])),
        "found": Value(found, found, hint[:1].upper() + hint[1:], more={"hint": hint or None}),
        "result": pt.label(*result),
    }
