"""Keeping stores: complete, once per identity, addressed by content."""

import hashlib
from dataclasses import replace
from typing import Any

import pytest

from stores.formats.base import ProbeCoverage, SpanCoverage, WriteBudget, Written
from stores.keeping import coverage_summary, find_store, identity_hash, keep_store
from stores.models import Blob, Store
from stores.roles import ModelIdentity
from stores.workload.generator import generate
from tests.factories import BagEmbedder, a_history, a_workspace

WRITER = ModelIdentity(key="m", engine="scripted", revision="1", fingerprint="abc")
BUDGET = WriteBudget(writer_output_tokens=100)
PARTS: dict[str, Any] = {
    "history_checksum": "h", "format": "notes", "writer": WRITER, "embedder": None,
    "budget": BUDGET, "recipe": {"prompt": "p"},
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"history_checksum": "other"},
        {"format": "kg_fixed"},
        {"writer": replace(WRITER, fingerprint="another file")},
        {"writer": replace(WRITER, engine_version="2")},
        {"writer": None},
        {"embedder": BagEmbedder().generation},
        {"budget": replace(BUDGET, writer_output_tokens=101)},
        {"budget": replace(BUDGET, seed=1)},
        {"recipe": {"prompt": "another comma"}},
        {"index": "old"},
        {"parent": "a store"},
    ],
)
def test_everything_that_decides_the_content_is_in_the_identity(change: dict[str, Any]) -> None:
    assert identity_hash(**{**PARTS, **change}) != identity_hash(**PARTS)


def test_what_only_the_read_path_uses_is_not() -> None:
    assert identity_hash(**{**PARTS, "budget": replace(BUDGET, top_k=3)}) == identity_hash(**PARTS)


def kept(content: bytes, *, identity: str = "i") -> Store:
    workspace = a_workspace()
    history = a_history(workspace, generate("tiny", seed=7)[0])
    return keep_store(
        workspace=workspace, identity=identity, history=history, format="notes",
        written=Written(content, notices=("one window hit its limit",)), coverage=(),
        budget=BUDGET, writer=WRITER,
    )  # fmt: skip


@pytest.mark.django_db
class TestKeeping:
    def test_a_store_is_inserted_with_content_and_checksum(self) -> None:
        store = kept(b"what is remembered")
        assert bytes(store.content.data) == b"what is remembered"
        assert store.checksum == hashlib.sha256(b"what is remembered").hexdigest()
        assert store.size_bytes == store.content.size_bytes == 18
        assert store.notices == ["one window hit its limit"]
        assert find_store(workspace=a_workspace(), identity="i") == store

    def test_a_second_store_of_the_same_identity_is_the_first_one(self) -> None:
        first = kept(b"first")
        assert kept(b"second") == first
        assert bytes(Store.objects.get().content.data) == b"first"

    def test_equal_bytes_are_kept_once(self) -> None:
        one, two = kept(b"same", identity="1"), kept(b"same", identity="2")
        assert one.content_id == two.content_id
        assert Blob.objects.count() == 1


def test_coverage_counts_spans_entities_and_whole_probes() -> None:
    def span(state: Any, with_entity: bool | None) -> SpanCoverage:
        return SpanCoverage("e1", "AB-1234", state, with_entity)

    coverage = [
        ProbeCoverage("p1", (span("kept", True), span("kept", False))),
        ProbeCoverage("p2", (span("kept", None), span("changed", None))),
        ProbeCoverage("p3", (), undefined_because="the answer is not in the evidence's words"),
    ]
    found = coverage_summary(coverage)
    assert (found["spans_required"], found["spans_kept"], found["spans_with_entity"]) == (4, 3, 1)
    assert (found["probes"], found["probes_whole"]) == (2, 1)
    assert found["undefined_because"] == {"p3": "the answer is not in the evidence's words"}
    assert found["by_probe"]["p1"][0]["state"] == "kept"
