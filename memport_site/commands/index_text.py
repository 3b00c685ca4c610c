"""The indexes of an embedding upgrade as a table for the terminal, oracles apart."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.words import points

Document = Mapping[str, Any]


def print_indexes(part: Document, console: Console, *, marked: str) -> None:
    """Print every index with its intervals, and whether mixed is measurably below full."""
    title = f"Embedding upgrade ({part['format']}){marked}"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("index", no_wrap=True)
    for heading in ("accuracy", "gain over old", "recall@8", "MRR", "gain forfeited"):
        table.add_column(heading, justify="right")
    for row in sorted(part["indexes"], key=lambda row: not row["deployable"]):
        table.add_row(
            row["index"] if row["deployable"] else f"{row['index']} (oracle, not deployable)",
            _share(row["accuracy"]) if part["asked"] else "not asked",
            _gain(row["gain_pp"]) if part["asked"] else "not asked",
            _share(row["recall_at_8"]),
            _share(row["mrr"]),
            _forfeited(row, asked=part["asked"]),
        )
    console.print(table)
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


def _share(figure: Document) -> str:
    if figure["value"] is None:
        return "undefined"
    span = "" if figure["low"] is None else f" [{figure['low']:.2f}, {figure['high']:.2f}]"
    return f"{figure['value']:.3f}{span}"


def _gain(figure: Document) -> str:
    if figure["value"] is None:
        return "—"
    low, high = figure["low"], figure["high"]
    return f"{points(figure['value'])} pp" + (
        "" if low is None else f" [{points(low)}, {points(high)}]"
    )


def _forfeited(row: Document, *, asked: bool) -> str:
    """Of the accuracy gained; of recall@8, and said so, where answers were not asked."""
    name = "share_of_gain_forfeited" if asked else "share_of_recall_gain_forfeited"
    value = row[name]["value"]
    words = "—" if value is None else f"{value:.0%}".replace("-", "−")
    return words if asked or value is None else f"{words} of recall"
