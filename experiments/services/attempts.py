"""Attempts: opened, resumed, abandoned, completed; and what a repeat did differently."""

from dataclasses import asdict
from typing import Any

from django.utils import timezone

from experiments.cells import asked_order, attempt_workers, siblings
from experiments.models import Attempt, Evaluation, Job
from experiments.services.execution import Work
from stores.models import Store
from stores.roles import ModelIdentity


def open_attempt(
    evaluation: Evaluation, *, store: Store | None, reader: ModelIdentity | None, work: Work
) -> Attempt:
    """Return the open attempt to go on with, or begin one; no reader: nobody is asked.

    An attempt goes on only with the same reader, to the byte, and the same store: otherwise its
    answers would be of two kinds, so it is abandoned (and kept) and a new one begins.
    """
    identity = asdict(reader) if reader is not None else {}
    with work.commit():
        attempt = evaluation.attempts.filter(state=Attempt.State.OPEN).first()
        if attempt is not None:
            if attempt.reader_identity == identity and attempt.store == store:
                attempt.resumes += 1
                attempt.save(update_fields=["resumes"])
                return attempt
            attempt.state, attempt.finished_at = Attempt.State.ABANDONED, timezone.now()
            attempt.save(update_fields=["state", "finished_at"])
        last = evaluation.attempts.order_by("-number").first()
        return evaluation.attempts.create(
            number=last.number + 1 if last else 1, store=store, reader_identity=identity
        )


def complete_attempt(attempt: Attempt, *, work: Work) -> None:
    """Make the answers count: the attempt and its evaluation become complete at once."""
    now = timezone.now()
    evaluation = attempt.evaluation
    varied = what_varied(attempt) if evaluation.repeat else {}
    with work.commit():
        Attempt.objects.filter(pk=attempt.pk).update(state=Attempt.State.COMPLETE, finished_at=now)
        work.claim.end(Job.State.COMPLETE, finished_at=now, error="", varied=varied)


def what_varied(attempt: Attempt) -> dict[str, Any]:
    """Say how a repeat differed from the first evaluation of its cell."""
    first = Attempt.objects.filter(
        evaluation__in=siblings(attempt.evaluation).filter(repeat=0),
        state=Attempt.State.COMPLETE,
    ).first()
    if first is None:
        return {"first": "not complete when the repeat ran"}
    other_process = not (attempt_workers(first) & attempt_workers(attempt))
    first_order, order = asked_order(first), asked_order(attempt)
    return {
        "process": "another process, the model loaded anew" if other_process else "the same",
        "order": "probes in another order" if first_order != order else "the same order",
        "first_attempt": first.pk,
        "probe_order": order,
    }


def has_answered_sibling(evaluation: Evaluation, *, worker_id: Any) -> bool:
    """Whether this worker process gave an answer of another evaluation of the same cell."""
    mine = Attempt.objects.filter(
        evaluation__in=siblings(evaluation), calls__worker_id=worker_id
    ).exclude(state=Attempt.State.ABANDONED)
    return mine.exists()
