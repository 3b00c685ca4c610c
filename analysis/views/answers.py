"""The answers behind a number: by history, then one by one; every filter is in the address."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from analysis import answer_tables, results, selectors, table_answer_tables, table_answers
from analysis.answer_pages import AnswersByHistory
from analysis.kept import at_hand
from analysis.notices import kept_notices, labels_of
from analysis.views.common import filters_of, study_or_404
from analysis.views.tables_shown import AnyTable, shown_table, table_csv
from experiments.models import Answer, Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def answer_list(request: HttpRequest, key: str) -> HttpResponseBase:
    """The answers of a study that its figures rest on, narrowed by the filters."""
    study = study_or_404(request, key)
    if study.source == study.Source.TABLE:
        return _of_table(request, study)
    filters = filters_of(request, (*selectors.ANSWER_FILTERS, "correct"))
    asked = repr(sorted(filters.items()))
    attempts = at_hand(study, f"attempts {asked}", lambda: selectors.attempts_of(study, filters))
    everything = list(chain.from_iterable(attempts.values()))

    def find(chosen: Iterable[int]) -> QuerySet[Answer]:
        return selectors.answers(chosen, filters)

    counts = at_hand(study, f"counts {asked}", lambda: selectors.right_by_history(find(everything)))
    listed = AnswersByHistory(find, attempts, counts)
    tables = (
        answer_tables.by_history(counts, study, filters),
        answer_tables.answers(listed, find(everything), len(listed), study),
    )
    context = {
        "filters": filters, "notices": kept_notices(study),
        "choices": at_hand(study, "choices", lambda: selectors.answer_choices(study)),
    }  # fmt: skip
    return _shown(request, study, tables, "studies/answers.html", context)


def _of_table(request: HttpRequest, study: Study) -> HttpResponseBase:
    filters = filters_of(request, table_answers.FILTERS)
    cube = results.kept_cube(study)
    counts, found = table_answers.find(cube, filters)
    query = request.GET.dict()
    tables = (
        table_answer_tables.by_history(counts, query),
        table_answer_tables.answers(found, query),
    )
    context = {"filters": filters, "choices": table_answers.choices(cube)}
    return _shown(request, study, tables, "studies/table_answers.html", context)


def _shown(
    request: HttpRequest, study: Study, tables: tuple[AnyTable, AnyTable], template: str,
    context: dict[str, Any],
) -> HttpResponseBase:  # fmt: skip
    """Both tables on their page, or one of them as a download, its labels in every row."""
    if "csv" in request.GET:
        labels = "; ".join(labels_of(study))
        return table_csv(request, study.key, [replace(one, labels=labels) for one in tables])
    histories, listed = (shown_table(request, one) for one in tables)
    context |= {"nav": "studies", "study": study, "histories": histories, "listed": listed}
    return render(request, template, context)
