"""Addresses of sorted tables and of their downloads; files of tables that have no address."""

from base64 import b64encode

from django import template
from django.template.context import RequestContext
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from analysis.addresses import query_with
from analysis.long_tables import LongTable
from analysis.page_tables import Column, PageTable, Value

register = template.Library()


@register.simple_tag(takes_context=True)
def sort_query(context: RequestContext, table: PageTable | LongTable, column: Column) -> str:
    """The query string that sorts a table by a column, from its first page on.

    By the column that it is sorted by already: the other way round.
    """
    back = table.sorted_by == column.key and not table.descending
    order = f"{'-' if back else ''}{table.key}.{column.key}"
    changes = {"sort": order, table.page_name: None}
    return f"{query_with(context['request'].GET.dict(), changes)}#table-{table.key}"


@register.simple_tag(takes_context=True)
def csv_query(context: RequestContext, table: PageTable | LongTable) -> str:
    """The query string that downloads a table as it is sorted and filtered now."""
    return query_with(context["request"].GET.dict(), {"csv": table.key})


@register.filter
def csv_file(table: PageTable) -> str:
    """The download of a table as an address that holds the whole file."""
    return f"data:text/csv;charset=utf-8;base64,{b64encode(table.csv_text().encode()).decode()}"


@register.filter
def sort_key(value: Value) -> SafeString | str:
    """What a script sorts a cell by where the text is not enough: a number, or nothing at all."""
    if value.raw is None:
        return mark_safe(" data-none")
    if isinstance(value.raw, str):
        return "" if value.raw == value.text else format_html(' data-text="{}"', value.raw)
    return format_html(' data-number="{}"', repr(float(value.raw)))
