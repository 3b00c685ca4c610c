"""The tables of a run page: its evaluations and its stores, each with its time and its cost."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Case, OuterRef, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis import run_view
from analysis.labels import FORMAT_NAMES, STATES
from analysis.long_tables import LongTable, sort_query, text_of, words_for
from analysis.page_tables import Column, Row
from analysis.run_view import Spent
from analysis.templatetags.memport import build_extras, cell_extras, duration, format_name, usd
from experiments.models import Call, Evaluation, Job, Run, StoreBuild

SPENT = (Column("engine_s", "Engine time", True), Column("cost_usd", "Cost, US dollars", True),
         Column("error", "Notes"))  # fmt: skip
# The order in which work goes on.
STATE_ORDER = {state: place for place, state in enumerate(Job.State.values)}


def evaluations(run: Run, *, labels: str = "") -> LongTable:
    """Every evaluation of a run, in the order of work."""
    found = run_view.evaluations(run)
    columns = (
        Column("history", "History"), Column("format", "Format"), Column("writer", "Writer"),
        Column("reader", "Reader"), Column("state", "State"), *SPENT,
    )  # fmt: skip
    keys = {
        "history": [text_of("history__key")],
        "format": [words_for("format", FORMAT_NAMES)],
        "writer": [text_of("writer")],
        "reader": [text_of("reader")],
        **_spent_keys("attempt__evaluation"),
    }

    def write(shown: Sequence[Evaluation]) -> list[Row]:
        return [_evaluation(run, spent) for spent in run_view.spent_on_evaluations(shown)]

    return LongTable("evaluations", "Evaluations", columns, found,
                     sort_query(found, keys, then=("position",)), write, "evaluations",
                     labels=labels)  # fmt: skip


def _evaluation(run: Run, spent: Spent) -> Row:
    e: Any = spent.job
    cell = {"study": run.study.key, "format": e.format, "writer": e.writer, "reader": e.reader,
            "repeat": e.repeat}  # fmt: skip
    notes = [f"{key}: {value}" for key, value in e.varied.items()]
    notes += [f"{spent.n_attempts} attempts"] if spent.n_attempts > 1 else []
    return {
        "history": _history(e, cell),
        "format": _format(e.format, cell_extras(e)),
        "writer": nobody(e.writer),
        "reader": nobody(e.reader),
        **_spent(spent, "; ".join(notes)),
    }


def builds(run: Run, *, labels: str = "") -> LongTable:
    """Every store of a run, in the order of work."""
    found = run_view.builds(run)
    columns = (
        Column("history", "History"), Column("format", "Format"), Column("made_by", "Made by"),
        Column("state", "State"), *SPENT,
    )  # fmt: skip
    keys = {
        "history": [text_of("history__key")],
        "format": [words_for("format", FORMAT_NAMES)],
        "made_by": [Coalesce(text_of("writer"), text_of("embedder"))],
        **_spent_keys("build"),
    }

    def write(shown: Sequence[StoreBuild]) -> list[Row]:
        return [_build(run, spent) for spent in run_view.spent_on_builds(shown)]

    return LongTable("stores", "Stores", columns, found,
                     sort_query(found, keys, then=("position",)), write, "stores",
                     labels=labels)  # fmt: skip


def _build(run: Run, spent: Spent) -> Row:
    build: Any = spent.job
    url = reverse("store", args=[build.store_id]) if build.store_id else ""
    notes = ["reused: built by an earlier run"] if build.reused else []
    notes += [str(notice) for notice in build.store.notices] if build.store else []
    return {
        "history": _history(build, {"study": run.study.key}),
        "format": _format(build.format, build_extras(build), url),
        "made_by": nobody(build.writer or build.embedder),
        **_spent(spent, " ".join(notes)),
    }


def _format(name: str, extras: str, url: str = "") -> pt.Value:
    shown = format_name(name)
    return pt.Value(shown, shown, extras, url, {"cell": extras})


def _history(job: Any, query: dict[str, Any]) -> pt.Value:
    url = f"{reverse('history', args=[job.history_id])}?{urlencode(query)}"
    return pt.Value(job.history.key, job.history.key, url=url, css="nowrap")


def nobody(key: str, words: str = "nobody") -> pt.Value:
    """A model's key; `words` where there is none."""
    return pt.Value(key or None, key or words)


def _spent(spent: Spent, notes: str) -> dict[str, pt.Value]:
    css, words = STATES.get(spent.job.state, ("", spent.job.state))
    error = spent.job.error[:1].upper() + spent.job.error[1:]
    more = {"notes": notes or None}
    return {
        "state": pt.label(spent.job.state, words, css),
        "engine_s": pt.Value(spent.engine_s, duration(spent.engine_s)),
        "cost_usd": pt.Value(spent.cost_usd, usd(spent.cost_usd)),
        "error": pt.Value(error or None, error, notes, more=more, css="field-error" * bool(error)),
    }


def _spent_keys(owner: str) -> dict[str, Sequence[Any]]:
    states = [When(state=state, then=Value(place)) for state, place in STATE_ORDER.items()]
    return {
        "state": [Case(*states)],
        "engine_s": [_sum_of(owner, "engine_s")],
        "cost_usd": [_sum_of(owner, "cost_usd")],
        "error": [text_of("error")],
    }


def _sum_of(owner: str, name: str) -> Subquery:
    """What the calls of each job took: a sum per row, and only where it decides the order."""
    calls = Call.objects.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
    return Subquery(calls.annotate(sum=Sum(name)).values("sum"))
