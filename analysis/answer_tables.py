"""The tables behind a number: answers by history, one by one, and the probes of a loss."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Case, QuerySet, Value, When
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.addresses import query_with
from analysis.answer_pages import AnswersInOrder
from analysis.cell_words import title_of
from analysis.labels import FORMAT_NAMES
from analysis.long_tables import LongTable, Rows, Sort, sort_query, text_of, words_for
from analysis.page_tables import Column, PageTable, Row
from analysis.page_tables import Value as Shown
from analysis.templatetags.memport import format_name, kind_name, reason_words
from experiments.models import Answer, Study

COUNTS = (Column("right", "Right", True), Column("scored", "Scored", True),
          Column("never_scored", "Never scored", True))  # fmt: skip
RETRIEVAL = (Column("not_asked", "Not asked", True), Column("recall", "Mean recall@8", True))
VERDICTS = {"right": ("✓ right", "good"), "wrong": ("✗ wrong", "bad"),
            "never scored": ("· never scored", ""), "not asked": ("not asked", "")}  # fmt: skip
EVALUATION = "attempt__evaluation"
Query = Mapping[str, str]


def verdict(result: str, note: str = "") -> Shown:
    """Whether an answer is right: undefined where it was never scored, or not asked for."""
    words, css = VERDICTS[result]
    known = result in ("right", "wrong")
    return Shown(result if known else None, words, note,
                 more={"status": "ok" if known else result, "reason": note or None},
                 css=f"label {css}".rstrip())  # fmt: skip


def by_history(rows: Iterable[Mapping[str, Any]], study: Study, query: Query) -> PageTable:
    """Right, scored and unscored answers of each history; `query`: the filters of the address."""
    rows = list(rows)
    ranked = any(row["mean_recall"] is not None for row in rows)
    columns = (Column("history", "History"), *COUNTS, *(RETRIEVAL if ranked else ()))
    kept = query_with(query, {"history": None, "study": study.key})
    return PageTable("histories", "Right answers by history", columns,
                     tuple(_of_history(row, kept) for row in rows))  # fmt: skip


def _of_history(row: Mapping[str, Any], query: str) -> Row:
    url = reverse("history", args=[row[f"{EVALUATION}__history"]]) + query
    return {
        "history": pt.text(row[f"{EVALUATION}__history__key"], url=url),
        "right": pt.count(row["n_right"]),
        "scored": pt.count(row["n_scored"]),
        "never_scored": pt.count(row["n_unscored"]),
        "not_asked": pt.count(row["n_not_asked"]),
        "recall": Shown(None, "–") if row["mean_recall"] is None
        else pt.number(row["mean_recall"], pt.fraction),
    }  # fmt: skip


def answers(found: Rows, query: QuerySet[Answer], n_answers: int, study: Study) -> LongTable:
    """Every answer: `found` in the order of the histories, `query` to be sorted otherwise."""
    columns = (
        Column("probe", "Probe"), Column("history", "History"), Column("kind", "Kind"),
        Column("cell", "Cell"), Column("answer", "Answer"),
        Column("right_answer", "Right answer"), Column("verdict", "Verdict"),
    )  # fmt: skip
    kept = f"?{urlencode({'study': study.key})}"

    def write(shown: Sequence[Answer]) -> list[Row]:
        return [_answer(one, kept) for one in shown]

    return LongTable("answers", "One by one", columns, found, _sort(query, n_answers), write)


def _sort(query: QuerySet[Answer], n_answers: int) -> Sort:
    cell = ("reader", "writer", "condition", "index", "repair", "rung", "repeat", "embedder")
    keys = {
        "probe": [Lower("probe__question")],
        "history": [Lower("probe__history__key")],
        "kind": [Lower("probe__kind")],
        "cell": [words_for(f"{EVALUATION}__format", FORMAT_NAMES),
                 *(f"{EVALUATION}__{name}" for name in cell)],
        "answer": [text_of("text"), "rank"],
        "right_answer": [Lower("probe__answer")],
        "verdict": [Case(When(correct=True, then=Value(0)), When(correct=False, then=Value(1)))],
    }  # fmt: skip
    then = (f"{EVALUATION}__history__key", "probe__position", f"{EVALUATION}__position", "pk")
    by = sort_query(query, keys, then=then)

    def sort(key: str, descending: bool) -> Rows:
        ordered = by(key, descending)
        assert isinstance(ordered, QuerySet)
        return AnswersInOrder(ordered, n_answers)

    return sort


def _answer(answer: Any, query: str) -> Row:
    cell, probe = answer.attempt.evaluation, answer.probe
    name, title = format_name(cell.format), title_of(cell)
    url = f"{reverse('probe', args=[answer.probe_id])}{query}#cell-{cell.pk}"
    history = reverse("history", args=[probe.history_id]) + query
    return {
        "probe": Shown(probe.question, pt.shortened(probe.question, 110), url=url,
                       more={"key": probe.key}),
        "history": Shown(probe.history.key, probe.history.key, url=history, css="nowrap"),
        "kind": pt.text(kind_name(probe.kind), raw=probe.kind),
        "cell": Shown(name, name, title, more={"title": title}),
        "answer": _said(answer, bool(cell.reader)),
        "right_answer": pt.code(probe.answer, 60),
        "verdict": _verdict(answer, bool(cell.reader)),
    }  # fmt: skip


def _said(answer: Answer, asked: bool) -> Shown:
    more = {"rank": answer.rank}
    if asked:
        return Shown(answer.text or None, pt.shortened(answer.text, 120) or "(empty)", more=more)
    ranked = f"first evidence at rank {answer.rank}"
    words = ranked if answer.rank else "no evidence among the first 8"
    return Shown(None, words, more=more, css="quiet")


def _verdict(answer: Answer, asked: bool) -> Shown:
    if answer.correct:
        return verdict("right")
    if not asked:
        return verdict("not asked")
    if answer.correct is None:
        return verdict("never scored")
    return verdict("wrong", reason_words(answer.reason))
