"""Pages about stores: the list, and one store with its content, provenance and coverage."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from analysis import selectors, store_contents, store_tables
from analysis.views.tables_shown import shown_table, table_csv
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.models import Store


@requires(Permission.VIEW)
def store_list(request: HttpRequest) -> HttpResponseBase:
    """All stores of the workspace."""
    query = {name: request.GET.get(name, "").replace("\x00", "") for name in ("history", "format")}
    found = selectors.stores(workspace_of(request), query["history"], query["format"])
    table = store_tables.stores(found)
    if "csv" in request.GET:
        return table_csv(request, "", [table])
    context = {"nav": "stores", "shown": shown_table(request, table)}
    return render(request, "stores/list.html", context)


@requires(Permission.VIEW)
def store_page(request: HttpRequest, store_id: int) -> HttpResponseBase:
    """One store: what it holds, who made it, whether it is intact, which evidence survived."""
    query = Store.objects.select_related("history", "content", "parent")
    store = get_object_or_404(query, pk=store_id, workspace=workspace_of(request))
    content, scripted = store_contents.contents_of(store), store_contents.is_scripted(store)
    labels = "scripted" if scripted else ""
    items = store_tables.items(store, content, labels=labels)
    coverage = store_tables.coverage(store, store_contents.coverage_rows(store), labels=labels)
    if "csv" in request.GET:
        stem = f"{store.history.key}-{store.format}-{store.pk}"
        return table_csv(request, stem, [items, coverage])
    context = {
        "nav": "stores", "store": store, "content": content,
        "items": shown_table(request, items), "coverage": shown_table(request, coverage),
        "provenance": store_contents.provenance(store),
        "entities_known": store_contents.entities_known(store),
        "scripted": scripted, "used_by": store_contents.used_by(store),
    }  # fmt: skip
    return render(request, "stores/store.html", context)
