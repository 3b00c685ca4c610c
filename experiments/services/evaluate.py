"""Run one evaluation: show each probe's reading to the reader, score, commit, go on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from experiments.models import Attempt, Call, Evaluation
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.runtime.processes import this_process
from experiments.selectors import probes_asked, study_plan
from experiments.services.answers import keep_answers, next_position, reader_call, scored_answer
from experiments.services.asking import Question, asking_order, check_room
from experiments.services.attempts import complete_attempt, open_attempt
from experiments.services.conditions import (
    WITHOUT_STORE,
    check_condition,
    readings_without_store,
    reads_normally,
    stored_readings,
)
from experiments.services.execution import Outcome, Work, execute
from experiments.services.indexes import index_readings
from experiments.services.inputs import batch_size, embedder_call
from experiments.services.retrieval import keep_ranks
from experiments.services.stored import checked_content
from experiments.services.timing import TimedEmbedder
from stores.errors import InvalidInputError
from stores.formats.base import Reading
from stores.formats.formats import FORMATS
from stores.formats.reading import reader_request
from stores.models import Store
from stores.roles import ChatModel, ChatRequest
from stores.selectors import history_value
from stores.workload.types import History, Probe


def evaluate(*, evaluation_id: int) -> Outcome:
    """Claim and run one evaluation; go on at the last committed answer of its open attempt."""
    return execute(Evaluation, evaluation_id, lambda work: _evaluate(evaluation_id, work))


@dataclass(frozen=True, slots=True)
class _Cell:
    """One evaluation with everything that its answers are made from; some read no store."""

    evaluation: Evaluation
    plan: StudyPlan
    store: Store | None
    history: History
    work: Work

    @property
    def by_rank(self) -> bool:
        """Whether the cell retrieves by rank."""
        return reads_normally(self.evaluation) and FORMATS[self.evaluation.format].needs_embedder


def _evaluate(evaluation_id: int, work: Work) -> None:
    cell = _load_cell(evaluation_id, work)
    if not cell.evaluation.reader:
        _rank(cell)
        return
    reader = cell.plan.model(cell.evaluation.reader)
    budgets = cell.plan.budgets
    with engine_pool().chat_model(reader, context_tokens=budgets.context_tokens) as model:
        attempt = open_attempt(cell.evaluation, store=cell.store, reader=model.identity, work=work)
        answered = set(attempt.answers.values_list("probe_id", flat=True))
        questions, embedder_calls = _questions(cell)
        check_room(
            questions,
            count_tokens=model.count_tokens,
            context_tokens=min(model.context_tokens, budgets.context_tokens),
            output_tokens=budgets.reader_output_tokens,
            reader=reader.key,
        )
        _keep_embedder_calls(cell, attempt, embedder_calls)
        missing = [question for question in questions if question.probe.pk not in answered]
        _ask(cell, attempt, model, missing)
    complete_attempt(attempt, work=work)


def _rank(cell: _Cell) -> None:
    """Nobody reads this cell: keep what was retrieved, and ask for no answer."""
    attempt = open_attempt(cell.evaluation, store=cell.store, reader=None, work=cell.work)
    questions, embedder_calls = _questions(cell)
    _keep_embedder_calls(cell, attempt, embedder_calls)
    keep_ranks(attempt, questions, top_k=cell.plan.budgets.top_k, work=cell.work)
    complete_attempt(attempt, work=cell.work)


def _load_cell(evaluation_id: int, work: Work) -> _Cell:
    evaluation = Evaluation.objects.select_related(
        "run__study", "history", "build__store__content"
    ).get(pk=evaluation_id)
    check_condition(evaluation.condition)
    store = evaluation.build.store if evaluation.build is not None else None
    if store is None and evaluation.condition not in WITHOUT_STORE:
        raise InvalidInputError("the evaluation has no store to read")
    return _Cell(
        evaluation=evaluation,
        plan=study_plan(evaluation.run.study),
        store=store,
        history=history_value(evaluation.history),
        work=work,
    )


# What makes the unsaved records of the embedders' work, given the number of the next call.
EmbedderCalls = Callable[[int], list[Call]]


def _questions(cell: _Cell) -> tuple[list[Question], EmbedderCalls]:
    """All questions of the cell in asking order, and what their embedding cost.

    All of them even on a resume: embeddings of a smaller batch could differ in their last bits.
    """
    evaluation, plan = cell.evaluation, cell.plan
    rows = probes_asked(evaluation.history, plan)
    probes = {probe.key: probe for probe in cell.history.probes}
    readings, embedder_calls = _readings(cell, [probes[row.key] for row in rows])
    name = "/".join((
        cell.history.key, evaluation.format, evaluation.writer, evaluation.reader,
        evaluation.embedder, evaluation.condition, evaluation.index,
    ))  # fmt: skip
    questions = [Question(row, reading) for row, reading in zip(rows, readings, strict=True)]
    ordered = asking_order(questions, repeat=evaluation.repeat, cell=name, seed=plan.seed)
    return ordered, embedder_calls


def _readings(cell: _Cell, asked: Sequence[Probe]) -> tuple[list[Reading], EmbedderCalls]:
    """What each probe is shown under the cell's condition."""
    evaluation, plan = cell.evaluation, cell.plan
    if cell.store is None:
        return readings_without_store(evaluation, plan, cell.history, asked), _no_calls
    content = checked_content(cell.store)
    if evaluation.condition == "stored_evidence":
        return stored_readings(evaluation, plan, content, cell.history, asked), _no_calls
    if evaluation.index:
        return index_readings(evaluation, plan, content, asked)
    return _read_store(cell, content, asked)


def _no_calls(_first: int) -> list[Call]:
    return []


def _read_store(
    cell: _Cell, content: bytes, asked: Sequence[Probe]
) -> tuple[list[Reading], EmbedderCalls]:
    """Read the store as its format does."""
    part, embedder = None, None
    if cell.evaluation.embedder:
        part = cell.plan.embedder(cell.evaluation.embedder)
        embedder = TimedEmbedder(engine_pool().embedder(part))
    readings = FORMATS[cell.evaluation.format].read(
        content,
        asked,
        embedder=embedder,
        budget=write_budget(cell.plan),
        prompts=cell.plan.prompts,
    )

    def calls(first: int) -> list[Call]:
        if part is None or embedder is None or not embedder.calls:
            return []
        worker = this_process()
        return [embedder_call(embedder=part, position=first, wall_s=embedder.wall_s, worker=worker)]

    return readings, calls


def _keep_embedder_calls(cell: _Cell, attempt: Attempt, embedder_calls: EmbedderCalls) -> None:
    calls = embedder_calls(next_position(attempt))
    if not calls:
        return
    with cell.work.commit():
        for call in calls:
            call.attempt = attempt
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
