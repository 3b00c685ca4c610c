"""Evidence coverage: kept, changed, missing, and beside which entity."""

import json

import pytest

from stores.formats.base import SpanCoverage, WriteBudget
from stores.formats.coverage import Item, cover, edits
from stores.formats.formats import FORMATS
from stores.workload.types import Event, History, Probe, Scoring
from tests.unit.format_fakes import HISTORY, ScriptedWriter

DIRECT, MULTI_HOP = HISTORY.probes


def covered(*lines: str, probe: Probe = DIRECT) -> SpanCoverage:
    items = [Item(f"line-{n}", line) for n, line in enumerate(lines, start=1)]
    (result,) = cover(items, HISTORY, [probe])
    (span,) = result.spans
    return span


@pytest.mark.parametrize(
    ("lines", "state", "with_entity", "found_in"),
    [
        (["Olmar: locker AB-1234"], "kept", True, "line-1"),
        (["olmar's locker is ab–1234"], "kept", True, "line-1"),
        (["Tarn has AB-1234"], "kept", True, "line-1"),  # by the other name
        (["AB-1234 is a code", "Olmar: AB-1234"], "kept", True, "line-2"),
        (["Olmar:", "- locker AB-1234"], "kept", False, "line-2"),
        (["Suna has AB-1234"], "kept", False, "line-1"),
        (["Olmar has AB-1243"], "changed", False, "line-1"),
        (["Olmar has AB-123"], "changed", False, "line-1"),
        (["Olmar has AB1234"], "changed", False, "line-1"),
        (["Suna has AB-1243"], "missing", False, ""),  # like it, but of somebody else
        (["Olmar has AB-9999"], "missing", False, ""),  # four edits away: another code
        (["Olmar has AB-12345"], "changed", False, "line-1"),
        (["Olmar has a locker"], "missing", False, ""),
        ([], "missing", False, ""),
    ],
)
def test_a_code_is_followed_into_the_store(
    lines: list[str], state: str, with_entity: bool, found_in: str
) -> None:
    assert covered(*lines) == SpanCoverage("e01", "AB-1234", state, with_entity, found_in)  # type: ignore[arg-type]


def test_another_code_of_the_history_is_no_changed_form() -> None:
    near = Event("e06", 6, "The badge code of Olmar is AB-1235.", fields={"subject": "Olmar"})
    history = History("h", (*HISTORY.events, near), probes=(DIRECT,))
    (result,) = cover([Item("line-1", "Olmar has AB-1235")], history, [DIRECT])
    assert result.spans[0].state == "missing"


def test_an_event_without_a_code_requires_nothing_by_itself() -> None:
    (result,) = cover([Item("a", "the team Velk: gate CD-5678")], HISTORY, [MULTI_HOP])
    assert [span.event for span in result.spans] == ["e03"]
    assert result.whole


def test_without_fields_the_right_entity_is_unknown() -> None:
    history = History("h", (Event("e1", 1, "Olmar has AB-1234."),))
    probe = Probe("p", "h", "direct", "?", "AB-1234", ("e1",))
    (result,) = cover([Item("a", "AB-1234")], history, [probe])
    assert result.spans[0].with_entity is None
    (result,) = cover([], history, [probe])
    assert (result.spans[0].state, result.spans[0].with_entity) == ("missing", None)


TALK = History("h", (Event("e1", 1, "We met at the Blue Door café."), Event("e2", 2, "Bye.")))


def free_text(answer: str) -> Probe:
    return Probe("p", "h", "single_hop", "?", answer, ("e2", "e1"), scoring=Scoring("token_f1"))


@pytest.mark.parametrize(
    ("line", "state"), [("they met at a blue door", "kept"), ("they met at a door", "missing")]
)
def test_free_text_is_a_stretch_of_words(line: str, state: str) -> None:
    (result,) = cover([Item("a", line)], TALK, [free_text("The blue door")])
    assert (result.spans[0].event, result.spans[0].state) == ("e1", state)


@pytest.mark.parametrize("answer", ["A green door", "...", "7 May 2023"])
def test_free_text_that_the_evidence_does_not_say_is_undefined_with_a_reason(answer: str) -> None:
    (result,) = cover([Item("a", "anything")], TALK, [free_text(answer)])
    assert result.undefined_because == "its answer does not stand in its evidence word for word"
    assert (result.spans, result.whole) == ((), False)


def test_evidence_without_a_code_is_undefined_for_a_code_probe() -> None:
    probe = Probe("p", "hand-made", "alias", "?", "AB-1234", ("e04",))
    (result,) = cover([], HISTORY, [probe])
    assert result.undefined_because == "its evidence holds no code"


def test_a_claim_counts_only_beside_its_own_subject() -> None:
    claims = {
        "1": [["Suna", "locker_code", "AB-1234"]],
        "2": [],
        "3": [["Velk", "gate_code", "CD-5678"]],
        "4": [],
        "5": [],
    }
    reply = json.dumps(claims)
    budget = WriteBudget(writer_output_tokens=1, events_per_claim_window=5)
    kg = FORMATS["kg_fixed"]
    written = kg.write(
        HISTORY, writer=ScriptedWriter(lambda request: reply), embedder=None, budget=budget
    )
    direct, multi_hop = kg.coverage(written.content, HISTORY, HISTORY.probes)
    assert (direct.spans[0].state, direct.spans[0].with_entity) == ("kept", False)
    assert (multi_hop.spans[0].state, multi_hop.spans[0].with_entity) == ("kept", True)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("AB-1234", "AB-1234", 0),
        ("AB-1234", "AB-1243", 2),
        ("AB-1234", "B-1234", 1),
        ("", "ABC", 3),
    ],
)
def test_edits_are_counted_up_to_the_limit(one: str, other: str, distance: int) -> None:
    assert edits(one, other, 2) == min(distance, 3)
