"""A study's report as tables for the terminal: one per direction."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from analysis.planning import direction_mark, mark
from analysis.swap_tables import left_out
from analysis.words import points
from memport_site.commands.index_text import print_indexes, print_space_check

# Intervals stand in the table where it is at least this wide; they are in the sentences anyway.
WIDE = 118


def print_report(report: Mapping[str, Any], *, console: Console) -> None:
    """Print labels, the verdicts of each direction, gates and noise floor."""
    study = report["study"]
    console.print(study["title"], style="bold", markup=False, highlight=False)
    for label in [*study["labels"], *report.get("notices", ())]:
        console.print(f"Note: {label}", markup=False, highlight=False)
    for direction in report["directions"]:
        console.print()
        console.print(_direction_table(direction, wide=console.width >= WIDE))
        for entry in direction["formats"]:
            sentences = f"{entry['verdict']['sentence']} {entry['verdict']['service_sentence']}"
            line = Text(f"{_name(entry, direction)}: {sentences}")
            console.print(Padding(line, (0, 0, 0, 2)), highlight=False)
            if gone := left_out(entry):
                words = Text(f"left out: {gone}")
                console.print(Padding(words, (0, 0, 0, 4)), highlight=False)
    for part in report.get("embedding_upgrade") or ():
        console.print()
        print_indexes(part, console, marked=mark(report, "embedding_upgrade"))
    print_space_check(report.get("space_check"), console)
    _print_gates(report, console)


def _direction_table(direction: Mapping[str, Any], *, wide: bool) -> Table:
    title = f"{direction['old']} → {direction['new']}{direction_mark(direction)}"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("format", no_wrap=True)
    table.add_column("verdict")
    for heading in ("own", "inherited", "swap delta", "retained", "service"):
        table.add_column(heading, justify="right")
    for entry in direction["formats"]:
        written = entry["written"]
        table.add_row(
            _name(entry, direction),
            entry["verdict"]["heading"],
            _accuracy(entry["own"]),
            _accuracy(entry["inherited"]) if written else "—",
            _points(entry["swap_delta_pp"], wide=wide) if written else "—",
            _retained(entry["retained_performance"]) if written else "—",
            _points(entry["service_change_pp"], wide=wide),
        )
    return table


def _name(entry: Mapping[str, Any], direction: Mapping[str, Any]) -> str:
    """The format, with its embedder where one format appears with several."""
    of_format = [one for one in direction["formats"] if one["format"] == entry["format"]]
    if len(of_format) > 1 and entry["embedder"]:
        return f"{entry['format']} ({entry['embedder']})"
    return str(entry["format"])


def _accuracy(figure: Mapping[str, Any]) -> str:
    value = figure["value"]
    return "undefined" if value is None else f"{100 * value:.1f} %"


def _points(figure: Mapping[str, Any], *, wide: bool) -> str:
    """An estimate in percentage points, in a wide table with its interval where it has one."""
    if figure["value"] is None:
        return "undefined"
    low, high = figure.get("low"), figure.get("high")
    span = f" [{points(low)}, {points(high)}]" if wide and None not in (low, high) else ""
    return f"{points(figure['value'])} pp{span}"


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
