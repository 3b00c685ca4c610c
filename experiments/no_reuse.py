"""Proof that no noise repeat reused an answer: checked on the record, not taken on trust."""

from collections.abc import Iterator
from dataclasses import dataclass

from experiments.cells import asked_order, attempt_workers, siblings
from experiments.models import Answer, Attempt, Evaluation, Run


@dataclass(frozen=True, slots=True)
class NoReuseProof:
    """What was checked, and every problem found. `holds` is True with repeats and no problem."""

    repeats: int
    answers: int
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether there were complete repeats, and none of them reused anything."""
        return self.repeats > 0 and not self.problems


def prove_no_reuse(run: Run) -> NoReuseProof:
    """Check every complete attempt of every repeat of a run against the rest of its cell.

    Each answer must have a call of its own, made for its own attempt; no worker process may have
    answered two evaluations of one cell; and the probes must have been asked in another order.
    """
    attempts = list(
        Attempt.objects.filter(
            evaluation__run=run, evaluation__repeat__gt=0, state=Attempt.State.COMPLETE
        ).select_related("evaluation__history", "evaluation__run")
    )
    problems = [problem for attempt in attempts for problem in _problems(attempt)]
    answers = Answer.objects.filter(attempt__in=attempts).count()
    return NoReuseProof(len(attempts), answers, tuple(problems))


def _problems(attempt: Attempt) -> Iterator[str]:
    name = _name(attempt.evaluation)
    for answer in attempt.answers.select_related("call", "probe"):
        if answer.call is None or answer.call.attempt_id != attempt.pk:
            yield f"{name}: the answer to {answer.probe.key} has no call of its own"
    others = Attempt.objects.filter(
        evaluation__in=siblings(attempt.evaluation), state=Attempt.State.COMPLETE
    )
    for other in others:
        if attempt_workers(other) & attempt_workers(attempt):
            yield f"{name}: the process that answered it also answered repeat " + str(
                other.evaluation.repeat
            )
        if len(asked_order(attempt)) > 1 and asked_order(other) == asked_order(attempt):
            yield f"{name}: the probes were asked in the same order as in repeat " + str(
                other.evaluation.repeat
            )


def _name(evaluation: Evaluation) -> str:
    parts = (evaluation.history.key, evaluation.format, evaluation.writer, evaluation.reader)
    return "/".join(part for part in parts if part) + f" repeat {evaluation.repeat}"
