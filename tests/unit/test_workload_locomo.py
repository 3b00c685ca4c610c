"""LoCoMo's file shape, with its traps, on a small file made by hand."""

import json
from collections import Counter

import pytest

from stores.errors import InvalidInputError
from stores.workload.bundle import read_bundle
from stores.workload.jsonl import write_histories, write_probes
from stores.workload.locomo import CATEGORIES, convert_locomo
from stores.workload.source_file import SourceFile


def sample() -> dict:
    return {
        "sample_id": "talk-1",
        "event_summary": {},
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Ben",
            "session_10_date_time": "12:05 am on 1 March, 2024",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "I sold the boat."}],
            "session_2_date_time": "1:56 pm on 29 February, 2024",
            "session_2": [
                {"speaker": "Ada", "dia_id": "D2:1", "text": "I bought a red kite."},
                {
                    "speaker": "Ben",
                    "dia_id": "D2:2",
                    "text": "Look!",
                    "img_url": ["http://example.invalid/x.jpg"],
                    "blip_caption": "a photo of a boat",
                    "query": "boat",
                },
            ],
            "session_11_date_time": "3:00 pm on 2 March, 2024",
        },
        "qa": [
            {
                "question": "What did Ada buy?",
                "answer": "a kite",
                "evidence": ["D2:1"],
                "category": 4,
            },
            {"question": "When?", "answer": 2024, "evidence": ["D2:1; D10:01"], "category": 2},
            {"question": "Who sold it?", "answer": "Ben", "evidence": ["D:10:1"], "category": 4},
            {"question": "Why?", "adversarial_answer": "x", "evidence": ["D2:1"], "category": 5},
            {"question": "Who?", "evidence": ["D2:1"], "category": 4},
            {"question": "How?", "answer": "by boat", "evidence": [], "category": 3},
            {"question": "Where?", "answer": "here", "evidence": ["D9:9"], "category": 1},
            {"question": "Where to?", "answer": "home", "evidence": ["D"], "category": 1},
            {"question": "Which?", "answer": "red", "evidence": ["D2:1"], "category": 7},
            {"question": "Was it?", "answer": True, "evidence": ["D2:1"], "category": 4},
        ],
    }


def source(*samples) -> SourceFile:
    return SourceFile("talks.json", json.dumps(list(samples)).encode())


def convert(changed: dict | None = None, **options):
    options.setdefault("conversation", "talk-1")
    return convert_locomo(source(changed or sample()), **options)


def test_turns_become_events_in_the_order_of_their_sessions_numbers():
    events = convert().history.events

    assert [e.key for e in events] == ["D2:1", "D2:2", "D10:1"]
    assert [e.at for e in events] == ["2024-02-29T13:56", "2024-02-29T13:56", "2024-03-01T00:05"]
    assert events[0].actor == "Ada"
    assert events[1].text == "Look! [shares a picture: a photo of a boat]"


def test_every_question_is_taken_or_left_with_its_reason_and_place():
    made = convert()

    assert made.taken == {"single_hop": 2, "temporal": 1}
    assert Counter(left.reason for left in made.left) == {
        "adversarial: the right answer is to abstain": 1,
        "no answer": 1,
        "no evidence is named": 2,
        "its evidence names a turn that the conversation does not hold": 1,
        "category 7 has no kind": 1,
        "the answer is true or false": 1,
    }
    assert made.left[0].where == "talks.json [0].qa[3]"
    assert len(made.left) + len(made.history.probes) == 10


def test_numbers_and_several_ids_in_one_string_are_read():
    when = convert().history.probes[1]

    assert (when.key, when.kind, when.answer) == ("q002", "temporal", "2024")
    assert when.evidence == ("D2:1", "D10:1")
    assert when.tags == ("locomo", "category-2")
    assert convert().history.probes[2].evidence == ("D10:1",)


def test_what_was_noticed_is_counted():
    assert convert().notices == {
        "answers that were numbers, taken as text": 1,
        "dates of sessions that the file does not hold": 1,
        "pictures told by their caption": 1,
    }


def test_questions_are_taken_kind_by_kind_in_turn():
    made = convert(questions=2)

    assert made.taken == {"single_hop": 1, "temporal": 1}
    assert [left.reason for left in made.left][-1] == "more than the 2 that were asked for"


def test_categories_can_be_read_in_another_way():
    made = convert(categories={**CATEGORIES, 4: "direct", 7: "colour"})
    assert made.taken == {"direct": 2, "temporal": 1, "colour": 1}


def test_what_is_converted_imports():
    history = convert(threshold=0.4).history
    bundle = read_bundle(
        SourceFile("histories.jsonl", write_histories([history])),
        SourceFile("probes.jsonl", write_probes([history])),
    ).require_valid()

    assert bundle.histories == (history,)
    assert history.probes[0].scoring.threshold == 0.4
    assert bundle.counts.answers_not_in_evidence == 2  # "a kite" and 2024


def broken(path: str, value) -> dict:
    changed = sample()
    *steps, last = path.split("/")
    place = changed
    for step in steps:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("conversation", [], "[0], field 'conversation': found a list; expected an object"),
        ("conversation/session_2", {}, "[0].conversation, field 'session_2': found an object"),
        ("conversation/session_2/0", 1, "conversation.session_2[0]: found a number"),
        ("conversation/session_2/0/text", 5, "session_2[0], field 'text': found a number"),
        ("conversation/session_2/0/dia_id", "", "session_2[0], field 'dia_id': is blank"),
        ("conversation/session_2_date_time", "soon", "'session_2_date_time': found 'soon'; "
         "expected a time like '1:56 pm on 8 May, 2023'"),
        ("conversation/session_2_date_time", "1:56 pm on 31 June, 2023", "found '1:56 pm on 31 "),
        ("qa", None, "[0], field 'qa': found null; expected a list"),
        ("qa/0/question", 3, "[0].qa[0], field 'question': found a number; expected text"),
        ("qa/0/category", "4", "[0].qa[0], field 'category': found text; expected a number"),
        ("qa/0/evidence", "D2:1", "[0].qa[0], field 'evidence': found text; expected a list"),
    ],
)  # fmt: skip
def test_another_shape_is_refused_with_its_json_path(path, value, says):
    with pytest.raises(InvalidInputError) as refusal:
        convert(broken(path, value))
    assert says in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "talks.json: not JSON: Expecting property name"),
        (b"{}", "talks.json: found an object; expected a list of conversations"),
        (b"", "talks.json: the file is empty"),
        (b'[{"sample_id": "talk-2"}, 3]', "there is no conversation 'talk-1'"),
    ],
)
def test_a_file_of_another_kind_is_refused(data, says):
    with pytest.raises(InvalidInputError) as refusal:
        convert_locomo(SourceFile("talks.json", data), conversation="talk-1")
    assert says in str(refusal.value)


def test_a_conversation_without_sessions_is_refused():
    changed = sample()
    changed["conversation"] = {"speaker_a": "Ada", "speaker_b": "Ben"}
    with pytest.raises(InvalidInputError, match="holds no session"):
        convert(changed)
