"""An evaluation that asks nobody: the evidence is ranked, and no answer is made or missed."""

from collections.abc import Sequence

from experiments.models import Answer, Attempt
from experiments.services.answers import retrieved_items
from experiments.services.asking import Question, rank_and_recall
from experiments.services.execution import Work


def keep_ranks(attempt: Attempt, questions: Sequence[Question], *, top_k: int, work: Work) -> None:
    """Keep the ranks of every question's evidence; what is kept already stays.

    Such an answer has no text, no call and no score, and its evaluation has no reader: reports say
    "answers were not asked", which is another thing than an answer that was never scored.
    """
    kept = set(attempt.answers.values_list("probe_id", flat=True))
    rows = [
        _ranked(attempt, question, top_k=top_k)
        for question in questions
        if question.probe.pk not in kept
    ]
    work.check_stop()
    with work.commit():
        Answer.objects.bulk_create(rows)


def _ranked(attempt: Attempt, question: Question, *, top_k: int) -> Answer:
    reading = question.reading
    rank, recall = rank_and_recall(reading, top_k=top_k)
    return Answer(
        attempt=attempt,
        probe=question.probe,
        retrieved=retrieved_items(reading),
        evidence_ranks=None if reading.evidence_ranks is None else dict(reading.evidence_ranks),
        rank=rank,
        recall=recall,
    )
