"""`memport histories convert`: other projects' files to memport JSONL."""

import json
from collections.abc import Iterable
from pathlib import Path

import click

from memport_site.commands.history_files import limits, write_folder
from memport_site.commands.history_text import conversion_report, conversion_text
from stores.errors import InvalidInputError
from stores.workload.bundle import read_bundle
from stores.workload.jsonl import HISTORIES_FILE, PROBES_FILE, write_histories, write_probes
from stores.workload.locomo import CATEGORIES, convert_locomo
from stores.workload.source_file import SourceFile, read_source


@click.group()
def convert() -> None:
    """Convert another project's file to memport JSONL, which `import` takes.

    \b
    Example:
      memport histories convert locomo locomo10.json --conversation conv-26 --out conv-26
    """


@convert.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--conversation", required=True, help="Its sample_id, such as conv-26.")
@click.option("--questions", type=click.IntRange(min=1), help="At most so many, kind by kind.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder to write.")
@click.option(
    "--category",
    "given",
    multiple=True,
    metavar="NUMBER=KIND",
    help="Read a category number as this kind (the file has no legend); may be repeated.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(min=0, max=1, min_open=True),
    help="Token F1 from which an answer is right; by default the study plan's.",
)
@click.option("--json", "as_json", is_flag=True, help="Report as JSON.")
def locomo(
    file: Path,
    conversation: str,
    questions: int | None,
    out: Path,
    given: tuple[str, ...],
    threshold: float | None,
    as_json: bool,
) -> None:
    """Convert one conversation of LoCoMo's locomo10.json, and say what was left and why.

    \b
    Examples:
      memport histories convert locomo locomo10.json --conversation conv-26 --questions 20 --out c26
      memport histories import c26
    """
    categories = dict(CATEGORIES) | dict(_categories(given))
    made = convert_locomo(
        read_source(file, limits=limits()),
        conversation=conversation,
        questions=questions,
        categories=categories,
        threshold=threshold,
        limits=limits(),
    )
    # What is written must import: the same checks, before a byte is on disk.
    read_bundle(
        SourceFile(HISTORIES_FILE, write_histories([made.history])),
        SourceFile(PROBES_FILE, write_probes([made.history])),
        limits=limits(),
    ).require_valid()
    paths = write_folder(out, [made.history])
    report = conversion_report(made, categories=categories)
    if as_json:
        click.echo(json.dumps(report | {"files": [str(p) for p in paths]}, indent=2))
        return
    click.echo(conversion_text(report))
    click.echo(f"Wrote {', '.join(map(str, paths))}")


def _categories(given: Iterable[str]) -> Iterable[tuple[int, str]]:
    for text in given:
        number, _, kind = text.partition("=")
        if not number.isdecimal() or not kind:
            raise InvalidInputError(
                f"found {text!r}", where="--category", expected="a number and a kind, like 4=direct"
            )
        yield int(number), kind
