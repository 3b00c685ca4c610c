"""The report of a large study is computed when its last run ends, not when somebody looks."""

from typing import Any

from experiments.models import Answer, Study

# Fewer answers are analyzed in well under a second by the first page that asks.
LARGE_ANSWERS = 100_000


def warm_large_study(*, study: Study, **_: Any) -> None:
    """Compute and keep what the pages need, once nothing of a large study goes on any more."""
    from analysis.kept import has_ended
    from analysis.results import warm

    if not has_ended(study):
        return
    answers = Answer.objects.filter(attempt__evaluation__run__study=study)
    if answers.order_by()[LARGE_ANSWERS - 1 : LARGE_ANSWERS].exists():
        warm(study)
