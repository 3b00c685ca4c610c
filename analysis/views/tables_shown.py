"""Tables on pages: in the order and page that the address asks for, or as a download."""

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse

from analysis import page_tables
from analysis.page_parts import Section
from analysis.page_tables import PageTable
from analysis.views.common import page_of
from experiments.models import Study

Shown = tuple[PageTable, Page[Any], str]


def shown(request: HttpRequest, section: Section) -> tuple[Section, list[Shown]]:
    """A section with its tables in the order and page that the address asks for."""
    sort = request.GET.get("sort", "")
    return section, [_shown(request, table.in_order(sort)) for table in section.tables]


def _shown(request: HttpRequest, table: PageTable) -> Shown:
    name = f"{table.key}_page"
    return table, page_of(request, table.cells, name), name


def table_csv(study: Study, tables: Iterable[PageTable], wanted: str, sort: str) -> HttpResponse:
    """One table as CSV with all digits; Http404 where the page has no such table."""
    table = page_tables.download(list(tables), wanted)
    if table is None:
        raise Http404("there is no such table on this page")
    text = table.in_order(sort).csv_text()
    response = HttpResponse(text, content_type="text/csv; charset=utf-8")
    name = f"{study.key}-{table.key}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
