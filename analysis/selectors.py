"""What the pages show about studies, histories and stores. Every query stays in one workspace."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.db.models import Avg, Count, OuterRef, Q, QuerySet, Subquery

from analysis.answer_filters import ANY, EMPTY, NONE, meant
from analysis.cell_words import reads_inherited, short_title_of, title_of
from analysis.observations import COLUMNS, headline_attempts
from analysis.stats.indexes import migrated_share
from experiments.models import Answer, Attempt, Evaluation, Run, Study
from memport_site.accounts.models import Workspace
from stores.models import Event, History, Probe, Store

CELL_FIELDS = (
    "format", "writer", "reader", "embedder", "index", "repair", "rung", "condition", "repeat",
)  # fmt: skip
CELL_FILTERS = {
    name: f"evaluation__{name}"
    for name in ("format", "writer", "reader", "embedder", "index", "repair", "rung", "condition",
                 "repeat")
} | {"history": "evaluation__history__key"}  # fmt: skip
PROBE_FILTERS = {"kind": "probe__kind", "memory_class": "probe__memory_class", "reason": "reason"}
ANSWER_FILTERS = (*CELL_FILTERS, *PROBE_FILTERS)
FORMAT_ORDER = ("lc_raw", "rag", "notes", "kg_fixed")
RIGHT_VALUES = {"right": True, "wrong": False, "unscored": None}


@dataclass(frozen=True, slots=True)
class Cell:
    """One evaluation as a column: what was read, by whom, and how it went."""

    evaluation: Evaluation
    attempt: Attempt | None
    chosen: bool = False

    @property
    def inherited(self) -> bool:
        """Whether the reader reads what another model wrote."""
        return reads_inherited(self.evaluation)

    @property
    def cell(self) -> "Cell":
        """Itself: paths and cells are grouped in the same way."""
        return self

    @property
    def short(self) -> str:
        """The column's head below its format."""
        return short_title_of(self.evaluation)

    @property
    def title(self) -> str:
        """Who reads whose store, in words."""
        return title_of(self.evaluation)


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """One probe and its answer in every cell, in the order of the cells; None: no answer."""

    probe: Probe
    answers: tuple[Answer | None, ...]
    n_right: int
    n_scored: int
    cells: tuple[Cell, ...]

    @property
    def pairs(self) -> list[tuple[Cell, Answer | None]]:
        """Each cell with its answer."""
        return list(zip(self.cells, self.answers, strict=True))


def counted_attempts(study: Study, history: History | None = None) -> list[int]:
    """The attempts that headline figures use: the same rule as the statistics', by their ids."""
    attempts = Attempt.objects.filter(evaluation__run__study=study)
    if history is not None:
        attempts = attempts.filter(evaluation__history=history)
    return [row["id"] for row in headline_attempts(attempts)]


def studies(workspace: Workspace) -> QuerySet[Study]:
    """All studies of a workspace, the newest first."""
    return Study.objects.filter(workspace=workspace).prefetch_related("runs")


def run_of(workspace: Workspace, run_id: int) -> QuerySet[Run]:
    """The run with this id, if it is of this workspace."""
    return Run.objects.filter(pk=run_id, study__workspace=workspace).select_related("study")


def histories(workspace: Workspace, collection: str = "") -> QuerySet[History]:
    """The histories of a workspace with their sizes, by collection and key."""
    found = History.objects.filter(workspace=workspace).order_by("collection", "key")
    if collection:
        found = found.filter(collection=collection)
    return found.annotate(n_events=_number_of(Event), n_probes=_number_of(Probe))


def _number_of(model: type[Event] | type[Probe]) -> Subquery:
    """How many rows of `model` a history has; a subquery each, for joins would multiply them."""
    rows = model._default_manager.filter(history=OuterRef("pk")).order_by().values("history")
    return Subquery(rows.annotate(n=Count("pk")).values("n"))


def studies_of_history(history: History) -> list[Study]:
    """The studies that hold evaluations of a history, the newest first."""
    ids = Evaluation.objects.filter(history=history).values("run__study")
    return list(Study.objects.filter(pk__in=ids).order_by("-created_at"))


def cells_of(
    history: History, study: Study, *, filters: Mapping[str, str], repeats: bool = False
) -> list[Cell]:
    """The evaluations of one history in one study, each with the attempt that counts.

    `filters` hides nothing: the cells that match are marked as chosen.
    """
    evaluations = Evaluation.objects.filter(history=history, run__study=study)
    if not repeats:
        evaluations = evaluations.filter(repeat=0)
    counted = Attempt.objects.filter(pk__in=counted_attempts(study, history))
    attempts = {attempt.evaluation_id: attempt for attempt in counted.select_related("store")}
    columns: dict[tuple[Any, ...], Evaluation] = {}
    for evaluation in sorted(evaluations, key=_column_order):
        key = tuple(getattr(evaluation, name) for name in COLUMNS[1:])
        # Where several runs hold a cell, the one whose answers count is shown.
        if key not in columns or evaluation.pk in attempts:
            columns[key] = evaluation
    return [Cell(e, attempts.get(e.pk), _matches(e, filters)) for e in columns.values()]


def _column_order(evaluation: Evaluation) -> tuple[object, ...]:
    """By format, the usual cells first, the reader's own store before the inherited one."""
    e = evaluation
    known = FORMAT_ORDER.index(e.format) if e.format in FORMAT_ORDER else len(FORMAT_ORDER)
    return (
        known,
        e.format,
        bool(e.repair),
        e.condition != "normal",
        e.condition,
        _index_order(e.index),
        e.embedder,
        e.reader,
        e.writer != e.reader,
        e.writer,
        e.repair,
        e.rung,
        e.repeat,
        e.pk,
    )


def _index_order(index: str) -> tuple[int, float, str]:
    """What is no index first, then old, then by the migrated share, then the others."""
    share = migrated_share(index)
    if share is None:
        return (0 if index in ("", "old") else 2, 0.0, index)
    return (1, share, index)


def by_format(columns: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """Group columns (each with a `cell`) by their format, in their order."""
    grouped = groupby(columns, key=lambda column: column.cell.evaluation.format)
    return [(name, list(group)) for name, group in grouped]


def _matches(evaluation: Evaluation, filters: Mapping[str, str]) -> bool:
    wanted = {name: filters[name] for name in CELL_FIELDS if name in filters}
    if wanted.get("index") == NONE:
        wanted["index"] = ""
    return bool(wanted) and all(str(getattr(evaluation, n)) == v for n, v in wanted.items())


def probe_rows(probes: Sequence[Probe], cells: Sequence[Cell]) -> list[ProbeRow]:
    """The heat map: one row per probe, one answer per cell."""
    attempts = [cell.attempt.pk if cell.attempt else 0 for cell in cells]
    answers = {
        (answer.attempt_id, answer.probe_id): answer
        for answer in Answer.objects.filter(attempt__in=attempts, probe__in=probes).only(
            "attempt_id", "probe_id", "correct", "reason", "rank"
        )
    }
    rows = []
    for probe in probes:
        row = tuple(answers.get((attempt, probe.pk)) for attempt in attempts)
        scored = [answer for answer in row if answer is not None and answer.correct is not None]
        n_right = sum(bool(answer.correct) for answer in scored)
        rows.append(ProbeRow(probe, row, n_right, len(scored), tuple(cells)))
    return rows


def attempts_of(study: Study, filters: Mapping[str, str]) -> dict[str, list[int]]:
    """By history, the ids of the attempts that headline figures use in the cells of an address."""
    wanted = _cell_filters(filters)
    if not all(wanted.get(f"evaluation__{name}", "0").isdecimal() for name in ("repeat", "rung")):
        return {}
    attempts = Attempt.objects.filter(evaluation__run__study=study, **wanted)
    found: dict[str, list[int]] = {}
    for row in headline_attempts(attempts):
        found.setdefault(row["evaluation__history__key"], []).append(row["id"])
    return found


def answers(attempts: Iterable[int], filters: Mapping[str, str]) -> QuerySet[Answer]:
    """The answers of attempts, narrowed by the filters of an address, history by history."""
    found = Answer.objects.filter(attempt__in=list(attempts))
    for name, column in PROBE_FILTERS.items():
        if filters.get(name):
            found = found.filter(**{column: filters[name]})
    if "correct" in filters and filters["correct"] in RIGHT_VALUES:
        found = found.filter(correct=RIGHT_VALUES[filters["correct"]])
    return found.select_related("probe__history", "attempt__evaluation").order_by(
        "attempt__evaluation__history__key", "probe__position", "attempt__evaluation__position"
    )


def _cell_filters(filters: Mapping[str, str]) -> dict[str, str]:
    """Conditions on the evaluation; `none` means an empty index, repair or rung."""
    return {
        CELL_FILTERS[name]: EMPTY.get(name, value) if value == NONE else value
        for name, value in meant(filters).items()
        if name in CELL_FILTERS
    }


NOBODY = Q(attempt__evaluation__reader="")


def right_by_history(found: QuerySet[Answer]) -> list[Any]:
    """Right, scored and unscored answers of each history among `found`."""
    return list(
        found.order_by()
        .values("attempt__evaluation__history", "attempt__evaluation__history__key")
        .annotate(
            n_right=Count("pk", filter=Q(correct=True)),
            n_scored=Count("pk", filter=Q(correct__isnull=False)),
            n_unscored=Count("pk", filter=Q(correct__isnull=True) & ~NOBODY),
            n_not_asked=Count("pk", filter=NOBODY),
            n_answers=Count("pk"),
            mean_recall=Avg("recall"),
        )
        .order_by("attempt__evaluation__history__key")
    )


def answer_choices(study: Study) -> dict[str, list[str]]:
    """The values that each filter of the answers page can take."""
    cells = Evaluation.objects.filter(run__study=study)
    probes = Probe.objects.filter(history__in=cells.values("history"))
    choices = {
        name: sorted(set(cells.order_by().values_list(name, flat=True)) - {""})
        for name in ("format", "writer", "reader", "embedder", "index", "repair", "condition")
    }
    choices["repair"] += [ANY] if choices["repair"] else []
    choices["history"] = sorted(set(cells.order_by().values_list("history__key", flat=True)))
    choices["kind"] = sorted(set(probes.order_by().values_list("kind", flat=True)))
    choices["correct"] = list(RIGHT_VALUES)
    return choices


def stores(workspace: Workspace, history: str = "", format_name: str = "") -> QuerySet[Store]:
    """The stores of a workspace, without their content."""
    found = Store.objects.filter(workspace=workspace).select_related("history")
    if history:
        found = found.filter(history__key=history)
    if format_name:
        found = found.filter(format=format_name)
    return found.order_by("history__key", "format", "writer", "pk")


def neighbours(probe: Probe) -> tuple[Probe | None, Probe | None]:
    """The probes before and after this one in its history."""
    siblings = Probe.objects.filter(history=probe.history_id)
    before = siblings.filter(position__lt=probe.position).order_by("-position").first()
    after = siblings.filter(position__gt=probe.position).order_by("position").first()
    return before, after


def asked(study: Study) -> dict[str, Any]:
    """What a study asks, counted: histories, probes, evaluations and their formats."""
    cells = Evaluation.objects.filter(run__study=study)
    first = cells.order_by("history__key").select_related("history").first()
    return {
        "n_histories": cells.order_by().values("history").distinct().count(),
        "n_evaluations": cells.count(),
        "n_complete": cells.filter(state=Evaluation.State.COMPLETE).count(),
        "histories": History.objects.filter(pk__in=cells.values("history")).order_by("key"),
        "collection": first.history.collection if first else "",
    }
