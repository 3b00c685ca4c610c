"""Noise repeats run in another process than the evaluation they repeat.

The same process would replay its own state, which measures nothing. So a process never runs a
repeat of a cell that it answered itself: it hands the repeat to a child process, after closing its
own model, so that the weights are not in memory twice.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from experiments.models import Evaluation, Job
from experiments.runtime.claims import release_lost
from experiments.runtime.pool import engine_pool
from experiments.runtime.processes import this_process
from experiments.runtime.seat import database_name
from experiments.runtime.stopping import request_stop, stop_requested
from experiments.services.attempts import has_answered_sibling
from experiments.services.evaluate import evaluate
from experiments.services.execution import note_crash

logger = logging.getLogger(__name__)

# The same program again; a test replaces this by its own entry.
child_command: list[str] = [
    sys.executable,
    "-c",
    "from memport_site.cli import main; main()",
    "worker",
]
# A child is stopped by closing its standard input, which also happens when this process dies.
MAX_PER_CHILD = 50
_one_child = threading.Lock()


def evaluate_here_or_elsewhere(*, evaluation_id: int) -> bool:
    """Run an evaluation in this process, or in a child where this one may not.

    Returns
    -------
    False where a child of this process is at work already and the evaluation has to wait for it.
    """
    evaluation = Evaluation.objects.filter(pk=evaluation_id).first()
    if evaluation is None or evaluation.state != Job.State.READY:
        return True
    if not needs_other_process(evaluation):
        evaluate(evaluation_id=evaluation_id)
        return True
    if not _one_child.acquire(blocking=False):
        return False
    try:
        _run_child(_batch(evaluation))
    finally:
        _one_child.release()
    return True


def needs_other_process(evaluation: Evaluation) -> bool:
    """Whether this process answered the same cell before."""
    return has_answered_sibling(evaluation, worker_id=this_process().pk)


def evaluate_in_child(*, evaluation_ids: Sequence[int]) -> None:
    """What the child does: run each evaluation, unless it answered its cell itself by now."""
    for evaluation in Evaluation.objects.filter(pk__in=evaluation_ids).order_by("position"):
        if not needs_other_process(evaluation):
            evaluate(evaluation_id=evaluation.pk)


def _batch(evaluation: Evaluation) -> list[int]:
    """This repeat, and the next ready ones for the same reader: one loading of the model."""
    ready = Evaluation.objects.filter(
        run_id=evaluation.run_id,
        reader=evaluation.reader,
        state=Job.State.READY,
        repeat=evaluation.repeat,
        position__gte=evaluation.position,
    ).exclude(pk=evaluation.pk)
    others = [e.pk for e in ready.order_by("position") if needs_other_process(e)]
    return [evaluation.pk, *others[: MAX_PER_CHILD - 1]]


def _run_child(evaluation_ids: Sequence[int]) -> None:
    engine_pool().close_idle()
    command = [*child_command, "--database", database_name()]
    for evaluation_id in evaluation_ids:
        command += ["--evaluation", str(evaluation_id)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE)  # noqa: S603
    code = _wait(child)
    release_lost()
    if code != 0:
        logger.error("the process for noise repeats ended with exit code %s", code)
        note_crash(
            evaluation_id=evaluation_ids[0],
            message=f"the process that ran this repeat ended with exit code {code}",
        )


def _wait(child: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return child.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            if stop_requested() and child.stdin is not None and not child.stdin.closed:
                child.stdin.close()


def watch_parent() -> None:
    """In the child: stop when the parent closes our standard input, on purpose or by dying."""
    parent = os.getppid()

    def watch() -> None:
        while os.read(0, 1):
            pass
        request_stop()
        time.sleep(0.2)
        if os.getppid() != parent:
            # It died. Whoever follows it may load the model at once, so do not stay; the claim
            # is released because this process is gone.
            os._exit(1)

    threading.Thread(target=watch, name="memport-parent", daemon=True).start()
