"""How far a run is, what is being done, and how long it will still take."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from experiments.models import Answer, Attempt, Evaluation, Job, Run, StoreBuild
from experiments.plan.specs import EVERY_FORMAT
from experiments.time_left import time_left_s
from stores.counting import count_of


@dataclass(frozen=True, slots=True)
class Progress:
    """A run's progress. `left_s` is None until something was measured to estimate it from."""

    state: str
    builds: dict[str, int]
    evaluations: dict[str, int]
    jobs_done: int
    jobs_total: int
    answers: int
    is_working: bool
    step: str
    elapsed_s: float | None
    left_s: float | None
    errors: tuple[str, ...]

    @property
    def share(self) -> float:
        """Share of the jobs that are complete, 0 to 1."""
        return self.jobs_done / self.jobs_total if self.jobs_total else 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen by itself."""
        ended = (Run.State.COMPLETE, Run.State.INCOMPLETE, Run.State.STOPPED, Run.State.BARRED)
        return self.state in ended


def progress(run: Run, *, now: datetime | None = None) -> Progress:
    """Return a run's progress as of now. Reads the run's row anew."""
    run = Run.objects.get(pk=run.pk)
    now = now or timezone.now()
    builds, evaluations = _counts(run.store_builds), _counts(run.evaluations)
    end = run.finished_at or now
    return Progress(
        state=run.state,
        builds=builds,
        evaluations=evaluations,
        jobs_done=builds[Job.State.COMPLETE] + evaluations[Job.State.COMPLETE],
        jobs_total=sum(builds.values()) + sum(evaluations.values()),
        answers=_answers(run),
        is_working=bool(builds[Job.State.RUNNING] or evaluations[Job.State.RUNNING]),
        step=current_step(run),
        elapsed_s=(end - run.started_at).total_seconds() if run.started_at else None,
        left_s=time_left_s(run),
        errors=_errors(run),
    )


def _counts(jobs: Any) -> dict[str, int]:
    found = dict(jobs.order_by().values_list("state").annotate(n=Count("pk")))
    return {state.value: found.get(state.value, 0) for state in Job.State}


def _answers(run: Run) -> int:
    answers = Answer.objects.filter(attempt__evaluation__run=run)
    return answers.exclude(attempt__state=Attempt.State.ABANDONED).count()


def current_step(run: Run) -> str:
    """Say in words what is being done now."""
    build = run.store_builds.filter(state=Job.State.RUNNING).select_related("history").first()
    if build is not None:
        return _build_step(build)
    evaluation = run.evaluations.filter(state=Job.State.RUNNING).select_related("history").first()
    if evaluation is not None:
        return _evaluation_step(evaluation)
    if run.state in (Run.State.QUEUED, Run.State.RUNNING):
        return _waiting_step(run)
    words = {
        Run.State.HELD: run.note or "waiting for the gates",
        Run.State.BARRED: f"stopped by the gates: {run.note}",
        Run.State.STOPPING: "stopping at the next answer",
        Run.State.STOPPED: "stopped; it goes on at the last committed answer",
        Run.State.COMPLETE: "complete",
        Run.State.INCOMPLETE: "ended, with failures",
    }
    return words[Run.State(run.state)]


def _build_step(build: StoreBuild) -> str:
    by = build.writer or build.embedder
    name = f"the {build.spec['index']} index" if build.spec.get("index") else build.format
    if derived := build.spec.get("derived"):
        name = f"{name}, {derived.replace('_', ' ')},"
    calls = build.calls.count()
    said = f", {count_of(calls, 'call')} done" if calls else ""
    return f"building {name} of {build.history.key}{f' with {by}' if by else ''}{said}"


def _evaluation_step(evaluation: Evaluation) -> str:
    attempt = evaluation.attempts.filter(state=Attempt.State.OPEN).first()
    done = attempt.answers.count() if attempt else 0
    index = f", index {evaluation.index}," if evaluation.index else ""
    store = f"{evaluation.format}{index} of {evaluation.history.key}"
    if evaluation.format == EVERY_FORMAT:
        store = f"the evidence of {evaluation.history.key}"
    if evaluation.condition != "normal":
        store = f"{store}, {evaluation.condition.replace('_', ' ')},"
    if not evaluation.reader:
        return f"ranking the evidence in {store}"
    by = f" written by {evaluation.writer}" if evaluation.writer else ""
    again = f", repeat {evaluation.repeat}" if evaluation.repeat else ""
    return f"{evaluation.reader} reads {store}{by}{again}: {count_of(done, 'answer')} so far"


def _waiting_step(run: Run) -> str:
    retrying = [
        job.retry_at
        for jobs in (run.store_builds, run.evaluations)
        for job in jobs.filter(state=Job.State.READY, retry_at__gt=timezone.now())
    ]
    if retrying:
        return f"waiting until {min(retrying):%H:%M:%S} UTC to try again"  # type: ignore[type-var]
    others = Run.objects.exclude(pk=run.pk).select_related("study").order_by("pk")
    at_work = others.filter(
        Q(store_builds__state=Job.State.RUNNING) | Q(evaluations__state=Job.State.RUNNING)
    )
    active = (Run.State.QUEUED, Run.State.RUNNING)
    ahead = at_work.first() or others.filter(pk__lt=run.pk, state__in=active).first()
    if ahead is not None:
        if ahead.study_id == run.study_id:
            return f"waiting for the test {ahead.test} of this study"
        return f"waiting for the study {ahead.study.key}, which was launched before"
    return "waiting for a worker"


def _errors(run: Run) -> tuple[str, ...]:
    messages = [
        text
        for jobs in (run.store_builds, run.evaluations)
        for text in jobs.exclude(error="").order_by("position").values_list("error", flat=True)
    ]
    return tuple(dict.fromkeys(messages))
