"""Tables on pages: in the order and page that the address asks for, or as a download."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.core.paginator import Page
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import get_valid_filename

from analysis.long_tables import LongTable
from analysis.page_parts import Section
from analysis.page_tables import PageTable
from analysis.views.common import page_of

AnyTable = PageTable | LongTable


class Shown(NamedTuple):
    """A table in its order, the page of it that is shown, and what counts its pages."""

    table: AnyTable
    page: Page[Any]
    name: str


def shown(request: HttpRequest, section: Section) -> tuple[Section, list[Shown]]:
    """A section with its tables in the order and page that the address asks for."""
    return section, [shown_table(request, table) for table in section.tables]


def shown_table(request: HttpRequest, table: AnyTable) -> Shown:
    """A table in the order and page that the address asks for."""
    table = table.in_order(request.GET.get("sort", ""))
    if isinstance(table, PageTable):
        page = page_of(request, table.cells, table.page_name)
    else:
        page = page_of(request, table.found, table.page_name, size=table.page_size)
        page.object_list = table.cells_of(list(page.object_list))
    return Shown(table, page, table.page_name)


def table_csv(request: HttpRequest, stem: str, tables: Iterable[AnyTable]) -> HttpResponseBase:
    """The table that `?csv=` names, every row with all digits; Http404 where there is none."""
    named = (table for table in tables if table.key == request.GET["csv"])
    table = next(named, None)
    if table is None:
        raise Http404("there is no such table on this page")
    table = table.in_order(request.GET.get("sort", ""))
    response: HttpResponseBase
    if isinstance(table, PageTable):
        response = HttpResponse(table.csv_text(), content_type="text/csv; charset=utf-8")
    else:
        lines = table.csv_lines()
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = get_valid_filename("-".join(filter(None, (stem, f"{table.key}.csv"))))
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response
