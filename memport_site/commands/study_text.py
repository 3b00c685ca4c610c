"""Checks, lists and details of studies as text for the terminal."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from experiments.models import Study
from experiments.surroundings import Check
from stores.counting import count_of


def print_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one line per study."""
    table = Table("study", "title", "state", "evaluations", "launched")
    for row in rows:
        done = f"{row['evaluations']['complete']} of {row['evaluations']['all']}"
        table.add_row(row["key"], row["title"], row["state"], done, _minute(row["launched_at"]))
    Console().print(table)


def print_checks(checks: Sequence[Check], *, as_json: bool) -> None:
    """Print every preflight check, passed or not."""
    if as_json:
        click.echo(json.dumps([asdict(one) for one in checks], indent=2))
        return
    for one in checks:
        click.echo(check_line(one))


def check_line(check: Check) -> str:
    """Say in one line what was looked at, what was expected, and what was found."""
    subject = f"{check.name} ({check.subject})" if check.subject else check.name
    if check.ok:
        return f"ok  {subject}: {check.found}; expected {check.expected}"
    hint = f" ({check.hint})" if check.hint else ""
    return f"NO  {subject}: expected {check.expected}, found {check.found}{hint}"


def print_details(study: Study, details: Mapping[str, Any]) -> None:
    """Print a study's plan, runs, checks and what was left out."""
    console = Console(highlight=False, markup=False)
    console.print(f"{study.title}\n{details['state']}; plan {study.plan_sha256}, locked at"
                  f" {details['launched_at']}\n")  # fmt: skip
    for one in details["runs"]:
        done = f"{one['jobs_done']} of {count_of(one['jobs_total'], 'job')} done"
        answers = count_of(one["answers"], "answer")
        console.print(f"{one['test']} {one['number']}: {one['state']}, {done}, {answers}")
        for left in one["left_out"]:
            console.print(f"  left out: {left['format']} of {left['history']}: {left['reason']}")
        for error in one["errors"]:
            console.print(f"  error: {error}")
        print_checks([Check(**found) for found in one["preflight"]], as_json=False)
    console.print(json.dumps(details["plan"], indent=2, ensure_ascii=False))


def _minute(at: str | None) -> str:
    """A point in time to the minute: `2026-11-29 20:14`."""
    return at[:16].replace("T", " ") if at else "not yet"
