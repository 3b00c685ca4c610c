"""Run one evaluation: show each probe's reading to the reader, score, commit, go on."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.models import Attempt, Evaluation
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.runtime.processes import this_process
from experiments.selectors import probes_asked, study_plan
from experiments.services.answers import keep_answers, next_position, reader_call, scored_answer
from experiments.services.asking import Question, asking_order, check_room
from experiments.services.attempts import complete_attempt, open_attempt
from experiments.services.execution import Outcome, Work, execute
from experiments.services.inputs import batch_size, embedder_call
from experiments.services.timing import TimedEmbedder
from stores.errors import InvalidInputError
from stores.formats.formats import FORMATS
from stores.formats.reading import reader_request
from stores.models import Store
from stores.roles import ChatModel, ChatRequest
from stores.selectors import history_value
from stores.workload.types import History


def evaluate(*, evaluation_id: int) -> Outcome:
    """Claim and run one evaluation; go on at the last committed answer of its open attempt."""
    return execute(Evaluation, evaluation_id, lambda work: _evaluate(evaluation_id, work))


@dataclass(frozen=True, slots=True)
class _Cell:
    """One evaluation with everything that its answers are made from."""

    evaluation: Evaluation
    plan: StudyPlan
    store: Store
    history: History
    work: Work

    @property
    def by_rank(self) -> bool:
        """Whether the format retrieves by rank."""
        return FORMATS[self.evaluation.format].needs_embedder


def _evaluate(evaluation_id: int, work: Work) -> None:
    cell = _load_cell(evaluation_id, work)
    reader = cell.plan.model(cell.evaluation.reader)
    budgets = cell.plan.budgets
    with engine_pool().chat_model(reader, context_tokens=budgets.context_tokens) as model:
        attempt = open_attempt(cell.evaluation, store=cell.store, reader=model.identity, work=work)
        answered = set(attempt.answers.values_list("probe_id", flat=True))
        embedder = _embedder(cell)
        questions = _questions(cell, embedder)
        check_room(
            questions,
            count_tokens=model.count_tokens,
            context_tokens=min(model.context_tokens, budgets.context_tokens),
            output_tokens=budgets.reader_output_tokens,
            reader=reader.key,
        )
        _keep_embedder_call(cell, attempt, embedder)
        missing = [question for question in questions if question.probe.pk not in answered]
        _ask(cell, attempt, model, missing)
    complete_attempt(attempt, work=work)


def _load_cell(evaluation_id: int, work: Work) -> _Cell:
    evaluation = Evaluation.objects.select_related(
        "run__study", "history", "build__store__content"
    ).get(pk=evaluation_id)
    if evaluation.condition != "normal":
        raise InvalidInputError(f"condition {evaluation.condition!r} is not known to this version")
    if evaluation.build is None or evaluation.build.store is None:
        raise InvalidInputError("the evaluation has no store to read")
    return _Cell(
        evaluation=evaluation,
        plan=study_plan(evaluation.run.study),
        store=evaluation.build.store,
        history=history_value(evaluation.history),
        work=work,
    )


def checked_content(store: Store) -> bytes:
    """Return a store's content; raise InvalidInputError where it is not what was kept."""
    content = bytes(store.content.data)
    if hashlib.sha256(content).hexdigest() != store.checksum:
        raise InvalidInputError(
            "the content of the store no longer matches its checksum",
            where=f"store {store.pk}",
            hint="Build it anew; numbers from this store cannot be trusted",
        )
    return content


def _embedder(cell: _Cell) -> TimedEmbedder | None:
    if not cell.evaluation.embedder:
        return None
    return TimedEmbedder(engine_pool().embedder(cell.plan.embedder(cell.evaluation.embedder)))


def _questions(cell: _Cell, embedder: TimedEmbedder | None) -> list[Question]:
    """All questions of the cell in asking order.

    All of them even on a resume: embeddings of a smaller batch could differ in their last bits.
    """
    evaluation, plan = cell.evaluation, cell.plan
    rows = probes_asked(evaluation.history, plan)
    probes = {probe.key: probe for probe in cell.history.probes}
    readings = FORMATS[evaluation.format].read(
        checked_content(cell.store),
        [probes[row.key] for row in rows],
        embedder=embedder,
        budget=write_budget(plan),
        prompts=plan.prompts,
    )
    name = "/".join((
        cell.history.key, evaluation.format, evaluation.writer, evaluation.reader,
        evaluation.embedder, evaluation.condition, evaluation.index,
    ))  # fmt: skip
    questions = [Question(row, reading) for row, reading in zip(rows, readings, strict=True)]
    return asking_order(questions, repeat=evaluation.repeat, cell=name, seed=plan.seed)


def _keep_embedder_call(cell: _Cell, attempt: Attempt, embedder: TimedEmbedder | None) -> None:
    if embedder is None or not embedder.calls:
        return
    call = embedder_call(
        embedder=cell.plan.embedder(cell.evaluation.embedder),
        position=next_position(attempt),
        wall_s=embedder.wall_s,
        worker=this_process(),
    )
    call.attempt = attempt
    with cell.work.commit():
        call.save()


def _ask(cell: _Cell, attempt: Attempt, model: ChatModel, questions: Sequence[Question]) -> None:
    """Ask what was not answered yet; each batch of answers is one transaction."""
    # An evaluation or a resume computes its store's prefix anew, whatever the engine holds. Where
    # probes share the instruction alone, it stays: an engine meets it in the same state each time.
    if any(question.reading.prefix for question in questions):
        model.forget()
    reader = cell.plan.model(cell.evaluation.reader)
    size = batch_size(reader)
    for start in range(0, len(questions), size):
        batch = questions[start : start + size]
        requests = [_request(cell, question) for question in batch]
        cell.work.check_stop()
        replies = model.chat(requests)
        pairs = [
            (
                scored_answer(
                    question, reply, history=cell.history, plan=cell.plan, by_rank=cell.by_rank
                ),
                reader_call(request, reply, reader=reader, identity=model.identity),
            )
            for question, request, reply in zip(batch, requests, replies, strict=True)
        ]
        with cell.work.commit():
            keep_answers(attempt, pairs)


def _request(cell: _Cell, question: Question) -> ChatRequest:
    output = cell.plan.budgets.reader_output_tokens
    return reader_request(question.reading, max_output_tokens=output, seed=cell.plan.seed)
