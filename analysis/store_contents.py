"""What a store holds, in a form for people, and whether it is still what was written."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.models import Evaluation, Repair, Study
from stores.formats.formats import FORMATS
from stores.models import History, Probe, Store

STATES = ("kept", "changed", "missing")


@dataclass(frozen=True, slots=True)
class Contents:
    """The items of a store; `problem` says in words why they cannot be shown."""

    items: Sequence[Mapping[str, Any]]
    intact: bool
    actual_checksum: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """The required evidence of one probe in a store."""

    probe: Probe | None
    key: str
    spans: Sequence[Mapping[str, Any]]
    whole: bool


def contents_of(store: Store) -> Contents:
    """Read a store's content; content that no longer matches its checksum is said to be so."""
    data = bytes(store.content.data)
    actual = hashlib.sha256(data).hexdigest()
    intact = actual == store.checksum
    memory_format = FORMATS.get(store.format)
    if memory_format is None:
        return Contents((), intact, actual, f"This version knows no format “{store.format}”.")
    try:
        items = memory_format.describe(data)
    except (ValueError, KeyError, TypeError) as error:
        return Contents((), intact, actual, f"The content cannot be read: {error}")
    return Contents(items, intact, actual)


def coverage_rows(store: Store) -> list[CoverageRow]:
    """The evidence of each probe in this store, in the order of the probes."""
    by_probe: Mapping[str, Sequence[Mapping[str, Any]]] = store.coverage.get("by_probe", {})
    probes = {probe.key: probe for probe in store.history.probes.all()}
    order = {key: position for position, key in enumerate(probes)}
    return [
        CoverageRow(probes.get(key), key, spans, all(span.get("state") == "kept" for span in spans))
        for key, spans in sorted(by_probe.items(), key=lambda pair: order.get(pair[0], len(order)))
    ]


def entities_known(store: Store) -> bool:
    """Whether the history says which entity the evidence belongs to; free text does not."""
    spans = [span for spans in store.coverage.get("by_probe", {}).values() for span in spans]
    return any(span.get("with_entity") is not None for span in spans)


def provenance(store: Store) -> list[tuple[str, str]]:
    """Everything that decided the content, as label and text; what does not apply is left out."""
    rows = [
        ("History checksum", store.history_checksum),
        ("Writer", _identity(store.writer, store.writer_identity)),
        ("Embedder", _identity(store.embedder, store.embedder_generation)),
        ("Index", store.index),
        ("Repair", _repair(store)),
        (
            "Prompt",
            f"{store.prompt_version} ({store.prompt_sha256})" if store.prompt_sha256 else "",
        ),
        ("Schema", store.schema_version),
        ("Budget", ", ".join(f"{key} {value}" for key, value in sorted(store.budget.items()))),
        ("Seed", str(store.seed)),
        ("Code version", store.code_version),
        ("Identity", store.identity),
        ("Content checksum", store.checksum),
    ]
    return [(label, text) for label, text in rows if text]


def _repair(store: Store) -> str:
    """The method, rung and cost of the repair that made a store; '' for all others."""
    repair = Repair.objects.filter(store=store).first()
    if repair is None:
        return ""
    text = f"{repair.method} by {repair.repairer}, rung {repair.rung}: "
    if repair.hit_output_limit:
        text += "failed at its output limit, the whole allowance is charged; "
    text += f"{repair.cost_tokens:,} tokens, {repair.engine_s:.1f} s, ${repair.cost_usd:.4f}"
    return f"{text} (allowance {repair.allowance_tokens:,} output tokens)"


def _identity(key: str, detail: Mapping[str, Any]) -> str:
    if not key:
        return ""
    parts = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in detail.items()
        if value not in (key, "", None)
    ]
    return f"{key}: {', '.join(parts)}" if parts else key


def is_scripted(store: Store) -> bool:
    """Whether the scripted engine, which is no model, wrote this store or embedded it."""
    identities = (store.writer_identity, store.embedder_generation)
    return any((identity or {}).get("engine") == "scripted" for identity in identities)


def used_by(store: Store) -> list[Study]:
    """The studies that read this store."""
    ids = Evaluation.objects.filter(attempts__store=store).values("run__study")
    return list(Study.objects.filter(pk__in=ids))


def damaged_stores(study: Study, *, history: History | None = None) -> list[Store]:
    """The stores that a study reads (of one history) whose content does not match its checksum."""
    stores = Store.objects.filter(builds__run__study=study).distinct()
    if history is not None:
        stores = stores.filter(history=history)
    damaged = [
        pk
        for pk, checksum, data in stores.values_list("pk", "checksum", "content__data").iterator()
        if hashlib.sha256(bytes(data)).hexdigest() != checksum
    ]
    return list(Store.objects.filter(pk__in=damaged).select_related("history").order_by("pk"))
