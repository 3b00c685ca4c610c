"""`memport study`: check, forecast, lock, run, watch, stop, resume, report and export studies."""

import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from experiments.models import Study
from experiments.plan.embedding_upgrade import retrieval_only as retrieval_of
from experiments.plan.plan import load_plan
from experiments.plan.schema import StudyPlan
from experiments.run_progress import progress
from experiments.runtime.standby import ensure_worker
from experiments.services.control import rerun_failed, resume_run, stop_run
from experiments.services.gating import go_on_in_spite_of_gates
from experiments.services.launch import (
    RefusedAtPreflightError,
    check_study,
    find_launched,
    launch_study,
)
from memport_site.accounts.services import default_workspace, ensure_admin
from memport_site.commands.analyze_text import print_analysis
from memport_site.commands.study_calibrate import calibrate
from memport_site.commands.study_forecast import forecast
from memport_site.commands.study_lock import lock, lock_summary, verify
from memport_site.commands.study_text import print_checks, print_details, print_list
from memport_site.commands.watching import ended_well, how_it_ended, watch
from memport_site.database import needs_database
from memport_site.studies import find_study, study_summary
from stores.counting import count_of

FAILED = 1
REFUSED = 2
PLAN = click.argument("plan", type=click.Path(path_type=Path))
RETRIEVAL_ONLY = click.option(
    "--retrieval-only",
    is_flag=True,
    help="Rank the evidence of the embedding upgrade and ask for no answer: no model is needed.",
)
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Check, forecast, lock, run, watch, stop, resume, report and export studies.

    \b
    Example:
      memport study check my-study.yaml
      memport study run my-study.yaml
      memport study report my-study
    """


command.add_command(forecast)
command.add_command(calibrate)
command.add_command(lock)
command.add_command(verify)


@command.command("check")
@PLAN
@RETRIEVAL_ONLY
@AS_JSON
@needs_database
def check(plan: Path, retrieval_only: bool, as_json: bool) -> None:
    """Check a PLAN file against what is here; measure nothing, write nothing.

    Exit code 2 where the study would be refused.

    \b
    Example:
      memport study check my-study.yaml
    """
    loaded = _loaded(plan, retrieval_only=retrieval_only)
    checks = check_study(plan=loaded, workspace=default_workspace())
    print_checks(checks, as_json=as_json)
    if not all(one.ok for one in checks):
        sys.exit(REFUSED)


# The protocol's word for the same.
command.add_command(check, "preflight")


@command.command("run")
@PLAN
@click.option("--no-wait", is_flag=True, help="Launch it and leave the work to a running server.")
@click.option("--no-preflight", is_flag=True, help="Leave the checks out; the run will say so.")
@RETRIEVAL_ONLY
@AS_JSON
@needs_database
def run(plan: Path, no_wait: bool, no_preflight: bool, retrieval_only: bool, as_json: bool) -> None:
    """Launch the study of a PLAN file and show its progress until it is complete.

    The same plan again goes on where it stopped. Beside a running server the server's worker does
    the work; without one, this command does. Ctrl-C loses nothing.

    With --retrieval-only the plan's embedding upgrade alone is run, as the study KEY-retrieval: it
    ranks the evidence under every index, gives recall@8 and MRR, and needs no language model.

    \b
    Example:
      memport study run my-study.yaml
      memport study run my-study.yaml --retrieval-only
    """
    loaded = _loaded(plan, retrieval_only=retrieval_only)
    workspace, user = default_workspace(), ensure_admin()
    # Before any worker starts: a plan that is refused anyway should start nothing.
    find_launched(plan=loaded, workspace=workspace)
    with ExitStack() as stack:
        worker = None if no_wait else stack.enter_context(ensure_worker())
        try:
            study = launch_study(
                plan=loaded, workspace=workspace, user=user, preflight=not no_preflight
            )
        except RefusedAtPreflightError as error:
            if as_json:
                print_checks(error.checks, as_json=True)
            raise
        for one in study.runs.all():
            resume_run(run=one, user=user)
        if worker is None:
            _report_end(study, as_json=as_json, well=True, words=f"{study.key}: launched.")
        else:
            _watch_to_the_end(study, as_json=as_json, who=worker.who())


@command.command("resume")
@click.argument("key")
@click.option("--rerun-failed", is_flag=True, help="Run what failed again, as whole new attempts.")
@click.option("--in-spite-of-gates", is_flag=True, help="Go on although a failed gate stopped it.")
@click.option("--why", default="", help="The reason, kept with the study's deviations.")
@click.option("--no-wait", is_flag=True, help="Leave the work to a running server.")
@AS_JSON
@needs_database
def resume(
    key: str, rerun_failed: bool, in_spite_of_gates: bool, why: str, no_wait: bool, as_json: bool
) -> None:
    """Go on with the stopped or interrupted study KEY, at its last committed answer.

    \b
    Example:
      memport study resume my-study
      memport study resume my-study --rerun-failed --why "the endpoint was down"
    """
    study, user = find_study(key), ensure_admin()
    if in_spite_of_gates:
        go_on_in_spite_of_gates(study=study, user=user, why=why)
    for one in study.runs.all():
        if rerun_failed:
            _rerun(one, user=user, why=why)
        resume_run(run=one, user=user)
    if no_wait:
        _report_end(study, as_json=as_json, well=True, words=f"{key}: resumed.")
        return
    with ensure_worker() as worker:
        _watch_to_the_end(study, as_json=as_json, who=worker.who())


@command.command("watch")
@click.argument("key")
@AS_JSON
@needs_database
def watch_study(key: str, as_json: bool) -> None:
    """Show the progress of the study KEY; work is done elsewhere. Ctrl-C ends the watching alone.

    \b
    Example:
      memport study watch my-study
    """
    _watch_to_the_end(find_study(key), as_json=as_json, who="")


@command.command("stop")
@click.argument("key")
@AS_JSON
@needs_database
def stop(key: str, as_json: bool) -> None:
    """Stop the study KEY at its next answer. Nothing is lost; `memport study resume` goes on.

    \b
    Example:
      memport study stop my-study
    """
    study, user = find_study(key), ensure_admin()
    states = [stop_run(run=one, user=user).state for one in study.runs.all()]
    words = f"{key}: {', '.join(states) or 'nothing to stop'}."
    _report_end(study, as_json=as_json, well=True, words=words)


@command.command("list")
@AS_JSON
@needs_database
def list_studies(as_json: bool) -> None:
    """List the studies, newest first.

    \b
    Example:
      memport study list --json
    """
    studies = Study.objects.filter(workspace=default_workspace()).prefetch_related("runs")
    rows = [study_summary(study) for study in studies]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    print_list(rows)


@command.command("show")
@click.argument("key")
@AS_JSON
@needs_database
def show(key: str, as_json: bool) -> None:
    """Show the locked plan of the study KEY, its runs, its checks and what was left out.

    \b
    Example:
      memport study show my-study --json
    """
    study = find_study(key)
    details = {**study_summary(study, with_plan=True), "lock": lock_summary(study)}
    if as_json:
        click.echo(json.dumps(details, indent=2))
        return
    print_details(study, details)


@command.command("report")
@click.argument("key")
@AS_JSON
@needs_database
def report(key: str, as_json: bool) -> None:
    """Print the verdicts of the study KEY, per direction and format, then each of its tests.

    \b
    Example:
      memport study report my-study --json > report.json
    """
    from analysis.report import study_report

    document = study_report(find_study(key))
    if as_json:
        click.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        print_analysis(document, console=Console())


@command.command("export")
@click.argument("key")
@click.option(
    "--output",
    "-o",
    default=None,
    help="A file (.csv, .csv.gz), or - for standard output.  [default: KEY-answers.csv]",
)
@needs_database
def export(key: str, output: str | None) -> None:
    """Write the answers table of the study KEY: one row per answer, equal results are equal bytes.

    \b
    Example:
      memport study export my-study --output answers.csv
    """
    from analysis.notices import labels_of
    from analysis.observations import from_study
    from analysis.tables import csv_bytes, write_csv

    study = find_study(key)
    for label in labels_of(study):
        click.echo(f"Note: {label}.", err=True)
    frame = from_study(study)
    if output == "-":
        sys.stdout.buffer.write(csv_bytes(frame))
        return
    path = Path(output or f"{key}-answers.csv")
    write_csv(frame, path)
    click.echo(f"{count_of(len(frame), 'answer')} written to {path}.")


def _loaded(path: Path, *, retrieval_only: bool) -> StudyPlan:
    plan = load_plan(path)
    return retrieval_of(plan) if retrieval_only else plan


def _rerun(one: Any, *, user: Any, why: str) -> None:
    count = rerun_failed(run=one, user=user, why=why)
    click.echo(f"{one.test}: {count_of(count, 'failed job')} to run again.", err=True)


def _watch_to_the_end(study: Study, *, as_json: bool, who: str) -> None:
    console = Console(stderr=True)
    if who:
        console.print(f"{study.key}: the work is done by {who}.", highlight=False)
    seen = watch(study, console=console)
    words = how_it_ended(seen, key=study.key)
    _report_end(study, as_json=as_json, well=ended_well(seen), words=words)


def _report_end(study: Study, *, as_json: bool, well: bool, words: str) -> None:
    if as_json:
        runs = [
            {"test": one.test, "number": one.number, **asdict(progress(one))}
            for one in study.runs.all()
        ]
        click.echo(json.dumps({"study": study.key, "runs": runs}, indent=2))
    else:
        click.echo(words, err=not well)
    if not well:
        sys.exit(FAILED)
