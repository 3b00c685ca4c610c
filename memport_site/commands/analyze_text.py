"""An analysis as tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.planning import UNPLANNED, mark
from analysis.repair_view import UNITS, telling_unit
from analysis.words import points
from memport_site.commands.verdicts import print_report
from stores.counting import count_of

Document = Mapping[str, Any]


def print_analysis(document: Document, *, console: Console) -> None:
    """Print the verdicts, then every part that the answers allow."""
    print_report(document, console=console)
    if tests := document.get("planned_tests"):
        _tests(tests, console)
    if losses := document.get("loss_decomposition"):
        _losses(losses, console, mark(document, "loss_decomposition"))
    if rewrites := document.get("style_rewrite"):
        _rewrites(rewrites, console, mark(document, "style_rewrite"))
    if repair := document.get("repair"):
        unit = telling_unit(repair)
        _repairs(repair[unit], console, mark(document, "repair"), unit)
    if screening := document.get("screening"):
        _screening(screening, console, mark(document, "screening"))
    if one_history := document.get("this_store_only"):
        _one_history(one_history, console)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    return table


def _tests(part: Document, console: Console) -> None:
    if not part["contrasts"]:
        return
    word = "Planned tests" if part["planned"] else "Tests (unplanned)"
    table = _table(word, "contrast", "estimate", "margin", "Holm p", "bootstrap bound", "decision")
    for row in part["contrasts"]:
        table.add_row(
            row["key"],
            _pp(row["estimate"]),
            f"{row['margin_pp']:g} pp",
            _p(row["p_holm"]),
            _pp(row["bootstrap"]["lower_bound"]),
            row["decision"],
        )
    console.print(table)
    for row in part["contrasts"]:
        gone = ", ".join(
            f"{one['history']} ({one['reason']})" for one in row["estimate"]["excluded"]
        )
        if gone:
            console.print(f"{row['key']}: left out {gone}.", markup=False)


def _losses(parts: Sequence[Document], console: Console, marked: str) -> None:
    columns = ("format", "total", "construction", "retrieval", "reading")
    table = _table(f"Where memory is lost{marked}", *columns)
    for part in parts:
        if part["left_out_because"]:
            continue
        cells = [
            f"{_plain(part['components'][name])} ({_percent(part['shares'][name])})"
            for name in ("construction", "retrieval", "reader")
        ]
        table.add_row(part["format"], _plain(part["total"]), *cells)
    console.print(table)
    for part in parts:
        if part["left_out_because"]:
            console.print(
                f"{part['format']} is left out: {part['left_out_because']}.", markup=False
            )


def _rewrites(rows: Sequence[Document], console: Console, marked: str) -> None:
    columns = ("rewriter and notes", "accuracy change", "notes reached", "drop an identifier")
    table = _table(f"Old notes in the new model's words{marked}", *columns)
    for row in rows:
        shares = (_known_share(row.get(name)) for name in ("reached", "drops_identifier"))
        whose = f"{row['rewriter']} rewrites {row['writer']}"
        table.add_row(whose, _plain(row["accuracy_change"]), *shares)
    console.print(table)


def _known_share(figure: Document | None) -> str:
    return "—" if figure is None else _percent(figure)


def _repairs(rows: Sequence[Document], console: Console, marked: str, unit: str) -> None:
    targets = sorted({row["target"] for row in rows})
    title = f"Repairs that reach a share of the fresh store{marked}"
    table = _table(title, "direction", "format", "method",
                   *(f"{target:.0%}" for target in targets))  # fmt: skip
    keys = dict.fromkeys((r["old"], r["new"], r["format"], r["method"]) for r in rows)
    for old, new, name, method in sorted(keys):
        if method == "any":
            continue
        cells = [
            _recovered(row, unit)
            for target in targets
            for row in rows
            if (row["old"], row["new"], row["format"], row["method"]) == (old, new, name, method)
            and row["target"] == target
        ]
        table.add_row(f"{old} → {new}", name, method, *cells)
    console.print(table)
    cell = "Each cell: histories that succeed, and the median cost of those alone in"
    console.print(f"{cell} {UNITS[unit][0]}.")


def _recovered(row: Document, unit: str) -> str:
    count = f"{row['n_success']}/{row['n_histories']}"
    cost = row["median_cost"]
    if cost["status"] == "unreachable":
        return f"{count} ∞"
    return count if cost["value"] is None else f"{count} {UNITS[unit][1](cost['value'])}"


def _screening(part: Document, console: Console, marked: str) -> None:
    table = _table(
        f"Screening{marked}: ranks and stops, never approves",
        "left out",
        "MAE",
        "RMSE",
        "bias",
        "slope",
    )
    for row in part["schemes"]:
        figures = [row["mae"], row["rmse"], row["bias"], row["mean_slope"]]
        table.add_row(f"one {row['scheme']}", *(_plain(figure) for figure in figures))
    console.print(table)


def _one_history(part: Document, console: Console) -> None:
    table = _table(
        f"{part['label']} ({UNPLANNED})", "direction", "format", "difference", "McNemar p"
    )
    for row in part["comparisons"]:
        figures = (
            [_pp(row["difference_pp"]), _p(row["mcnemar_p"])]
            if row["status"] == "ok"
            else [row["reason"], ""]
        )
        table.add_row(f"{row['old']} → {row['new']}", row["format"], *figures)
    console.print(table)


def print_comparison(document: Document, *, console: Console) -> None:
    """Print two reports side by side."""
    first, second = document["reports"]
    for report in (first, second):
        labels = "; ".join(report["labels"])
        console.print(
            f"{report['title']}: {count_of(report['histories'], 'history')}. {labels}", markup=False
        )
    table = _table("Swap delta", "direction", "format", first["title"], second["title"])
    for row in document["rows"]:
        cells = [_side(row["first"]), _side(row["second"])]
        table.add_row(f"{row['old']} → {row['new']}", row["format"], *cells)
    console.print(table)
    _print_other_figures(document, first["title"], second["title"], console=console)
    console.print(document["note"])


def _print_other_figures(document: Document, *titles: str, console: Console) -> None:
    """Print what both reports hold beside the writer swap; the JSON has what only one does."""
    shared = [row for row in document["figures"] if row["first"] and row["second"]]
    if not shared:
        return
    table = _table("Every other part", "part", "of", "figure", *titles)
    for row in shared:
        values = [_three_digits(row[side]) for side in ("first", "second")]
        words = row["part"].replace("_", " "), row["of"], row["figure"].replace("_", " ")
        table.add_row(*words, *values)
    console.print(table)


def _three_digits(figure: Document) -> str:
    return str(figure["status"]) if figure["value"] is None else f"{figure['value']:.3g}"


def _side(figures: Document | None) -> str:
    if figures is None:
        return "not there"
    heading = str(figures["verdict"]["heading"])
    if figures["verdict"]["outcome"] == "not_affected":
        return heading
    word = "" if figures["planned"] else f" ({UNPLANNED})"
    return f"{_pp(figures['swap_delta_pp'])}, {heading.lower()}{word}"


def _pp(figure: Document) -> str:
    return "undefined" if figure["value"] is None else f"{points(figure['value'])} pp"


def _plain(figure: Document) -> str:
    return "—" if figure["value"] is None else f"{figure['value']:.4f}"


def _percent(figure: Document) -> str:
    return "—" if figure["value"] is None else f"{figure['value']:.0%}"


def _p(figure: Document) -> str:
    return "undefined" if figure["value"] is None else f"{figure['value']:.2g}"
