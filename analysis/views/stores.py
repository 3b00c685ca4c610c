"""Pages about stores: the list, and one store with its content, provenance and coverage."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from analysis import selectors, store_contents
from analysis.views.common import page_of
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.models import Store


@requires(Permission.VIEW)
def store_list(request: HttpRequest) -> HttpResponse:
    """All stores of the workspace."""
    found = selectors.stores(
        workspace_of(request), request.GET.get("history", ""), request.GET.get("format", "")
    )
    return render(request, "stores/list.html", {"nav": "stores", "page": page_of(request, found)})


@requires(Permission.VIEW)
def store_page(request: HttpRequest, store_id: int) -> HttpResponse:
    """One store: what it holds, who made it, whether it is intact, which evidence survived."""
    query = Store.objects.select_related("history", "content", "parent")
    store = get_object_or_404(query, pk=store_id, workspace=workspace_of(request))
    content = store_contents.contents_of(store)
    context = {
        "nav": "stores", "store": store, "content": content,
        "page": page_of(request, content.items, "items"),
        "coverage": page_of(request, store_contents.coverage_rows(store), "probes"),
        "provenance": store_contents.provenance(store),
        "entities_known": store_contents.entities_known(store),
        "scripted": store_contents.is_scripted(store),
        "used_by": store_contents.used_by(store),
    }  # fmt: skip
    return render(request, "stores/store.html", context)
