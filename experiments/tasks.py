"""Celery's side of the jobs: shells around the services."""

from celery import shared_task

from experiments.runtime import dispatcher
from experiments.runtime.elsewhere import evaluate_here_or_elsewhere
from experiments.selectors import BUILD_TASK, EVALUATE_TASK
from experiments.services.build_store import build_store


@shared_task(name=BUILD_TASK)
def build_store_task(build_id: int) -> None:
    """Build one store."""
    build_store(build_id=build_id)
    dispatcher.note_taken(BUILD_TASK, build_id)


@shared_task(name=EVALUATE_TASK)
def evaluate_task(evaluation_id: int) -> None:
    """Run one evaluation."""
    if evaluate_here_or_elsewhere(evaluation_id=evaluation_id):
        dispatcher.note_taken(EVALUATE_TASK, evaluation_id)


@shared_task(name="experiments.dispatch")
def dispatch_task() -> None:
    """Look for work now; a service sends this when it has made some."""
    dispatcher.wake()
