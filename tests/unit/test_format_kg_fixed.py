"""`kg_fixed`: claims under one schema, read by walking from the question's entities."""

import json

import jsonschema
import pytest

from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.formats.kg_claims import CLAIM_PREDICATES, claims_schema, parse_claims
from stores.roles import ChatRequest
from stores.workload.types import Event, History, Probe
from stores.workload.vocabulary import PREDICATES
from tests.unit.format_fakes import HISTORY, ScriptedWriter

KG = FORMATS["kg_fixed"]
BUDGET = WriteBudget(writer_output_tokens=99, events_per_claim_window=3)
WINDOW = HISTORY.events[:3]
REPLIES = {
    3: '{"1": [["Olmar", "locker_code", "AB-1234"]], "2": [["Olmar", "works_in", "the team Velk"]],'
    ' "3": [["team Velk", "gate_code", "CD-5678", "clerk"]]}',
    2: '{"4": [["Olmar", "also_called", "Tarn"]], "5": []}',
}


def perfect(request: ChatRequest) -> str:
    assert request.json_schema is not None
    return REPLIES[len(request.json_schema["required"])]


def content(script=perfect, reason="stop") -> bytes:  # type: ignore[no-untyped-def]
    writer = ScriptedWriter(script, reason)
    return KG.write(HISTORY, writer=writer, embedder=None, budget=BUDGET).content


def shown(question: str, store: bytes | None = None) -> list[str]:
    probe = Probe("p", "hand-made", "direct", question, "AB-1234", ("e01",))
    (reading,) = KG.read(store or content(), [probe], embedder=None, budget=BUDGET)
    return [item.events[0] for item in reading.retrieved]


def test_the_schema_takes_what_it_should_and_nothing_else() -> None:
    schema = claims_schema(WINDOW)
    jsonschema.Draft202012Validator.check_schema(schema)
    good = json.loads(REPLIES[3])
    jsonschema.validate(good, schema)
    for broken in (
        {**good, "4": []},
        {"1": [], "2": []},
        {**good, "1": [["Olmar", "likes", "AB-1234"]]},
        {**good, "1": [["Olmar", "locker_code"]]},
        {**good, "1": [["Olmar", "locker_code", "AB-1234", "x", "y"]]},
        {**good, "1": [["", "locker_code", "AB-1234"]]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)


def test_the_schema_comes_from_the_event_fields_of_the_generator() -> None:
    assert set(PREDICATES) - set(CLAIM_PREDICATES) == {"note"}
    assert KG.schema_version.startswith("claims-1-")


def test_the_writer_sees_texts_and_never_fields_times_or_actors() -> None:
    writer = ScriptedWriter(perfect)
    KG.write(HISTORY, writer=writer, embedder=None, budget=BUDGET)
    assert writer.asked[0].suffix.startswith(
        "<events>\n1. The locker code of Olmar is AB-1234.\n2. Olmar works in the team Velk.\n"
    )
    assert len(writer.asked) == 2


def test_a_claim_keeps_its_event_and_time() -> None:
    items = KG.describe(content())
    assert [item["events"] for item in items] == [["e01"], ["e02"], ["e03"], ["e04"]]
    assert items[2]["at"] == "2026-01-03T08:30Z"
    assert items[2]["text"] == "team Velk gate code CD-5678 (clerk)"


def test_an_alias_among_the_claims_leads_two_hops_on() -> None:
    assert shown("What is the gate code of Tarn's team?") == ["e01", "e02", "e03", "e04"]
    assert shown("What is the gate code of the team Velk?") == ["e01", "e02", "e03", "e04"]


def test_an_alias_that_the_writer_did_not_claim_leads_nowhere() -> None:
    def forgetful(request: ChatRequest) -> str:
        return perfect(request).replace('[["Olmar", "also_called", "Tarn"]]', "[]")

    store = content(forgetful)
    assert shown("What is the locker code of Tarn?", store) == []
    probe = Probe("p", "hand-made", "alias", "Code of Tarn?", "AB-1234", ("e01", "e04"))
    (reading,) = KG.read(store, [probe], embedder=None, budget=BUDGET)
    assert "(nothing)" in reading.suffix
    assert reading.evidence_ranks == {"e01": 1, "e04": None}


def test_three_hops_are_too_far() -> None:
    names = ["Aval", "Beren", "Colm", "Dorn", "Elan"]
    events = tuple(Event(f"e{n:02d}", n, "x", fields={}) for n in range(1, 5))
    claims = {str(n): [[names[n - 1], "works_on", names[n]]] for n in range(1, 5)}
    writer = ScriptedWriter(lambda request: json.dumps(claims))
    budget = WriteBudget(writer_output_tokens=1, events_per_claim_window=4)
    store = KG.write(History("h", events), writer=writer, embedder=None, budget=budget).content
    # Aval 0, Beren 1, Colm 2: the claim Colm-Dorn belongs to Colm, Dorn-Elan to nobody near.
    assert shown("Where is Aval?", store) == ["e01", "e02", "e03"]


def test_a_name_inside_another_word_is_not_an_entity_of_the_question() -> None:
    assert shown("What is the code of Olmarin?") == []
    assert shown("What is the code of OLMAR?") == ["e01", "e02", "e03", "e04"]


def test_ranks_go_by_hop_then_time_over_all_claims() -> None:
    probe = Probe("p", "hand-made", "x", "The gate code of Velk?", "CD-5678", ("e01", "e03", "e05"))
    (reading,) = KG.read(content(), [probe], embedder=None, budget=BUDGET)
    # e02 and e03 touch Velk; e01 and e04 are one hop on, at Olmar; nobody claimed e05.
    assert reading.evidence_ranks == {"e01": 3, "e03": 2, "e05": None}
    assert {item.item: item.rank for item in reading.retrieved} == {
        "claim-0001": 3, "claim-0002": 1, "claim-0003": 2, "claim-0004": 4,
    }  # fmt: skip


def test_histories_without_event_fields_are_not_applicable() -> None:
    history = History("talk", (Event("e1", 1, "Hello."), HISTORY.events[0]))
    assert "1 of 2 events of history 'talk' have none" in KG.why_not_applicable(history)
    assert KG.why_not_applicable(HISTORY) == ""


@pytest.mark.parametrize(
    ("text", "kept", "problem"),
    [
        (REPLIES[3][:-40], 2, "JSON was broken"),
        ("```json\n" + REPLIES[3] + "\n```", 3, "JSON was broken"),
        ('{"1": [["Olmar", "locker_code", "AB-1234"], ["Olmar", "loc', 1, "JSON was broken"),
        ("no JSON at all", 0, "JSON was broken"),
        ("{" * 5000, 0, "JSON was broken"),
        ('{"1": ' + "[" * 50_000, 0, "JSON was broken"),
        ('[["Olmar", "locker_code", "AB-1234"]]', 0, "JSON was broken"),
        ('{"9": [["Olmar", "locker_code", "AB-1234"]]}', 0, "1 claim did not fit"),
        ('{"1": [["Olmar", "likes", "AB-1234"], ["Olmar", "locker_code"], 7]}', 0, "3 claims did"),
        ('{"1": [["Olmar", "locker_code", "' + "x" * 81 + '"]]}', 0, "1 claim did not fit"),
        ('{"1": [["Olmar", "locker_code", "A"], ["Olmar", "locker_code", "A"]]}', 1, ""),
        ('{"1": "Olmar"}', 0, "JSON was broken"),
    ],
)
def test_what_parses_is_kept_and_the_rest_is_said(text: str, kept: int, problem: str) -> None:
    claims, said = parse_claims(text, WINDOW)
    assert len(claims) == kept
    assert problem in said
    assert bool(problem) == bool(said)


def test_a_cut_off_reply_leaves_its_whole_claims_and_two_notices() -> None:
    writer = ScriptedWriter(lambda request: perfect(request)[:-30], "length")
    written = KG.write(HISTORY, writer=writer, embedder=None, budget=BUDGET)
    assert "cut off at its limit of 99 tokens" in written.notices[0]
    assert "events 1 to 3: its JSON was broken, 2 whole claims" in written.notices[1]
    assert len(KG.describe(written.content)) == 2
