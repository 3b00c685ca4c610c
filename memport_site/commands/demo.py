"""`memport demo`: a real migration on real models, from nothing to the verdict in the browser."""

import signal
from importlib import resources
from pathlib import Path
from types import FrameType

import click
from django.conf import settings
from rich.console import Console

from experiments.engines.catalogue import Catalogue
from experiments.models import Run, Study
from experiments.plan.plan import load_plan
from experiments.plan.schema import StudyPlan
from experiments.services.control import rerun_failed, resume_run
from experiments.services.launch import find_launched, launch_study
from memport_site.accounts.models import User
from memport_site.accounts.services import default_workspace, ensure_admin, make_sign_in_link
from memport_site.commands.models import fetch_with_progress
from memport_site.commands.verdicts import print_report
from memport_site.commands.watching import ended_well, how_it_ended, watch
from memport_site.database import prepare_database
from memport_site.serving import DEFAULT_PORT, RunningServer, check_port, start_server
from stores.errors import InvalidInputError

FAILED = 1
DEMO_PLANS = ("demo.yaml", "demo-embeddings.yaml")
FULL_PLANS = ("demo-full.yaml",)


@click.command("demo")
@click.option(
    "--serve/--no-serve",
    default=True,
    show_default=True,
    help="Keep serving after the verdicts, or end there.",
)
@click.option(
    "--port", default=DEFAULT_PORT, show_default=True, type=click.IntRange(0, 65535),
    help="Where to serve, on this machine alone; 0: any free one.",
)  # fmt: skip
@click.option(
    "--full", is_flag=True,
    help="All four migration tests on the six small histories, unattended: under an hour.",
)  # fmt: skip
@click.option("--plan", type=click.Path(path_type=Path), default=None, hidden=True)
def command(serve: bool, port: int, full: bool, plan: Path | None) -> None:
    """Measure a real migration on two small models, and serve the dashboard.

    Makes the database, fetches the models, generates six small histories, runs the demo study and
    prints its verdicts; then it changes the embedder under eight longer histories and ranks their
    evidence, in seconds and without a language model. A second start reuses all of it and measures
    nothing again; Ctrl-C at any time loses nothing.

    \b
    Example:
      memport demo
      memport demo --no-serve
      memport demo --full
    """
    plans = [load_plan(path) for path in ([plan] if plan else demo_plans(full=full))]
    port = _free_port(port, serve=serve)
    console = Console(stderr=True, highlight=False)
    if prepare_database():
        console.print("Database ready.")
    signal.signal(signal.SIGTERM, _interrupt)
    user = ensure_admin()
    server = start_server(port=port)
    try:
        click.echo(f"Dashboard: {server.address}")
        click.echo(f"Sign in (this link works once): {server.address}{make_sign_in_link(user)}")
        well = True
        for loaded in plans:
            well = _measure(loaded, user=user, server=server, console=console) and well
        if serve:
            _keep_serving(server)
    finally:
        server.stop()
    if not well:
        raise SystemExit(FAILED)


def demo_plans(*, full: bool = False) -> list[Path]:
    """Return the paths of the demo's plans, in the order of work; `full`: of all four tests."""
    folder = resources.files("experiments") / "studies"
    return [Path(str(folder / name)) for name in (FULL_PLANS if full else DEMO_PLANS)]


def _free_port(port: int, *, serve: bool) -> int:
    """Check the port before anything is written; a demo that soon ends takes any other one."""
    try:
        check_port(port)
    except InvalidInputError:
        if serve:
            raise
        return 0
    return port


def _measure(plan: StudyPlan, *, user: User, server: RunningServer, console: Console) -> bool:
    """Run what is left of the study, print its verdicts, say whether it is complete."""
    from analysis.report import study_report

    study = find_launched(plan=plan, workspace=default_workspace())
    if study is None or study.runs.exclude(state=Run.State.COMPLETE).exists():
        _fetch_models(plan, console=console)
        study = _launch(plan, user=user)
        console.print(f"Study {study.key}: the work is done by {server.worker.who()}.")
    else:
        console.print(f"Study {study.key} is complete already; nothing is measured again.")
    seen = watch(study, console=console)
    if not ended_well(seen):
        console.print(how_it_ended(seen, key=study.key), markup=False)
    print_report(study_report(study), console=Console())
    return ended_well(seen)


def _fetch_models(plan: StudyPlan, *, console: Console) -> None:
    named = [model.catalogue for model in plan.models]
    named += [embedder.catalogue for embedder in plan.embedders]
    keys = list(dict.fromkeys(key for key in named if key is not None))
    if keys:
        catalogue = Catalogue(settings.CATALOGUE, settings.MODELS_DIR)
        fetched = fetch_with_progress(catalogue, keys)
        console.print(f"Models: {len(fetched)} fetched, {len(keys) - len(fetched)} already here.")


def _launch(plan: StudyPlan, *, user: User) -> Study:
    """Launch the study, or go on with it, with what failed the last time too."""
    study = launch_study(plan=plan, workspace=default_workspace(), user=user)
    for run in study.runs.all():
        rerun_failed(run=run, user=user, why="the demo was started again after failures")
        resume_run(run=run, user=user)
    return study


def _keep_serving(server: RunningServer) -> None:
    try:
        click.echo(f"The dashboard stays at {server.address} (Ctrl-C stops it).")
        server.wait()
    except KeyboardInterrupt:
        click.echo("Stopped. Everything is kept; `memport demo` shows it again.")


def _interrupt(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise KeyboardInterrupt
