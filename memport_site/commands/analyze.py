"""`memport analyze`: every number of the method from nothing but an answers table."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from memport_site.commands.analyze_text import print_analysis, print_comparison

FILE = click.Path(path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table", type=FILE, required=False)
@click.option(
    "--plan",
    type=FILE,
    help="The study plan or its lock's folder; without it everything is unplanned.",
)
@click.option("--json", "json_to", type=FILE, help="Write the full report as JSON (- : print it).")
@click.option("--html", "html_to", type=FILE, help="Write one self-contained page.")
@click.option("--simulated", is_flag=True, help="Label the answers as simulated.")
@click.option("--compare", type=FILE, nargs=2, help="Put two tables side by side instead.")
def command(
    table: Path | None,
    plan: Path | None,
    json_to: Path | None,
    html_to: Path | None,
    simulated: bool,
    compare: tuple[Path, Path] | None,
) -> None:
    """Analyze the answers in TABLE (.csv, .csv.gz or .parquet): no model and no database needed.

    docs/report.md describes the JSON, docs/answers.md the table.

    \b
    Examples:
      memport analyze answers.csv.gz --json report.json --html report.html
      memport analyze answers.parquet --plan my-study-lock
      memport analyze --compare before.csv after.csv --html both.html
    """
    if (table is None) == (compare is None):
        raise click.UsageError("Give one TABLE, or two with --compare.")
    if compare is not None:
        _compare(compare, plan=plan, json_to=json_to, html_to=html_to, simulated=simulated)
        return
    from analysis.table_report import table_report

    assert table is not None
    document = table_report(table, plan=plan, simulated=simulated)
    if json_to is not None:
        _write_json(document, json_to)
    if html_to is not None:
        from analysis.html_report import html_report

        _write_html(html_report(document), html_to)
    if json_to is None or str(json_to) != "-":
        print_analysis(document, console=Console())


def _compare(
    tables: tuple[Path, Path],
    *,
    plan: Path | None,
    json_to: Path | None,
    html_to: Path | None,
    simulated: bool,
) -> None:
    from analysis.compare import compare_reports
    from analysis.table_report import table_report

    first, second = (table_report(path, plan=plan, simulated=simulated) for path in tables)
    if first["study"]["title"] == second["study"]["title"]:  # files of one name in two folders
        for report, path in zip((first, second), tables, strict=True):
            report["study"]["title"] = str(path)
    document = compare_reports(first, second)
    if json_to is not None:
        _write_json(document, json_to)
    if html_to is not None:
        from analysis.html_comparison import html_comparison

        _write_html(html_comparison(document), html_to)
    if json_to is None or str(json_to) != "-":
        print_comparison(document, console=Console())


def _write_html(page: str, path: Path) -> None:
    path.write_text(page, encoding="utf-8")
    click.echo(f"The page is {path}.", err=True)


def _write_json(document: dict[str, Any], path: Path) -> None:
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    if str(path) == "-":
        click.echo(text)
        return
    path.write_text(text + "\n", encoding="utf-8")
    click.echo(f"The report is {path}.", err=True)
