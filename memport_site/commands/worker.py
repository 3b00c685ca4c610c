"""`memport worker`: run jobs without serving pages."""

import signal
import time
from types import FrameType

import click

from memport_site.database import needs_database
from stores.errors import InvalidInputError


@click.command("worker")
@click.option(
    "--pool",
    type=click.Choice(["threads", "prefork", "solo"]),
    default="threads",
    show_default=True,
    help="How jobs run side by side (with a broker of their own).",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Jobs at once. A local model is used by one job at a time.",
)
@click.option("--evaluation", "evaluations", type=int, multiple=True, hidden=True)
@click.option("--database", default=None, hidden=True)
@needs_database
def command(
    pool: str, concurrency: int, evaluations: tuple[int, ...], database: str | None
) -> None:
    """Run the jobs of launched studies until it is stopped.

    With CELERY_BROKER_URL set to Redis, any number of workers on any number of machines share the
    work. Without, this is the one worker of the embedded default.

    Example: CELERY_BROKER_URL=redis://localhost:6379/0 memport worker --concurrency 2
    """
    from django.conf import settings

    if evaluations:
        _run_evaluations(evaluations, database)
    elif settings.CELERY_BROKER_URL.startswith("memory://"):
        _run_embedded()
    else:
        from experiments.runtime.cluster import run_cluster_worker

        raise SystemExit(run_cluster_worker(pool=pool, concurrency=concurrency))


def _run_evaluations(evaluations: tuple[int, ...], database: str | None) -> None:
    """The child process in which a server lets its noise repeats run."""
    from experiments.runtime.elsewhere import evaluate_in_child, watch_parent
    from experiments.runtime.heart import new_heart
    from experiments.runtime.processes import sign_off
    from experiments.runtime.seat import database_name

    if database is not None and database != database_name():
        raise InvalidInputError("the parent process uses another database", where="--database")
    heart = new_heart()
    heart.start()
    watch_parent()
    try:
        evaluate_in_child(evaluation_ids=evaluations)
    finally:
        heart.stop()
        sign_off()


def _run_embedded() -> None:
    """Work, or wait until the process that works ends."""
    from experiments.runtime.standby import ensure_worker

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with ensure_worker() as worker:
        try:
            who = (
                "This process works"
                if worker.works_here
                else f"Waiting: work is done by {worker.who()}"
            )
            click.echo(f"{who} (Ctrl-C stops it).")
            while True:
                time.sleep(1)
        except KeyboardInterrupt:
            click.echo("Stopping; what was measured is kept.")
