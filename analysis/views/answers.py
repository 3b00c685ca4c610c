"""The answers behind a number: by history, then one by one; every filter is in the address."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from analysis import results, selectors, table_answers
from analysis.notices import notices_of
from analysis.views.common import filters_of, page_of, study_or_404
from experiments.models import Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def answer_list(request: HttpRequest, key: str) -> HttpResponse:
    """The answers of a study that its figures rest on, narrowed by the filters."""
    study = study_or_404(request, key)
    if study.source == study.Source.TABLE:
        return _of_table(request, study)
    filters = filters_of(request, (*selectors.ANSWER_FILTERS, "correct"))
    found = selectors.answers(study, filters)
    context = {
        "nav": "studies", "study": study, "filters": filters, "page": page_of(request, found),
        "histories": selectors.right_by_history(found),
        "notices": notices_of(study),
        "choices": selectors.answer_choices(study),
        "retrieval": found.exclude(recall=None).exists(),
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
