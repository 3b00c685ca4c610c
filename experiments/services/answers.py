"""From one reply to one answer: scored, with its retrieval and its call, kept in one piece."""

from collections.abc import Sequence

from experiments.models import Answer, Attempt, Call
from experiments.plan.schema import Model, StudyPlan
from experiments.runtime.processes import this_process
from experiments.scoring import score
from experiments.services.asking import Question, rank_and_recall
from experiments.services.inputs import new_call, prefix_sha256, request_sha256
from stores.formats.base import Reading
from stores.roles import ChatReply, ChatRequest, ModelIdentity
from stores.workload.types import History


def scored_answer(
    question: Question,
    reply: ChatReply,
    *,
    history: History,
    plan: StudyPlan,
    by_rank: bool,
) -> Answer:
    """Score one reply and return the unsaved answer.

    `by_rank`: the format retrieves by rank, so that rank and recall mean something.
    """
    probe = next(p for p in history.probes if p.key == question.probe.key)
    reading = question.reading
    judged = score(
        reply.text,
        reply.finish_reason,
        probe=probe,
        evidence_texts=[history.event(key).text for key in probe.evidence],
        code_pattern=plan.scoring.code_pattern,
        token_f1_threshold=plan.scoring.token_f1_threshold,
    )
    rank, recall = rank_and_recall(reading, top_k=plan.budgets.top_k) if by_rank else (None, None)
    return Answer(
        probe=question.probe,
        text=reply.text,
        correct=judged.correct,
        reason=judged.reason,
        found=list(judged.found),
        prefix_sha256=prefix_sha256(reading),
        suffix=reading.suffix,
        retrieved=retrieved_items(reading),
        evidence_ranks=None if reading.evidence_ranks is None else dict(reading.evidence_ranks),
        rank=rank,
        recall=recall,
    )


def retrieved_items(reading: Reading) -> list[dict[str, object]]:
    """Return what was selected, without the texts: the store holds them."""
    return [
        {"item": item.item, "rank": item.rank, "score": item.score, "events": list(item.events)}
        for item in reading.retrieved
    ]


def reader_call(
    request: ChatRequest, reply: ChatReply, *, reader: Model, identity: ModelIdentity
) -> Call:
    """Return the unsaved call behind an answer."""
    return new_call(
        reply,
        role=Call.Role.READER,
        model=reader,
        position=0,
        request_hash=request_sha256(request, identity=identity),
        worker=this_process(),
    )


def next_position(attempt: Attempt) -> int:
    """Return the number of the attempt's next call."""
    last = attempt.calls.order_by("-position").values_list("position", flat=True).first()
    return 0 if last is None else last + 1


def keep_answers(attempt: Attempt, pairs: Sequence[tuple[Answer, Call]]) -> None:
    """Save answers with their calls; the caller holds the transaction."""
    position = next_position(attempt)
    for n, (answer, call) in enumerate(pairs):
        call.attempt, call.position = attempt, position + n
        call.save()
        answer.attempt, answer.call = attempt, call
        answer.save()
