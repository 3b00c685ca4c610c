"""Reads of histories and stores."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, QuerySet

from memport_site.accounts.models import Workspace
from stores import models
from stores.workload.types import Event, History, Probe, Scoring


def history_value(history: models.History, *, with_quarantined: bool = False) -> History:
    """Return a kept history as the value it was imported from, with its probes.

    A quarantined probe is left out unless it is asked for: it counts nowhere.
    """
    return History(
        key=history.key,
        title=history.title,
        events=tuple(_event_value(event) for event in history.events.order_by("seq")),
        probes=tuple(
            probe_value(probe, history_key=history.key)
            for probe in history.probes.order_by("position")
            if with_quarantined or not probe.quarantined_because
        ),
    )


def _event_value(event: models.Event) -> Event:
    return Event(
        key=event.key,
        seq=event.seq,
        text=event.text,
        at=event.at,
        actor=event.actor,
        fields=event.fields,
    )


def probe_value(probe: models.Probe, *, history_key: str) -> Probe:
    """Return a kept probe as a value."""
    return Probe(
        key=probe.key,
        history=history_key,
        kind=probe.kind,
        question=probe.question,
        answer=probe.answer,
        evidence=tuple(probe.evidence),
        memory_class=probe.memory_class,
        scoring=Scoring(**probe.scoring),
        screening=probe.screening,
        tags=tuple(probe.tags),
    )


def histories(
    *, workspace: Workspace, collection: str | None = None, split: str | None = None
) -> QuerySet[models.History]:
    """Return the kept histories of a workspace, by key."""
    found = models.History.objects.filter(workspace=workspace).order_by("key")
    if collection is not None:
        found = found.filter(collection=collection)
    if split is not None:
        found = found.filter(split=split)
    return found


def histories_by_key(
    *, workspace: Workspace, keys: Iterable[str]
) -> tuple[list[models.History], list[str]]:
    """Return the histories with these keys, in this order, and the keys that are not kept."""
    keys = list(keys)
    found = {h.key: h for h in models.History.objects.filter(workspace=workspace, key__in=keys)}
    return [found[key] for key in keys if key in found], [key for key in keys if key not in found]


def history_rows(*, workspace: Workspace) -> list[dict[str, Any]]:
    """Return one row per kept history: key, title, collection, split, source and its sizes."""
    # Counted apart: one join of both would make events x probes rows of every history.
    events, probes = (
        dict(
            model.objects.filter(history__workspace=workspace)
            .order_by()
            .values_list("history_id")
            .annotate(Count("id"))
        )
        for model in (models.Event, models.Probe)
    )
    return [
        {
            "key": row.key,
            "title": row.title,
            "collection": row.collection,
            "split": row.split,
            "source": row.source,
            "events": events.get(row.pk, 0),
            "probes": probes.get(row.pk, 0),
        }
        for row in histories(workspace=workspace)
    ]
