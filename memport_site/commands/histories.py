"""`memport histories`: generate, validate, show, import, export, convert and list histories."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from memport_site.accounts.services import default_workspace
from memport_site.commands.history_convert import convert
from memport_site.commands.history_files import read_folder, write_folder
from memport_site.commands.history_text import counts_text, readable
from memport_site.database import needs_database, prepare_database
from stores import selectors, services
from stores.counting import count_of
from stores.errors import InvalidInputError
from stores.models import History
from stores.workload import types
from stores.workload.generator import generate as generate_histories
from stores.workload.jsonl import history_record, probe_record
from stores.workload.names import CODE_PATTERN
from stores.workload.parameters import PRESETS, SplitName
from stores.workload.record import nearest

SPLITS: tuple[SplitName, ...] = ("study", "calibration")
as_json = click.option("--json", "as_json", is_flag=True, help="Report as JSON.")


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that decide how files are read."""
    function = click.option(
        "--code-pattern",
        default=CODE_PATTERN,
        show_default=True,
        help="What a code looks like, for probes scored by code.",
    )(function)
    return click.option(
        "--ignore-unknown", is_flag=True, help="Leave unknown fields out, and count them."
    )(function)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Histories: what agents experienced, and the probes that ask for it.

    \b
    Examples:
      memport histories generate tiny --seed 7
      memport histories show tiny-s7-01
      memport histories import my-folder --collection support-agent
    """


command.add_command(convert)


@command.command()
@click.argument("preset", type=click.Choice(list(PRESETS)))
@click.option("--seed", type=click.IntRange(min=0), default=7, show_default=True)
@click.option("--split", type=click.Choice([*SPLITS, "both"]), default="study", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="Write files here; keep nothing.")
@as_json
def generate(preset: str, seed: int, split: str, out: Path | None, as_json: bool) -> None:
    """Generate synthetic histories: the same seed gives the same bytes on every machine.

    \b
    Examples:
      memport histories generate tiny --seed 7
      memport histories generate paper --seed 1 --split both --out paper-histories
    """
    made = {
        name: generate_histories(preset, seed=seed, split=name)
        for name in SPLITS
        if split in (name, "both")
    }
    everything = [history for histories in made.values() for history in histories]
    report: dict[str, Any] = {"histories": [h.key for h in everything]}
    if out is not None:
        report["files"] = [str(path) for path in write_folder(out, everything, csv=True)]
        text = f"Wrote {count_of(len(everything), 'history')}: {', '.join(report['files'])}"
    else:
        prepare_database()
        done = services.keep_generated(
            generated=made, preset=preset, seed=seed, workspace=default_workspace()
        )
        report |= asdict(done)
        text = _import_text(done, f"{preset}-s{seed}")
    click.echo(json.dumps(report, indent=2) if as_json else text)


@command.command()
@click.argument("folder", type=click.Path(path_type=Path))
@reading_options
@as_json
def validate(folder: Path, code_pattern: str, ignore_unknown: bool, as_json: bool) -> None:
    """Check histories.jsonl and probes.jsonl (or probes.csv) in FOLDER; change nothing.

    Exit code 0: they can be imported. 2: they cannot; every problem is listed.

    \b
    Example:
      memport histories validate my-folder
    """
    bundle = read_folder(folder, code_pattern=code_pattern, ignore_unknown=ignore_unknown)
    problems = [problem.sentence() for problem in bundle.problems]
    if as_json:
        report = {"valid": not problems, "problems": problems, "counts": asdict(bundle.counts)}
        click.echo(json.dumps(report, indent=2))
    else:
        for problem in problems:
            click.echo(problem)
        click.echo(count_of(len(problems), "problem") if problems else "No problems.")
        click.echo(counts_text(bundle.counts))
    if problems:
        raise click.exceptions.Exit(2)


@command.command("import")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--collection", default="", help="A name for these histories; by default FOLDER's.")
@click.option("--split", type=click.Choice(SPLITS), default="study", show_default=True)
@reading_options
@as_json
@needs_database
def import_(
    folder: Path,
    collection: str,
    split: str,
    code_pattern: str,
    ignore_unknown: bool,
    as_json: bool,
) -> None:
    """Import histories.jsonl and probes.jsonl (or probes.csv) from FOLDER: all, or nothing.

    \b
    Examples:
      memport histories import my-folder
      memport histories import my-folder --collection support-agent --split calibration
    """
    bundle = read_folder(folder, code_pattern=code_pattern, ignore_unknown=ignore_unknown)
    bundle.require_valid()
    collection = collection or folder.resolve().name[:80]
    done = services.import_histories(
        histories=bundle.histories,
        workspace=default_workspace(),
        collection=collection,
        split=split,
        source_detail=bundle.source_detail(),
    )
    if as_json:
        report = {"collection": collection, **asdict(done), "counts": asdict(bundle.counts)}
        click.echo(json.dumps(report, indent=2))
        return
    click.echo(_import_text(done, collection))
    click.echo(counts_text(bundle.counts))


@command.command()
@click.argument("key")
@as_json
@needs_database
def show(key: str, as_json: bool) -> None:
    """Show one history: its events in time order, its probes and their evidence.

    \b
    Example:
      memport histories show tiny-s7-01
    """
    value = selectors.history_value(_kept([key])[0], with_quarantined=True)
    if as_json:
        record = history_record(value) | {"probes": [probe_record(p) for p in value.probes]}
        click.echo(json.dumps(record, indent=2, ensure_ascii=False))
    else:
        click.echo(readable(value))


@command.command()
@click.argument("keys", nargs=-1)
@click.option("--collection", help="Export a whole collection.")
@click.option("--split", type=click.Choice(SPLITS), help="Only this split of it.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@as_json
@needs_database
def export(
    keys: tuple[str, ...], collection: str | None, split: str | None, out: Path, as_json: bool
) -> None:
    """Write histories as histories.jsonl, probes.jsonl and probes.csv.

    \b
    Examples:
      memport histories export tiny-s7-01 tiny-s7-02 --out two-histories
      memport histories export --collection tiny-s7 --split study --out tiny
    """
    if bool(keys) == (collection is not None):
        raise InvalidInputError("nothing is named", expected="history keys, or --collection")
    if collection is None:
        rows = _kept(list(keys))
    else:
        found = selectors.histories(
            workspace=default_workspace(), collection=collection, split=split
        )
        rows = list(found)
        if not rows:
            raise InvalidInputError(
                f"collection {collection!r} has no histories", hint="See `memport histories list`"
            )
    values: list[types.History] = [selectors.history_value(row) for row in rows]
    paths = [str(path) for path in write_folder(out, values, csv=True)]
    if as_json:
        click.echo(json.dumps({"histories": [v.key for v in values], "files": paths}, indent=2))
    else:
        click.echo(f"Wrote {count_of(len(values), 'history')}: {', '.join(paths)}")


@command.command("list")
@as_json
@needs_database
def list_(as_json: bool) -> None:
    """List the kept histories.

    \b
    Example:
      memport histories list --json
    """
    rows = selectors.history_rows(workspace=default_workspace())
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    if not rows:
        click.echo("No histories yet. Make some: memport histories generate tiny")
    for row in rows:
        click.echo(
            f"{row['key']:24} {row['collection']:16} {row['split']:12} "
            f"{row['events']:6} events {row['probes']:5} probes"
        )


def _kept(keys: list[str]) -> list[History]:
    workspace = default_workspace()
    rows, missing = selectors.histories_by_key(workspace=workspace, keys=keys)
    if missing:
        known = list(selectors.histories(workspace=workspace).values_list("key", flat=True))
        raise InvalidInputError(
            f"there is no history {missing[0]!r}",
            hint=nearest(missing[0], known) or "See `memport histories list`",
        )
    return rows


def _import_text(done: services.ImportReport, collection: str) -> str:
    text = f"Kept {count_of(len(done.created), 'history')} in collection {collection!r}"
    text += f" ({count_of(done.events, 'event')}, {count_of(done.probes, 'probe')})"
    if done.unchanged:
        text += f"; {len(done.unchanged)} were there already, with the same content"
    return f"{text}."
