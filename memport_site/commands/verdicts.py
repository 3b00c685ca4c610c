"""A study's report as tables for the terminal: one per direction."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.words import points


def print_report(report: Mapping[str, Any], *, console: Console) -> None:
    """Print labels, the verdicts of each direction, gates and costs in short."""
    study = report["study"]
    console.print(f"[bold]{study['title']}[/bold]", highlight=False)
    for label in [*study["labels"], *report.get("notices", ())]:
        console.print(f"Note: {label}.", highlight=False, markup=False)
    for direction in report["directions"]:
        console.print(_direction_table(direction))
        for entry in direction["formats"]:
            _print_sentences(entry, console)
    _print_gates(report, console)


def _direction_table(direction: Mapping[str, Any]) -> Table:
    title = f"{direction['old']} → {direction['new']}"
    table = Table(title=title, title_justify="left", title_style="bold")
    for heading in ("format", "verdict"):
        table.add_column(heading)
    for heading in ("own store", "inherited", "swap delta (pp)", "retained", "service change (pp)"):
        table.add_column(heading, justify="right")
    for entry in direction["formats"]:
        table.add_row(
            _name(entry),
            entry["verdict"]["heading"],
            _accuracy(entry["own"]),
            _accuracy(entry["inherited"]),
            _interval(entry["swap_delta_pp"]) if entry["written"] else "no writer",
            _retained(entry["retained_performance"]) if entry["written"] else "no writer",
            _interval(entry["service_change_pp"]),
        )
    return table


def _name(entry: Mapping[str, Any]) -> str:
    embedder = entry["embedder"]
    return f"{entry['format']} ({embedder})" if embedder else str(entry["format"])


def _print_sentences(entry: Mapping[str, Any], console: Console) -> None:
    verdict = entry["verdict"]
    console.print(
        f"  {entry['format']}: {verdict['sentence']} {verdict['service_sentence']}",
        markup=False,
        highlight=False,
    )


def _accuracy(figure: Mapping[str, Any]) -> str:
    value = figure["value"]
    return "undefined" if value is None else f"{100 * value:.1f} %"


def _interval(figure: Mapping[str, Any]) -> str:
    """An estimate in percentage points with its interval, where it has one."""
    if figure["value"] is None:
        return "undefined"
    low, high = figure.get("low"), figure.get("high")
    span = "" if low is None or high is None else f" [{points(low)}, {points(high)}]"
    return points(figure["value"]) + span


def _retained(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return str(figure["status"])
    return f"{figure['value']:.2f}"


def _print_gates(report: Mapping[str, Any], console: Console) -> None:
    gates = report.get("gates")
    if gates is None:
        return
    states = ", ".join(f"{name} {state}" for name, state in gates["by_gate"].items())
    noise = report["noise_floor_pp"]
    floor = "not measured" if noise["value"] is None else f"{noise['value']:.1f} pp"
    console.print(f"Gates: {states}. Noise floor: {floor}.", markup=False, highlight=False)
