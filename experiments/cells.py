"""Evaluations of one cell: the first one and its repeats, and how each was asked."""

from typing import TYPE_CHECKING, Any

from experiments.models import Attempt, Evaluation

if TYPE_CHECKING:
    from django.db.models import QuerySet


def siblings(evaluation: Evaluation) -> "QuerySet[Evaluation]":
    """The same cell's other evaluations in its study: the first one and its repeats.

    They may belong to several runs: a test that comes later takes over what an earlier one read.
    """
    parts = (
        "history_id", "format", "writer", "reader", "embedder", "condition", "index",
        "repair", "rung",
    )  # fmt: skip
    key = {part: getattr(evaluation, part) for part in parts}
    study = evaluation.run.study_id
    return Evaluation.objects.filter(run__study=study, **key).exclude(pk=evaluation.pk)


def attempt_workers(attempt: Attempt) -> set[Any]:
    """Return the ids of the worker processes that made the calls of an attempt."""
    return set(attempt.calls.values_list("worker_id", flat=True))


def asked_order(attempt: Attempt) -> list[str]:
    """Return the keys of an attempt's probes in the order in which they were asked."""
    answers = attempt.answers.order_by("call__position")
    return list(answers.values_list("probe__key", flat=True))
