"""Pages about histories: the list, and one history with its probes and how each cell did."""

from dataclasses import replace

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from analysis import history_tables as tables
from analysis import selectors, store_tables
from analysis.notices import labels_of, notices_of
from analysis.views.common import PAGE_SIZE, filters_of, page_of
from analysis.views.tables_shown import shown_table, table_csv
from experiments.models import Study
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.models import Event, History

# What the page of a probe keeps of the address of its history.
HEAT_FILTERS = (*selectors.CELL_FIELDS, "repeats", "study")


@requires(Permission.VIEW)
def history_list(request: HttpRequest) -> HttpResponseBase:
    """All histories of the workspace, by collection."""
    chosen = request.GET.get("collection", "").replace("\x00", "")
    table = tables.histories(selectors.histories(workspace_of(request), chosen))
    if "csv" in request.GET:
        return table_csv(request, "", [table])
    context = {"nav": "histories", "shown": shown_table(request, table), "collection": chosen}
    return render(request, "histories/list.html", context)


@requires(Permission.VIEW)
def history_page(request: HttpRequest, history_id: int) -> HttpResponseBase:
    """One history: events in time order, probes, and the heat map of probes and cells."""
    history = get_object_or_404(History, pk=history_id, workspace=workspace_of(request))
    studies = selectors.studies_of_history(history)
    study = chosen_study(studies, request.GET.get("study", ""))
    cells = chosen_cells(request, history, study)
    found = selectors.stores(workspace_of(request), history.key)
    heat = tables.heat(history, study, cells, filters_of(request, HEAT_FILTERS))
    probes = tables.probes(history, study, request.GET.dict())
    stores = store_tables.stores(found, title="Stores made from it", page_name="stores_page")
    if "csv" in request.GET:
        labels = "; ".join(labels_of(study)) if study else ""
        return table_csv(request, history.key, [replace(heat, labels=labels), probes, stores])
    heads = list(zip(cells, heat.columns[1:-1], strict=True))
    context = {
        "nav": "histories", "history": history, "studies": studies, "study": study,
        "probes": shown_table(request, probes), "cells": cells, "heads": heads,
        "heat": shown_table(request, heat) if cells else None,
        "some_not_asked": any(not cell.evaluation.reader for cell in cells),
        "notices": notices_of(study, history=history) if study else None,
        "groups": selectors.by_format(cells), "events": events_page(request, history),
        "stores": shown_table(request, stores),
    }  # fmt: skip
    return render(request, "histories/history.html", context)


def events_page(request: HttpRequest, history: History) -> Page[Event]:
    """The page of events that `?events=` asks for, or the one that holds the event `?event=`."""
    events = history.events.all()
    wanted = events.filter(key=request.GET.get("event", "").replace("\x00", "")).first()
    if wanted is None or "events" in request.GET:
        return page_of(request, events, "events")
    before = events.filter(seq__lt=wanted.seq).count()
    return Paginator(events, PAGE_SIZE).get_page(before // PAGE_SIZE + 1)


def chosen_study(studies: list[Study], key: str) -> Study | None:
    """The study that the address names, else the newest one."""
    named = [study for study in studies if study.key == key]
    return next(iter(named or studies), None)


def chosen_cells(
    request: HttpRequest, history: History, study: Study | None
) -> list[selectors.Cell]:
    """The cells of a history in a study; those that the address names are marked."""
    if study is None:
        return []
    filters = filters_of(request, selectors.CELL_FIELDS)
    repeats = "repeats" in request.GET or filters.get("repeat", "0") != "0"
    return selectors.cells_of(history, study, filters=filters, repeats=repeats)
