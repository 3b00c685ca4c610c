"""The tables about stores: all of them, and of one its evidence and its items."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from django.db import connection
from django.db.models import F, FloatField, Func, IntegerField, QuerySet
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Lower, NullIf
from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES
from analysis.long_tables import LongTable, sort_query, text_of, words_for
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.run_tables import nobody
from analysis.store_contents import Contents, CoverageRow
from analysis.templatetags.memport import bytes_text, format_name
from stores.models import Store

SPAN_STATES = {"kept": ("✓ kept", "good"), "changed": ("≈ changed", "warn")}


class _Length(Func):
    """How many parts a JSON list has."""

    output_field = IntegerField()

    def __init__(self, name: str) -> None:
        function = "jsonb" if connection.vendor == "postgresql" else "json"
        super().__init__(F(name), function=f"{function}_array_length")


def stores(found: QuerySet[Store], *, title: str = "Stores", page_name: str = "page") -> LongTable:
    """Stores without their content and their coverage probe by probe."""
    found = found.defer("coverage").annotate(
        n_kept=_number("spans_kept"), n_required=_number("spans_required")
    )
    share = Cast("n_kept", FloatField()) / NullIf(Cast("n_required", FloatField()), 0.0)
    columns = (
        Column("store", "Store"), Column("history", "History"), Column("writer", "Writer"),
        Column("embedder", "Embedder"), Column("size_bytes", "Size", True),
        Column("evidence_kept", "Evidence kept", True), Column("notices", "Notices", True),
    )  # fmt: skip
    keys = {
        "store": [words_for("format", FORMAT_NAMES)],
        "history": [Lower("history__key")],
        "writer": [text_of("writer")],
        "embedder": [text_of("embedder")],
        "size_bytes": ["size_bytes"],
        "evidence_kept": [share],
        "notices": [_Length("notices")],
    }
    return LongTable("stores", title, columns, found,
                     sort_query(found, keys, then=("history__key", "format", "writer", "pk")),
                     lambda shown: [_store(one) for one in shown], page_name)  # fmt: skip


def _number(name: str) -> Cast:
    return Cast(KT(f"coverage__{name}"), IntegerField())


def _store(store: Any) -> Row:
    kept, of = store.n_kept or 0, store.n_required
    history = str(store.history)
    name, n = format_name(store.format), len(store.notices)
    return {
        "store": Value(name, name, url=reverse("store", args=[store.pk]), more={"id": store.pk}),
        "history": Value(store.history.key, history,
                         url=reverse("history", args=[store.history_id])),
        "writer": nobody(store.writer),
        "embedder": nobody(store.embedder, "none"),
        "size_bytes": Value(store.size_bytes, bytes_text(store.size_bytes)),
        "evidence_kept": Value(kept / of if of else None, f"{kept} of {of}" if of else "–",
                               more={"spans": kept if of else None, "required": of or None}),
        "notices": Value(n, str(n) if n else "none", css="label warn" if n else "",
                         more={"text": " ".join(map(str, store.notices)) or None}),
    }  # fmt: skip


def coverage(store: Store, rows: Iterable[CoverageRow], *, labels: str = "") -> PageTable:
    """Every piece of evidence in this store, probe by probe."""
    columns = (Column("probe", "Probe"), Column("evidence", "Evidence"),
               Column("state", "In this store"), Column("found_in", "Found in"))  # fmt: skip
    address = event_address(store)
    spans = tuple(_span(row, span, address) for row in rows for span in row.spans)
    return PageTable("probes", "Evidence by probe", columns, spans, labels=labels)


def _span(row: CoverageRow, span: Any, address: Callable[[str], str]) -> Row:
    question = row.probe.question if row.probe else row.key
    url = reverse("probe", args=[row.probe.pk]) if row.probe else ""
    words, css = SPAN_STATES.get(span["state"], ("✗ missing", "bad"))
    apart = span["state"] == "kept" and span.get("with_entity") is False
    found, event = str(span.get("found_in") or ""), str(span["event"])
    with_entity = span.get("with_entity")
    return {
        "probe": Value(question, pt.shortened(question, 110), url=url, more={"key": row.key}),
        "evidence": replace(pt.code(str(span["span"]), 80), note=event, url=address(event),
                            more={"event": event}),
        "state": Value(str(span["state"]), words, "without its entity" if apart else "",
                       more={"with_entity": None if with_entity is None else int(with_entity)},
                       css=f"label {css}"),
        "found_in": Value(found or None, pt.shortened(found, 60) or "–"),
    }  # fmt: skip


def items(store: Store, content: Contents, *, labels: str = "") -> PageTable:
    """What the store holds, item by item, in its own order."""
    columns = (Column("item", "Item"), Column("text", "Text"), Column("events", "From events"))
    address = event_address(store)
    rows = tuple(_item(entry, address) for entry in content.items)
    return PageTable("items", "Content", columns, rows, labels=labels)


def _item(entry: Any, address: Callable[[str], str]) -> Row:
    words = str(entry["text"])
    return {
        "item": pt.text(str(entry["item"])),
        "text": Value(words, words, css="imported"),
        "events": pt.links([(str(key), address(str(key))) for key in entry["events"]]),
    }


def event_address(store: Store) -> Callable[[str], str]:
    """The address of an event of the history that a store was made from."""
    history = reverse("history", args=[store.history_id])
    return lambda key: f"{history}?{urlencode({'event': key})}#event-{quote(key)}"
