"""Launch small studies on watched models and work them off, with or without Celery."""

import time
from typing import Any

from experiments.models import Answer, Run
from experiments.plan.plan import parse_plan
from experiments.runtime.elsewhere import evaluate_here_or_elsewhere
from experiments.selectors import BUILD_TASK, ready_jobs
from experiments.services.build_store import build_store
from experiments.services.launch import launch_study
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data


def a_launched_run(
    *, n_histories: int = 1, noise_repeats: int = 0, key: str = "swap", **changes: Any
) -> Run:
    """Launch a study over the first tiny histories; nothing has been done yet."""
    workspace = a_workspace()
    values = generate("tiny", seed=7)[:n_histories]
    for value in values:
        a_history(workspace, value)
    data = plan_data(
        key,
        **{
            "histories": {"keys": [value.key for value in values]},
            "budgets": {"context_tokens": 4096},
            "tests": {"writer_swap": {"noise_repeats": noise_repeats}},
            **changes,
        },
    )
    study = launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    return study.runs.get()


def work_off(*, at_most: int = 10_000) -> int:
    """Do ready jobs in this thread, in the order of the plan; return how many."""
    for done in range(at_most):
        jobs = ready_jobs(limit=1)
        if not jobs:
            return done
        task, job_id = jobs[0]
        if task == BUILD_TASK:
            build_store(build_id=job_id)
        else:
            evaluate_here_or_elsewhere(evaluation_id=job_id)
    return at_most


def wait_until_over(run: Run, *, seconds: float = 300) -> Run:
    """Wait for the workers to end a run."""
    deadline = time.monotonic() + seconds
    over = (Run.State.COMPLETE, Run.State.INCOMPLETE, Run.State.STOPPED)
    while time.monotonic() < deadline:
        run.refresh_from_db()
        if run.state in over:
            return run
        time.sleep(0.05)
    raise AssertionError(f"the run is still {run.state} after {seconds:g} s")


def answers_table(run: Run) -> list[tuple[Any, ...]]:
    """Everything that an export of a run holds, sorted by key; no times, attempts or processes."""
    rows = Answer.objects.filter(
        attempt__evaluation__run=run, attempt__state="complete"
    ).values_list(
        "attempt__evaluation__history__key", "attempt__evaluation__format",
        "attempt__evaluation__writer", "attempt__evaluation__reader",
        "attempt__evaluation__embedder", "attempt__evaluation__repeat", "probe__key", "text",
        "correct", "reason", "rank", "recall", "prefix_sha256", "suffix",
        "attempt__store__checksum",
    )  # fmt: skip
    return sorted(tuple(map(str, row)) for row in rows)
