"""The indexes of an embedding upgrade as a table for the terminal, oracles apart."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.words import points

Document = Mapping[str, Any]
# Beside accuracies, intervals stand in the table where it is at least this wide.
WIDE = 118


def print_indexes(part: Document, console: Console, *, marked: str) -> None:
    """Print every index with its intervals, and whether mixed is measurably below full."""
    title = f"Embedding upgrade ({part['format']}){marked}"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("index", no_wrap=True)
    answers = ("accuracy", "gain over old") if part["asked"] else ()
    spans = console.width >= WIDE or not part["asked"]
    for heading in (*answers, "recall@8", "MRR", "forfeited"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in sorted(part["indexes"], key=lambda row: not row["deployable"]):
        asked = (_share(row["accuracy"], spans), _gain(row["gain_pp"], spans))
        table.add_row(
            row["index"] if row["deployable"] else f"{row['index']} (oracle)",
            *(asked if part["asked"] else ()),
            _share(row["recall_at_8"], spans),
            _share(row["mrr"], spans),
            _forfeited(row, asked=part["asked"]),
        )
    console.print(table)
    gain = "accuracy" if part["asked"] else "recall@8"
    console.print(f"  Forfeited: of the full index’s gain in {gain}.", highlight=False)
    if any(not row["deployable"] for row in part["indexes"]):
        console.print("  Oracle: an upper bound that nobody can deploy.", highlight=False)
    for line in [part["note"], *part["finding"]]:
        if line:
            console.print(f"  {line}.", markup=False, highlight=False)


def print_space_check(check: Document | None, console: Console) -> None:
    """Print what the two spaces look like on the same texts; nothing without an upgrade."""
    if check is None:
        return
    found = check["sentence"] if check["status"] == "ok" else f"undefined: {check['reason']}"
    words = f"Spaces {check['old']} and {check['new']}: {found}."
    console.print(f"  {words}", markup=False, highlight=False)


def _share(figure: Document, with_span: bool) -> str:
    if figure["value"] is None:
        return "undefined"
    known = with_span and figure["low"] is not None
    return f"{figure['value']:.3f}" + (
        f" [{figure['low']:.2f}, {figure['high']:.2f}]" if known else ""
    )


def _gain(figure: Document, with_span: bool) -> str:
    if figure["value"] is None:
        return "—"
    low, high = figure["low"], figure["high"]
    return f"{points(figure['value'])} pp" + (
        "" if low is None or not with_span else f" [{points(low)}, {points(high)}]"
    )


def _forfeited(row: Document, *, asked: bool) -> str:
    """Of the accuracy that is gained; of recall@8 where answers were not asked."""
    name = "share_of_gain_forfeited" if asked else "share_of_recall_gain_forfeited"
    value = row[name]["value"]
    return "—" if value is None else f"{value:.0%}".replace("-", "−")
