"""The tables about histories: all of them, the probes of one, and its probes by cells."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, Lower
from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.addresses import query_with
from analysis.long_tables import PAGE_SIZE, LongTable, sort_query, text_of
from analysis.page_tables import Column, Row, Value
from analysis.selectors import Cell, ProbeRow, probe_rows
from analysis.templatetags.memport import format_name, kind_name, reason_words
from experiments.models import Answer, Study
from stores.models import History, Probe

SHOWN_CHARS = 90
# Results on one page of the heat map; each takes some 200 bytes.
HEAT_CELLS = 1000


def histories(found: QuerySet[History]) -> LongTable:
    """All histories of a workspace with their sizes."""
    columns = (
        Column("history", "History"), Column("collection", "Collection"),
        Column("source", "Source"), Column("used_for", "Used for"),
        Column("events", "Events", True), Column("probes", "Probes", True),
    )  # fmt: skip
    keys = {
        "history": [Coalesce(text_of("title"), Lower("key"))],
        "collection": [text_of("collection")],
        "source": ["source"],
        "used_for": ["split"],
        "events": [Coalesce("n_events", 0)],
        "probes": [Coalesce("n_probes", 0)],
    }
    return LongTable("histories", "Histories", columns, found,
                     sort_query(found, keys, then=("collection", "key")),
                     lambda shown: [_history(one) for one in shown])  # fmt: skip


def _history(history: Any) -> Row:
    other = history.key if history.title and history.title != history.key else ""
    name, collection = str(history), history.collection
    url = f"?{urlencode({'collection': collection})}" if collection else ""
    only = history.split == History.Split.CALIBRATION
    return {
        "history": Value(name, name, other, reverse("history", args=[history.pk]),
                         {"key": history.key}),
        "collection": Value(collection or None, collection or "–", url=url),
        "source": pt.text(history.get_source_display(), raw=history.source),
        "used_for": pt.label(history.split, "calibration only") if only
        else pt.text("studies", raw=history.split),
        "events": pt.count(history.n_events or 0),
        "probes": pt.count(history.n_probes or 0),
    }  # fmt: skip


def probes(history: History, study: Study | None, query: Mapping[str, str]) -> LongTable:
    """The probes of one history; `query`: the address of the page, which an event is added to."""
    columns = (
        Column("question", "Question"), Column("answer", "Right answer"), Column("kind", "Kind"),
        Column("class", "Class"), Column("evidence", "Evidence"),
    )  # fmt: skip
    found = history.probes.all()
    keys: dict[str, list[Any]] = {
        "question": [Lower("question")], "answer": [Lower("answer")], "kind": [Lower("kind")],
        "class": [Lower("memory_class")], "evidence": [KT("evidence__0")],
    }  # fmt: skip
    of_study = f"?{urlencode({'study': study.key})}" if study else ""

    def row(probe: Probe) -> Row:
        url = reverse("probe", args=[probe.pk]) + of_study
        gone = f"quarantined: {probe.quarantined_because}" if probe.quarantined_because else ""
        more = {"key": probe.key, "quarantined": probe.quarantined_because or None}
        return {
            "question": Value(probe.question, probe.question, gone, url, more),
            "answer": pt.code(probe.answer, 200),
            "kind": pt.text(kind_name(probe.kind), raw=probe.kind),
            "class": pt.text(probe.memory_class),
            "evidence": pt.links([(str(key), _event(query, str(key))) for key in probe.evidence]),
        }

    return LongTable("probes", "Probes", columns, found,
                     sort_query(found, keys, then=("position",)),
                     lambda shown: [row(one) for one in shown], "probes_page")  # fmt: skip


def _event(query: Mapping[str, str], key: str) -> str:
    """The address of the page that holds an event of this history."""
    return f"{query_with(query, {'event': key, 'events': None})}#event-{quote(key)}"


def heat(
    history: History, study: Study | None, cells: Sequence[Cell], query: Mapping[str, str]
) -> LongTable:
    """How each cell did on each probe: 1 right, 0 wrong; where answers were not asked, the rank.

    `query`: the filters of the address, which the page of a probe keeps.
    """
    names = cell_keys(cells)
    columns = (Column("probe", "Probe"),
               *(Column(name, cell.short) for name, cell in zip(names, cells, strict=True)),
               Column("right", "Right", True))  # fmt: skip
    found = history.probes.all()
    keys: dict[str, list[Any]] = {"probe": [Lower("question")], "right": [_n_right(cells)]}
    keys |= {name: [_result(cell)] for name, cell in zip(names, cells, strict=True)}
    of_study = study.key if study else ""

    def write(shown: Sequence[Probe]) -> list[Row]:
        return [_heat_row(row, names, of_study, query) for row in probe_rows(shown, cells)]

    size = min(PAGE_SIZE, max(10, HEAT_CELLS // max(1, len(cells))))
    sort = sort_query(found, keys, then=("position",))
    return LongTable("heat", "How each cell did on each probe", columns, found, sort, write,
                     page_size=size)  # fmt: skip


def cell_keys(cells: Sequence[Cell]) -> list[str]:
    """A name for each cell in a download: its format and who reads what; each only once."""
    names: list[str] = []
    for cell in cells:
        name = f"{format_name(cell.evaluation.format)}: {cell.title}"
        names.append(f"{name} #{cell.evaluation.pk}" if name in names else name)
    return names


def _heat_row(row: ProbeRow, names: Sequence[str], study: str, query: Mapping[str, str]) -> Row:
    probe, url = row.probe, reverse("probe", args=[row.probe.pk])
    shown = pt.shortened(probe.question, SHOWN_CHARS)
    results = {
        name: _heat_cell(cell, answer, f"{url}?{urlencode({'study': study})}")
        for name, (cell, answer) in zip(names, row.pairs, strict=True)
    }
    here = url + query_with(query, {"study": study})
    more = {"key": probe.key, "kind": probe.kind}
    return {
        "probe": Value(probe.question, shown, kind_name(probe.kind), here, more),
        **results,
        "right": Value(row.n_right, f"{row.n_right} of {row.n_scored}",
                       more={"scored": row.n_scored}),
    }  # fmt: skip


def _heat_cell(cell: Cell, answer: Answer | None, url: str) -> Value:
    css, raw, sign, words = _result_words(cell, answer)
    chosen = f"{css} chosen" if cell.chosen else css
    at = f"{url}#cell-{cell.evaluation.pk}" if answer else ""
    return Value(raw, sign, words, at, css=chosen)


def _result_words(cell: Cell, answer: Answer | None) -> tuple[str, int | None, str, str]:
    """Style, value, sign and words of one answer."""
    if answer is None:
        return "never", None, "·", "no answer yet"
    if not cell.evaluation.reader:
        sign = "> 8" if answer.rank is None else str(answer.rank)
        return "num", answer.rank, sign, "answers were not asked; rank of the first evidence chunk"
    if answer.correct is None:
        return "never", None, "·", "never scored"
    if answer.correct:
        return "right", 1, "✓", "right"
    return "wrong", 0, "✗", f"wrong: {reason_words(answer.reason)}"


def _result(cell: Cell) -> Subquery:
    """The answer of one cell to each probe: whether it is right, or the rank of its evidence."""
    attempt = cell.attempt.pk if cell.attempt else 0
    answers = Answer.objects.filter(attempt=attempt, probe=OuterRef("pk"))
    return Subquery(answers.values("correct" if cell.evaluation.reader else "rank")[:1])


def _n_right(cells: Sequence[Cell]) -> Subquery:
    attempts = [cell.attempt.pk for cell in cells if cell.attempt]
    answers = Answer.objects.filter(attempt__in=attempts, probe=OuterRef("pk")).order_by()
    counted = answers.values("probe").annotate(n=Count("pk", filter=Q(correct=True)))
    return Subquery(counted.values("n"))
