"""The further pages of a study; a table of each can be sorted and downloaded by its address."""

from typing import Any

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analysis import page_tables, study_view
from analysis.notices import shown_notices
from analysis.page_parts import Asked, PartPage
from analysis.page_tables import PageTable
from analysis.study_parts import BY_SLUG, made, offered
from analysis.views.common import page_of, study_or_404
from experiments.models import Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def part_page(request: HttpRequest, key: str, slug: str) -> HttpResponse:
    """One page of a study: its sections, or one of its tables as CSV where `?csv=` names it."""
    study = study_or_404(request, key)
    report = study_view.report_of(study)
    page = made(BY_SLUG[slug], Asked(study, report, request.GET.dict()))
    sort = request.GET.get("sort", "")
    if "csv" in request.GET:
        return _csv(study, page, request.GET["csv"], sort)
    context = {
        "nav": "studies", "study": study, "report": report, "part": slug, "page": page,
        "parts": offered(report), "sort": sort, "notices": shown_notices(study, report),
        "sections": [
            (section, [_shown(request, table.in_order(sort)) for table in section.tables])
            for section in page.sections
        ],
    }  # fmt: skip
    return render(request, "studies/part.html", context)


def _shown(request: HttpRequest, table: PageTable) -> tuple[PageTable, Page[Any], str]:
    """A table with the page of its rows that the address asks for."""
    name = f"{table.key}_page"
    return table, page_of(request, table.cells, name), name


def _csv(study: Study, page: PartPage, wanted: str, sort: str) -> HttpResponse:
    table = page_tables.download(list(page.tables), wanted)
    if table is None:
        raise Http404("there is no such table on this page")
    text = table.in_order(sort).csv_text()
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    name = f"{study.key}-{table.key}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
