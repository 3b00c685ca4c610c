"""`memport study forecast`: what a study will take, before a single call is paid for."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from django.conf import settings
from rich.console import Console
from rich.table import Table

from analysis.words import amount, bytes_words, count_words, duration_words
from experiments.plan.plan import load_plan
from experiments.services.forecasting import forecast_study
from memport_site.accounts.services import default_workspace
from memport_site.database import needs_database

EXAMPLES = Path(settings.BASE_DIR) / "experiments" / "studies"


@click.command("forecast")
@click.argument("plan", type=click.Path(path_type=Path), required=False)
@click.option(
    "--preset",
    type=click.Choice(sorted(path.stem for path in EXAMPLES.glob("*.yaml"))),
    help="Forecast one of the plans that come with memport instead.",
)
@click.option(
    "--no-warm-up",
    is_flag=True,
    help="Open no model: tokens are estimated, hours are said to be not measured.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@needs_database
def forecast(plan: Path | None, preset: str | None, no_warm_up: bool, as_json: bool) -> None:
    """Forecast calls, tokens, hours, dollars and disk of a PLAN file, per test and in total.

    Every model that is here is opened, counts the prompts, and is timed on three short calls.
    Nothing is written. After a run, `memport study show KEY --json` holds forecast and actual.

    \b
    Examples:
      memport study forecast my-study.yaml
      memport study forecast --preset paper --json
    """
    if (plan is None) == (preset is None):
        raise click.UsageError("Give a PLAN file, or --preset.")
    path = plan if plan is not None else EXAMPLES / f"{preset}.yaml"
    made = forecast_study(
        plan=load_plan(path), workspace=default_workspace(), warm_up=not no_warm_up
    )
    document = made.as_json()
    if as_json:
        click.echo(json.dumps(document, indent=2))
        return
    print_forecast(document, console=Console(highlight=False))


def print_forecast(document: Mapping[str, Any], *, console: Console) -> None:
    """Print a table for each test, the total, and what the numbers rest on."""
    for test in document["tests"]:
        title = (
            f"{test['test']}: {test['stores']:,} stores, {test['evaluations']:,} evaluations,"
            f" {test['answers']:,} answers"
        )
        table = Table(title=title, title_justify="left", title_style="bold")
        table.add_column("")
        for heading in ("calls", "prompt", "computed", "output", "at most", "time", "cost"):
            table.add_column(heading, justify="right")
        for line in [*test["lines"], {"role": "total", "model": "", **test["total"]}]:
            table.add_row(f"{line['role']} {line['model']}".strip(), *_cells(line))
        console.print(table)
    total = document["total"]
    console.print(
        f"In all: {total['calls']:,} calls, {total['prompt_tokens']:,} prompt tokens"
        f" ({total['computed_tokens']:,} computed where prefixes are reused),"
        f" {total['output_tokens']:,} output tokens (at most {total['output_limit_tokens']:,});"
        f" engine time here: {amount(total['engine_s'], duration_words)};"
        f" GPU-hours: {amount(total['gpu_hours'], '{:,.2f}'.format)};"
        f" cost: {amount(total['cost_usd'], '${:,.2f}'.format)};"
        f" disk: {bytes_words(total['disk_bytes'])}.",
        markup=False,
    )
    for line in document["basis"]:
        console.print(f"  {line}", markup=False)


def _cells(line: Mapping[str, Any]) -> list[str]:
    names = ("calls", "prompt_tokens", "computed_tokens", "output_tokens", "output_limit_tokens")
    counts = ["—" if line[name] is None else count_words(line[name]) for name in names]
    time = line["engine_s"]["value"]
    cost = line["cost_usd"]["value"]
    return [
        *counts,
        "?" if time is None else duration_words(time),
        "?" if cost is None else f"${cost:,.2f}",
    ]
