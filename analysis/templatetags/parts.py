"""Addresses of sorted tables and of their downloads."""

from django import template
from django.http import QueryDict
from django.template.context import RequestContext

from analysis.page_tables import Column, PageTable

register = template.Library()


@register.simple_tag(takes_context=True)
def sort_query(context: RequestContext, table: PageTable, column: Column) -> str:
    """The query string that sorts a table by a column; by the sorted one the other way round."""
    back = table.sorted_by == column.key and not table.descending
    sign = "-" if back else ""
    return f"{_changed(context, 'sort', f'{sign}{table.key}.{column.key}')}#table-{table.key}"


@register.simple_tag(takes_context=True)
def csv_query(context: RequestContext, table: PageTable) -> str:
    """The query string that downloads a table as it is sorted and filtered now."""
    return _changed(context, "csv", table.key)


def _changed(context: RequestContext, name: str, value: str) -> str:
    params = QueryDict(mutable=True)
    params.update(context["request"].GET.dict())
    params[name] = value
    return f"?{params.urlencode()}"
