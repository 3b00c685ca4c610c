"""The further pages of a study; a table of each can be sorted and downloaded by its address."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render

from analysis import study_view
from analysis.notices import shown_notices
from analysis.page_parts import Asked
from analysis.study_parts import BY_SLUG, made, offered
from analysis.views.common import study_or_404
from analysis.views.tables_shown import shown, table_csv
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def part_page(request: HttpRequest, key: str, slug: str) -> HttpResponseBase:
    """One page of a study: its sections, or one of its tables as CSV where `?csv=` names it."""
    study = study_or_404(request, key)
    report = study_view.report_of(study)
    page = made(BY_SLUG[slug], Asked(study, report, request.GET.dict()))
    sort = request.GET.get("sort", "")
    if "csv" in request.GET:
        return table_csv(request, study.key, page.tables)
    context = {
        "nav": "studies", "study": study, "report": report, "part": slug, "page": page,
        "parts": offered(report), "sort": sort, "notices": shown_notices(study, report),
        "sections": [shown(request, section) for section in page.sections],
    }  # fmt: skip
    return render(request, "studies/part.html", context)
