"""`memport study calibrate`: the gates on the calibration histories, then on the study's own."""

import json
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from experiments.models import Run, Study
from experiments.plan.calibration import calibration_plan
from experiments.plan.gate_cells import NAME as GATES
from experiments.plan.plan import load_plan
from experiments.plan.schema import StudyPlan
from experiments.runtime.standby import ensure_worker
from experiments.services.control import resume_run
from experiments.services.launch import launch_study
from memport_site.accounts.models import User
from memport_site.accounts.services import default_workspace, ensure_admin
from memport_site.commands.watching import watch
from memport_site.database import needs_database

FAILED = 1
ANSWER_IS_NO = 100


@click.command("calibrate")
@click.argument("plan", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@needs_database
def calibrate(plan: Path, as_json: bool) -> None:
    """Run the gates of a PLAN on its calibration histories, then on the study's own.

    A gate that fails and stops (see analysis.gates) ends it there, with exit code 100. The study's
    own gates are those of tests.gates; its other runs stay stopped until `memport study run` goes
    on. The spread across calibration histories is kept for the planner.

    \b
    Example:
      memport study calibrate my-study.yaml
    """
    from analysis import calibration
    from analysis.gatekeeping import decide

    loaded = load_plan(plan)
    first = calibration_plan(loaded)
    with ensure_worker() as worker:
        Console(stderr=True).print(f"The work is done by {worker.who()}.", highlight=False)
        calibrated = _work_off(first, gates_alone=False)
        decision = decide(calibrated)
        own = None
        if decision is not None and not decision.stops and loaded.tests.gates is not None:
            own = _work_off(loaded, gates_alone=True)
    document = calibration.summary(calibrated)
    document["own_gates"] = calibration.decision_json(decide(own)) if own is not None else None
    if as_json:
        click.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        _print(document, loaded)
    sys.exit(_code([calibrated, own], document))


def _work_off(plan: StudyPlan, *, gates_alone: bool) -> Study:
    """Launch a study, or go on with it, and watch until nothing more happens by itself."""
    workspace, user = default_workspace(), ensure_admin()
    study = launch_study(plan=plan, workspace=workspace, user=user, gates_alone=gates_alone)
    _resume(study, user, gates_alone=gates_alone)
    watch(study, console=Console(stderr=True))
    return study


def _resume(study: Study, user: User, *, gates_alone: bool) -> None:
    runs = study.runs.filter(test=GATES) if gates_alone else study.runs.all()
    for run in runs:
        resume_run(run=run, user=user)


def _code(studies: list[Study | None], document: dict[str, Any]) -> int:
    decided = [document["gates"], document["own_gates"]]
    if any(one is not None and one["stops"] for one in decided):
        return ANSWER_IS_NO
    ended = Run.objects.filter(study__in=[study for study in studies if study is not None])
    return FAILED if ended.filter(state=Run.State.INCOMPLETE).exists() else 0


def _print(document: dict[str, Any], plan: StudyPlan) -> None:
    console = Console(highlight=False, markup=False)
    _print_gates("Gates on the calibration histories", document["gates"], plan, console)
    for spread in document["spreads"]:
        console.print(_spread_line(spread))
    if document["own_gates"] is not None:
        _print_gates("Gates on the study's own histories", document["own_gates"], plan, console)
    elif plan.tests.gates is None:
        console.print("The plan runs no gates on the study's own histories (tests.gates).")


def _print_gates(title: str, decided: dict[str, Any], plan: StudyPlan, console: Console) -> None:
    table = Table("gate", "of", "found", "needs", "state", title=title, title_justify="left")
    for gate in decided["each"]:
        of = ", ".join(
            filter(None, (gate["reader"] or gate["writer"], gate["format"], gate["kind"]))
        )
        value = gate["figure"]["value"]
        found = gate["reason"] if value is None else f"{value:.3f}"
        state = gate["status"]
        if state == "failed":
            state = f"failed ({plan.analysis.gates.consequence(gate['gate'])})"
        table.add_row(gate["gate"], of, found, gate["bound"], state)
    console.print(table)
    if decided["stops"]:
        console.print(f"Stopped: {decided['because']}")


def _spread_line(spread: dict[str, Any]) -> str:
    head = f"{spread['contrast']}: "
    if spread["sd_pp"] is None:
        return f"{head}no spread: {spread['reason']}"
    line = f"{head}SD {spread['sd_pp']:.1f} pp across {spread['n_histories']} histories"
    if spread["histories_needed"] is not None:
        effect = 2 * spread["margin_pp"]
        line += (
            f"; a true effect of {effect:g} pp against a margin of {spread['margin_pp']:g} pp needs"
            f" {spread['histories_needed']:,} histories"
        )
    return "; ".join([line, *spread["warnings"]])
