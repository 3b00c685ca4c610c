"""Writes: histories come in whole or not at all, and never change afterwards."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from memport_site.accounts.models import AuditEntry, User, Workspace
from stores import models
from stores.errors import InvalidInputError
from stores.selectors import history_value
from stores.workload.generator import GENERATOR_VERSION
from stores.workload.jsonl import history_record, probe_record
from stores.workload.parameters import SplitName
from stores.workload.types import History

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `unchanged` histories were kept already, with the same content."""

    created: tuple[str, ...]
    unchanged: tuple[str, ...]
    events: int
    probes: int


@transaction.atomic
def import_histories(
    *,
    histories: Sequence[History],
    workspace: Workspace,
    collection: str = "",
    split: str = models.History.Split.STUDY,
    source: str = models.History.Source.IMPORTED,
    source_detail: Mapping[str, Any] | None = None,
    user: User | None = None,
) -> ImportReport:
    """Keep histories with their events and probes, all or none.

    The same content again is no change. The values must have been checked (by
    `stores.workload.bundle.read_bundle` or by being generated).

    Raises
    ------
    InvalidInputError
        When a key is kept already with other content, in another collection or another split.
    """
    # Locked, so that of two imports of the same keys at the same time the second one compares.
    Workspace.objects.select_for_update().get(pk=workspace.pk)
    kept = {
        history.key: history
        for history in models.History.objects.filter(
            workspace=workspace, key__in=[h.key for h in histories]
        )
    }
    for value in histories:
        if value.key in kept:
            _require_same(kept[value.key], value, collection=collection, split=split)
    new = [value for value in histories if value.key not in kept]
    made = models.History.objects.bulk_create(
        models.History(
            workspace=workspace,
            key=value.key,
            title=value.title,
            source=source,
            source_detail=dict(source_detail or {}),
            split=split,
            collection=collection,
            checksum=value.checksum(),
        )
        for value in new
    )
    for row, value in zip(made, new, strict=True):
        _create_parts(row, value)
    report = ImportReport(
        created=tuple(value.key for value in new),
        unchanged=tuple(value.key for value in histories if value.key in kept),
        events=sum(len(value.events) for value in new),
        probes=sum(len(value.probes) for value in new),
    )
    if new:
        AuditEntry.objects.create(
            workspace=workspace,
            user=user,
            action="histories.import",
            subject=(collection or new[0].key)[:200],
            detail={"histories": len(new), "events": report.events, "probes": report.probes},
        )
    return report


@transaction.atomic
def keep_generated(
    *,
    generated: Mapping[SplitName, Sequence[History]],
    preset: str,
    seed: int,
    workspace: Workspace,
    user: User | None = None,
) -> ImportReport:
    """Keep generated histories, by split, in the collection `{preset}-s{seed}`."""
    reports = [
        import_histories(
            histories=histories,
            workspace=workspace,
            collection=f"{preset}-s{seed}",
            split=split,
            source=models.History.Source.SYNTHETIC,
            source_detail={"preset": preset, "seed": seed, "generator": GENERATOR_VERSION},
            user=user,
        )
        for split, histories in generated.items()
    ]
    return ImportReport(
        created=tuple(key for report in reports for key in report.created),
        unchanged=tuple(key for report in reports for key in report.unchanged),
        events=sum(report.events for report in reports),
        probes=sum(report.probes for report in reports),
    )


def _create_parts(row: models.History, value: History) -> None:
    models.Event.objects.bulk_create(
        (
            models.Event(
                history=row,
                key=event.key,
                seq=event.seq,
                at=event.at,
                actor=event.actor,
                text=event.text,
                fields=dict(event.fields) if event.fields is not None else None,
            )
            for event in value.events
        ),
        batch_size=_BATCH,
    )
    models.Probe.objects.bulk_create(
        (
            models.Probe(
                history=row,
                key=probe.key,
                position=position,
                kind=probe.kind,
                memory_class=probe.memory_class,
                question=probe.question,
                answer=probe.answer,
                evidence=list(probe.evidence),
                scoring={"method": probe.scoring.method, "threshold": probe.scoring.threshold},
                screening=probe.screening,
                tags=list(probe.tags),
            )
            for position, probe in enumerate(value.probes)
        ),
        batch_size=_BATCH,
    )


def _require_same(row: models.History, value: History, *, collection: str, split: str) -> None:
    """Refuse a key whose kept history differs, and say in what."""
    if row.split != split:
        raise InvalidInputError(
            f"history {row.key!r} is kept as one of the {row.split} split, not of {split}",
            hint="Calibration histories never mix with reported ones: use another key",
        )
    if row.collection != collection:
        raise InvalidInputError(
            f"history {row.key!r} is kept in collection {row.collection!r}, not {collection!r}",
            hint="Name that collection, or use another key",
        )
    old = history_value(row, with_quarantined=True)
    if _canonical(old) == _canonical(value):
        return
    part = "events" if old.checksum() != value.checksum() else "probes or title"
    raise InvalidInputError(
        f"history {row.key!r} is kept already, with other {part}",
        expected="the same content, or a new key",
        hint="A history never changes, because stores and answers are made from it",
    )


def _canonical(value: History) -> str:
    record = history_record(value) | {"probes": [probe_record(p) for p in value.probes]}
    return json.dumps(record, sort_keys=True)
