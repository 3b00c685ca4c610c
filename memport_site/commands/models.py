"""`memport models`: list, fetch and check the models of the catalogue."""

import json
import sys
from typing import Any

import click
from django.conf import settings
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table

from experiments.engines.catalogue import Catalogue, explain
from experiments.engines.fetch import FetchProgress, fetch

ANSWER_IS_NO = 100
NO_WRAP_COLUMNS = 200


@click.group()
def command() -> None:
    """List, fetch and check the models of the catalogue.

    Example: memport models fetch smollm2-135m-instruct-q4_1
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_models(as_json: bool) -> None:
    """List the models, their size and licence, and whether they are here.

    Example: memport models list --json
    """
    rows = [_row(_catalogue(), key) for key in _catalogue().keys()]  # noqa: SIM118
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table("model", "kind", "size", "here", "licence", "what it is")
    for row in rows:
        size = f"{row['size_bytes'] / 1e6:,.0f} MB"
        here = "yes" if row["present"] else "no"
        table.add_row(row["key"], row["kind"], size, here, row["licence"], row["title"])
    _console().print(table)


@command.command("fetch")
@click.argument("keys", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Fetch every model of the catalogue.")
def fetch_models(keys: tuple[str, ...], everything: bool) -> None:
    """Fetch models; what is here already is checked and not fetched again.

    Example: memport models fetch qwen2.5-coder-0.5b-instruct-q4 all-minilm-l6-v2
    """
    catalogue = _catalogue()
    if not keys and not everything:
        raise click.UsageError("name the models to fetch, or give --all")
    wanted = list(keys) or catalogue.keys()
    for key in wanted:
        catalogue.entry(key)
    fetched = fetch_with_progress(catalogue, wanted)
    for key in wanted:
        click.echo(f"{key}: {'fetched' if key in fetched else 'already here'}")


@command.command("check")
@click.argument("keys", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check_models(keys: tuple[str, ...], as_json: bool) -> None:
    """Hash every file; exit with 100 when one is missing or not what it should be.

    Example: memport models check smollm2-135m-instruct-q4_1
    """
    catalogue = _catalogue()
    checks = [check for key in keys or catalogue.keys() for check in catalogue.check(key)]
    if as_json:
        rows = [{name: getattr(c, name) for name in c.__slots__} for c in checks]
        click.echo(json.dumps(rows, indent=2))
    else:
        for check in checks:
            path = catalogue.file_path(check.entry, check.file)
            ok = check.state == "ok"
            click.echo(
                f"{check.entry}: {check.file} ok" if ok else explain(check, path), err=not ok
            )
    if any(check.state != "ok" for check in checks):
        sys.exit(ANSWER_IS_NO)


def fetch_with_progress(catalogue: Catalogue, keys: list[str]) -> list[str]:
    """Fetch models with a bar that names the model, the bytes and the time left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("models", total=None)

        def report(now: FetchProgress) -> None:
            bar.update(task, description=now.entry, completed=now.done_bytes, total=now.total_bytes)

        def waiting() -> None:
            bar.console.print("another process is fetching models; waiting for it")

        fetched = fetch(catalogue, keys, report=report, waiting=waiting)
        bar.update(task, total=max(1, bar.tasks[0].total or 1), completed=bar.tasks[0].total or 1)
    return fetched


def _catalogue() -> Catalogue:
    return Catalogue(settings.CATALOGUE, settings.MODELS_DIR)


def _row(catalogue: Catalogue, key: str) -> dict[str, Any]:
    entry = catalogue.entry(key)
    return {
        "key": key,
        "title": entry.title,
        "kind": entry.kind,
        "form": entry.form,
        "revision": entry.revision,
        "licence": entry.licence,
        "size_bytes": entry.size_bytes,
        "present": catalogue.is_present(key),
        "fingerprint": catalogue.fingerprint(key),
        "folder": str(catalogue.folder(key)),
    }


def _console() -> Console:
    """Print tables at full width where the output is no terminal."""
    return Console() if sys.stdout.isatty() else Console(width=NO_WRAP_COLUMNS)
