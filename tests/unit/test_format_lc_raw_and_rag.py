"""The two formats that no model writes."""

import json

import pytest

from stores.errors import InvalidInputError
from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.formats.rag import chunk_events
from stores.formats.reading import TEMPLATE_TOKENS, reader_request, required_tokens
from stores.workload.generator import generate
from stores.workload.types import Event
from tests.unit.format_fakes import HISTORY, HashedEmbedder, generation

BUDGET = WriteBudget(writer_output_tokens=1)
LC_RAW, RAG = FORMATS["lc_raw"], FORMATS["rag"]


def test_the_registry_holds_exactly_the_four_formats() -> None:
    assert list(FORMATS) == ["lc_raw", "rag", "notes", "kg_fixed"]
    assert all(FORMATS[name].name == name for name in FORMATS)


def test_the_transcript_is_the_shared_prefix_and_the_question_comes_last() -> None:
    content = LC_RAW.write(HISTORY, writer=None, embedder=None, budget=BUDGET).content
    one, two = LC_RAW.read(content, HISTORY.probes, embedder=None, budget=BUDGET)
    assert one.prefix == two.prefix
    assert all(event.text in one.prefix for event in HISTORY.events)
    assert one.suffix == HISTORY.probes[0].question
    assert one.evidence_ranks is None


def test_a_reading_depends_on_its_own_probe_alone() -> None:
    embedder = HashedEmbedder()
    history = generate("small", seed=3, split="calibration")[0]
    for memory_format in (LC_RAW, RAG):
        written = memory_format.write(history, writer=None, embedder=embedder, budget=BUDGET)
        together = memory_format.read(
            written.content, history.probes, embedder=embedder, budget=BUDGET
        )
        alone = memory_format.read(
            written.content, history.probes[7:8], embedder=embedder, budget=BUDGET
        )
        assert alone == together[7:8]


def test_equal_histories_give_equal_bytes_and_no_event_fields() -> None:
    contents = {
        LC_RAW.write(HISTORY, writer=None, embedder=None, budget=BUDGET).content for _ in range(2)
    }
    (content,) = contents
    assert b"predicate" not in content


def test_chunks_hold_whole_events_and_stay_under_their_size() -> None:
    history = generate("small", seed=3)[0]
    groups = chunk_events(history.events, 512)
    assert [event for group in groups for event in group] == list(history.events)
    content = RAG.write(history, writer=None, embedder=HashedEmbedder(), budget=BUDGET).content
    lengths = [len(item["text"]) for item in RAG.describe(content)]
    assert max(lengths) <= 512
    assert sum(lengths) / len(lengths) > 350


def test_an_event_longer_than_a_chunk_is_a_chunk_by_itself() -> None:
    events = [Event("a", 1, "x" * 700), Event("b", 2, "y"), Event("c", 3, "z")]
    assert [[e.key for e in group] for group in chunk_events(events, 512)] == [["a"], ["b", "c"]]


def test_rag_shows_the_nearest_chunks_in_the_order_of_the_history() -> None:
    history = generate("small", seed=3, split="calibration")[0]
    embedder, budget = HashedEmbedder(), WriteBudget(writer_output_tokens=1, top_k=4)
    content = RAG.write(history, writer=None, embedder=embedder, budget=budget).content
    for reading in RAG.read(content, history.probes, embedder=embedder, budget=budget):
        items = [item.item for item in reading.retrieved]
        assert items == sorted(items)
        assert {item.rank for item in reading.retrieved} == {1, 2, 3, 4}
        lines = reading.suffix.split("\n")
        days = [line for line in lines if line.startswith("On 2026-")]
        assert len(days) == len(set(days))
        for item in reading.retrieved:
            assert set(item.text.split("\n")) <= set(lines)
        assert reading.prefix == ""


def test_where_all_chunks_are_shown_the_memory_is_the_shared_prefix() -> None:
    embedder = HashedEmbedder()
    content = RAG.write(HISTORY, writer=None, embedder=embedder, budget=BUDGET).content
    one, two = RAG.read(content, HISTORY.probes, embedder=embedder, budget=BUDGET)
    assert one.prefix == two.prefix
    assert "AB-1234" in one.prefix
    assert set(one.evidence_ranks or ()) == {"e01"}


def test_an_embedder_of_another_generation_cannot_read_the_store() -> None:
    content = RAG.write(HISTORY, writer=None, embedder=HashedEmbedder(), budget=BUDGET).content
    other = HashedEmbedder(generation(query_prefix="query: "))
    with pytest.raises(InvalidInputError, match="query_prefix"):
        RAG.read(content, HISTORY.probes, embedder=other, budget=BUDGET)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b'{"format":"notes","notes":[]}'])
def test_content_that_is_none_of_the_format_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInputError, match="store's content"):
        LC_RAW.describe(content)


@pytest.mark.parametrize("name", ["lc_raw", "rag"])
def test_their_coverage_is_complete(name: str) -> None:
    history = generate("tiny", seed=2, split="calibration")[1]
    written = FORMATS[name].write(history, writer=None, embedder=HashedEmbedder(), budget=BUDGET)
    for probe in FORMATS[name].coverage(written.content, history, history.probes):
        assert probe.whole
        assert all(span.with_entity for span in probe.spans)


def test_the_tokens_of_a_reading_are_prompt_template_and_output() -> None:
    content = LC_RAW.write(HISTORY, writer=None, embedder=None, budget=BUDGET).content
    (reading,) = LC_RAW.read(content, HISTORY.probes[:1], embedder=None, budget=BUDGET)
    needed = required_tokens(reading, lambda text: len(text.split()), 24)
    text = f"{reading.system} {reading.prefix}{reading.suffix}"
    assert needed == len(text.split()) + TEMPLATE_TOKENS + 24
    request = reader_request(reading, max_output_tokens=24)
    assert (request.temperature, request.stop) == (0.0, ())


def test_contents_are_valid_json_with_sorted_keys() -> None:
    content = RAG.write(HISTORY, writer=None, embedder=HashedEmbedder(), budget=BUDGET).content
    assert list(json.loads(content)) == ["chunks", "format", "generation"]
