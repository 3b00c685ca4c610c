"""The answers behind a number: by history, then one by one; every filter is in the address."""

from collections.abc import Iterable
from itertools import chain

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from analysis import results, selectors, table_answers
from analysis.answer_pages import AnswersByHistory
from analysis.kept import at_hand
from analysis.notices import kept_notices
from analysis.views.common import filters_of, page_of, study_or_404
from experiments.models import Answer, Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def answer_list(request: HttpRequest, key: str) -> HttpResponse:
    """The answers of a study that its figures rest on, narrowed by the filters."""
    study = study_or_404(request, key)
    if study.source == study.Source.TABLE:
        return _of_table(request, study)
    filters = filters_of(request, (*selectors.ANSWER_FILTERS, "correct"))
    asked = repr(sorted(filters.items()))
    attempts = at_hand(study, f"attempts {asked}", lambda: selectors.attempts_of(study, filters))

    def find(chosen: Iterable[int]) -> QuerySet[Answer]:
        return selectors.answers(chosen, filters)

    histories = at_hand(
        study,
        f"counts {asked}",
        lambda: selectors.right_by_history(find(chain.from_iterable(attempts.values()))),
    )
    context = {
        "nav": "studies", "study": study, "filters": filters, "histories": histories,
        "notices": kept_notices(study),
        "page": page_of(request, AnswersByHistory(find, attempts, histories)),
        "choices": at_hand(study, "choices", lambda: selectors.answer_choices(study)),
        "retrieval": any(row["mean_recall"] is not None for row in histories),
    }  # fmt: skip
    return render(request, "studies/answers.html", context)


def _of_table(request: HttpRequest, study: Study) -> HttpResponse:
    filters = filters_of(request, table_answers.FILTERS)
    cube = results.kept_cube(study)
    histories, found = table_answers.find(cube, filters)
    context = {
        "nav": "studies", "study": study, "filters": filters, "page": page_of(request, found),
        "histories": histories, "choices": table_answers.choices(cube),
    }  # fmt: skip
    return render(request, "studies/table_answers.html", context)
