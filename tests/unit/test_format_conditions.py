"""What a reader is shown under a condition: stored evidence, raw evidence, nothing."""

import json

import pytest

from stores.formats.base import Reading, WriteBudget
from stores.formats.conditions import no_memory, raw_evidence, stored_evidence
from stores.formats.content import canonical_json
from stores.formats.formats import FORMATS
from stores.workload.generator import generate
from stores.workload.types import Event, History, Probe, Scoring
from tests.factories import BagEmbedder, written_by

HISTORY = generate("tiny", seed=7)[0]
BUDGET = WriteBudget(writer_output_tokens=200)


def shown(reading: Reading) -> str:
    """The user's message."""
    return reading.prefix + reading.suffix


def content_of(name: str) -> bytes:
    """A store that lost nothing."""
    if name in ("notes", "kg_fixed"):
        return written_by(name, HISTORY, loses_every=1000).content
    embedder = BagEmbedder() if name == "rag" else None
    return FORMATS[name].write(HISTORY, writer=None, embedder=embedder, budget=BUDGET).content


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_stored_evidence_shows_the_items_that_hold_the_evidence_and_no_other(name: str) -> None:
    content = content_of(name)
    readings = stored_evidence(FORMATS[name], content, HISTORY, HISTORY.probes)
    for probe, reading in zip(HISTORY.probes, readings, strict=True):
        assert probe.answer in shown(reading)
        assert reading.evidence_ranks is not None
        assert set(reading.evidence_ranks) == set(probe.evidence)
        assert None not in reading.evidence_ranks.values()
        held = {event for item in reading.retrieved for event in item.events}
        assert held >= set(probe.evidence)
        if name != "rag":  # a chunk holds its neighbours too
            assert held == set(probe.evidence)


def test_what_the_notes_lost_is_said_and_not_shown() -> None:
    content = written_by("notes", HISTORY, loses_every=2).content
    readings = stored_evidence(FORMATS["notes"], content, HISTORY, HISTORY.probes)
    kept = {row["events"][0] for row in json.loads(content)["notes"]}
    for probe, reading in zip(HISTORY.probes, readings, strict=True):
        assert reading.evidence_ranks is not None
        found = {event for event, rank in reading.evidence_ranks.items() if rank}
        if probe.kind == "contradiction":  # the correction repeats the code of a report
            assert set(probe.evidence) & kept <= found
        else:
            assert found == set(probe.evidence) & kept


def test_notes_with_a_changed_code_are_shown_as_they_are() -> None:
    event = Event("e1", 1, "The code of Mara is QX-4821.", fields={
        "op": "state", "subject": "Mara", "predicate": "badge", "object": "QX-4821",
    })  # fmt: skip
    probe = Probe("p1", "h", "direct", "What is the code of Mara?", "QX-4821", ("e1",))
    history = History("h", (event,), probes=(probe,))
    notes = [{"events": ["e1"], "text": "Mara: QX-4827\nNothing else happened."}]
    content = canonical_json({"format": "notes", "notes": notes})
    (reading,) = stored_evidence(FORMATS["notes"], content, history, [probe])
    assert "QX-4827" in shown(reading)
    assert "Nothing else" not in shown(reading)


def test_a_free_text_answer_is_found_in_notes_by_its_words() -> None:
    event = Event("e1", 1, "Anna moved the pump to the north cellar.")
    probe = Probe("p1", "h", "direct", "Where is the pump?", "the north cellar", ("e1",),
                  scoring=Scoring("token_f1"))  # fmt: skip
    history = History("h", (event,), probes=(probe,))
    notes = [{"events": ["e1"], "text": "Pump: now in the North Cellar\nAnna likes tea"}]
    content = canonical_json({"format": "notes", "notes": notes})
    (reading,) = stored_evidence(FORMATS["notes"], content, history, [probe])
    assert "North Cellar" in shown(reading)
    assert "tea" not in shown(reading)


def test_raw_evidence_shows_the_original_events_in_their_order() -> None:
    for probe, reading in zip(HISTORY.probes, raw_evidence(HISTORY, HISTORY.probes), strict=True):
        events = [event.key for event in HISTORY.events if event.key in probe.evidence]
        assert [item.item for item in reading.retrieved] == events
        assert all(HISTORY.event(key).text in shown(reading) for key in events)


def test_without_memory_no_code_is_shown_and_the_prefix_is_shared() -> None:
    readings = no_memory(HISTORY.probes)
    assert len({reading.prefix for reading in readings}) == 1
    for probe, reading in zip(HISTORY.probes, readings, strict=True):
        assert probe.answer not in shown(reading)
