"""memport JSONL: what is written reads back; what is wrong is named with its place."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stores.errors import InvalidInputError
from stores.workload.bundle import Bundle, read_bundle
from stores.workload.generator import generate
from stores.workload.jsonl import write_histories, write_probes
from stores.workload.probes_csv import write_probes_csv
from stores.workload.source_file import Limits, SourceFile, read_source
from stores.workload.types import Event, History, Probe, Scoring

HISTORY = {
    "key": "h1",
    "events": [
        {"key": "e1", "at": "2026-01-05T09:00Z", "actor": "clerk", "text": "The code is AB-1234."},
        {"key": "e2", "text": "It was the sunny Tuesday."},
    ],
}
PROBE = {
    "key": "p1",
    "history": "h1",
    "kind": "direct",
    "question": "What is the code?",
    "answer": "AB-1234",
    "evidence": ["e1"],
}


def jsonl(*records) -> bytes:
    return b"".join(
        r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False).encode() + b"\n"
        for r in records
    )


def read(histories=(HISTORY,), probes=(PROBE,), **options) -> Bundle:
    raw = [h if isinstance(h, bytes) else jsonl(*h) for h in (histories, probes)]
    return read_bundle(
        SourceFile("histories.jsonl", raw[0]), SourceFile("probes.jsonl", raw[1]), **options
    )


def problem(*args, **options) -> str:
    """The one problem that there is."""
    found = [p.sentence() for p in read(*args, **options).problems]
    assert len(found) == 1, found
    return found[0]


def test_a_good_pair_of_files_reads_without_problems():
    bundle = read().require_valid()

    assert bundle.histories[0].events[0].at == "2026-01-05T09:00Z"
    assert bundle.histories[0].probes[0].evidence == ("e1",)
    assert (bundle.counts.histories, bundle.counts.events, bundle.counts.probes) == (1, 2, 1)


@pytest.mark.parametrize("split", ["study", "calibration"])
def test_generated_histories_go_out_and_come_in_byte_for_byte(split):
    made = generate("tiny", seed=5, split=split)
    histories, probes = write_histories(made), write_probes(made)

    bundle = read(histories, probes).require_valid()

    assert write_histories(bundle.histories) == histories
    assert write_probes(bundle.histories) == probes
    assert bundle.histories == made


def test_probes_go_out_and_come_in_as_csv():
    made = generate("tiny", seed=5)
    extra = replace(
        made[0].probes[0],
        key="x1",
        question='Who said "yes,\nno"?',
        answer="the clerk",
        scoring=Scoring("token_f1", 0.25),
        tags=("two words", "b"),
        screening=True,
    )
    made = (replace(made[0], probes=(*made[0].probes, extra)), *made[1:])

    bundle = read_bundle(
        SourceFile("histories.jsonl", write_histories(made)),
        SourceFile("probes.csv", write_probes_csv(made)),
    ).require_valid()

    assert bundle.histories == made


TEXTS = st.text(min_size=1).filter(str.strip)


@given(
    texts=st.lists(TEXTS, min_size=1, max_size=4),
    title=st.text(max_size=30),
    fields=st.none() | st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers()),
)
@settings(max_examples=60, deadline=None)
def test_whatever_reads_without_problems_goes_out_and_comes_in_unchanged(texts, title, fields):
    events = tuple(Event(f"e{i}", i + 1, text, fields=fields) for i, text in enumerate(texts))
    probe = Probe("p", "h", "direct", texts[0], texts[-1], ("e0",), scoring=Scoring("token_f1"))
    history = History("h", events, title, (probe,))
    try:
        files = write_histories([history]), write_probes([history])
    except UnicodeEncodeError:  # half of a surrogate pair: never came from a file
        return
    bundle = read(*files)
    if not bundle.problems:
        assert bundle.histories == (history,)


@given(data=st.binary(max_size=200), other=st.binary(max_size=200))
@example(data=b"\x1c", other=b"\x1c")  # white space to Python's text, not to its bytes
@settings(max_examples=80, deadline=None)
def test_no_bytes_can_do_more_than_be_refused(data, other):
    assert read(data, other).problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["key", "events", "text", "history", "evidence", "scoring", "x"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(history=JSON, probe=JSON)
@settings(max_examples=80, deadline=None)
def test_no_json_can_do_more_than_be_refused(history, probe):
    assert read((history,), (probe,)).problems


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "histories.jsonl: the file is empty"),
        (b" \n\n", "histories.jsonl: the file is empty"),
        (b"\xef\xbb\xbf{}\n", "byte order mark; expected plain UTF-8"),
        ("{}".encode("utf-16"), "is UTF-16; expected UTF-8"),
        (jsonl(HISTORY) + b'{"key": "\xe9"}\n', "line 2: byte 0xe9 is not UTF-8"),
        (jsonl(HISTORY) + b'{"key": \n', "line 2: not JSON: Expecting value at column"),
        (jsonl(HISTORY) + b"[]\n", "line 2: found a list; expected an object"),
        (b'{"key": "a", "key": "b"}\n', "the field 'key' occurs twice in one object"),
        (b'{"key": NaN}\n', "line 1: not JSON: NaN is no JSON number"),
        (b"[" * 100_000, "line 1: not JSON: nested too deeply"),
        (b"1" * 5_000, "line 1: not JSON"),
        (jsonl({**HISTORY, "key": 3}), "line 1, field 'key': found a number; expected text"),
        (jsonl({**HISTORY, "key": "a b"}), "field 'key': found 'a b'; expected letters, digits"),
        (jsonl({**HISTORY, "key": "a" * 121}), "expected letters, digits and . _ : - (at most"),
        (jsonl({**HISTORY, "titel": "x"}), "field 'titel': this field is not known"),
        (jsonl({**HISTORY, "titel": "x"}), "Did you mean 'title'?"),
        (jsonl({**HISTORY, "events": []}), "field 'events': is empty; expected at least one"),
        (jsonl({"key": "h1"}), "field 'events': is missing; expected a list"),
        (jsonl({**HISTORY, "events": {}}), "field 'events': found an object; expected a list"),
        (jsonl(HISTORY, {**HISTORY}), "line 2, field 'key': 'h1' is the key of histories.jsonl "
         "line 1 too"),
    ],
)  # fmt: skip
def test_a_wrong_histories_file_is_refused_with_place_and_reason(data, says):
    assert says in problem(data)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        ({"key": "e1"}, "line 1, events[0], field 'text': is missing; expected text"),
        ({"key": "e1", "text": " "}, "events[0], field 'text': is blank"),
        ({"key": "e1", "text": "a\x00b"}, "field 'text': holds the control character U+0000"),
        ({"key": "e1", "text": "\x1b[31m"}, "field 'text': holds the control character U+001B"),
        ({"key": "e1", "text": "x", "fields": []}, "'fields': found a list; expected an object"),
        ({"key": "e1", "text": "x", "fields": {"a": ["\x07"]}}, "'fields': holds the control"),
        ({"key": "e1", "text": "x", "at": "8 May"}, "'at': found '8 May'; expected an ISO 8601"),
        ({"key": "e1", "text": "x", "actor": None}, "'actor': found null; expected text"),
        ({"key": "e1", "text": "x" * 101}, "'text': has 101 characters; expected at most 100"),
        ("text", "events[0]: found text; expected an object"),
    ],
)
def test_a_wrong_event_is_refused_with_place_and_reason(event, says):
    history = {**HISTORY, "events": [event, {"key": "e2", "text": "y"}]}

    assert says in problem((history,), limits=Limits(text_chars=100))


def test_half_a_surrogate_pair_is_refused():
    data = rb'{"key": "h1", "events": [{"key": "e1", "text": "AB-1234 \ud800"}]}'
    assert "holds the control character U+D800" in problem(data)


def test_two_events_of_one_key_are_both_named():
    events = [{"key": "e1", "text": "AB-1234"}, {"key": "e1", "text": "x"}]
    assert "events[1], field 'key': 'e1' is the key of events[0] too" in problem(
        ({**HISTORY, "events": events},)
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"history": "h2"}, "line 1, field 'history': there is no history 'h2'. Did you mean 'h1'"),
        ({"evidence": ["e9"]}, "'evidence': history 'h1' has no event 'e9'. Did you mean"),
        ({"evidence": ["e1", "e1"]}, "'evidence': names 'e1' twice"),
        ({"evidence": "e1"}, "'evidence': found text; expected a list"),
        ({"evidence": [1]}, "'evidence[0]': found a number; expected text"),
        ({"evidence": []}, "'evidence': is empty; expected the events that hold the answer"),
        ({"answer": 2022}, "'answer': found a number; expected text"),
        ({"answer": ""}, "'answer': is blank"),
        ({"answer": "Tuesday"}, "'Tuesday' is not one code of the form [A-Z]{2}-\\d{2,4}"),
        ({"answer": "XY-9999"}, "'answer': 'XY-9999' is not in its evidence (e1)"),
        ({"answer": "B-1234", "scoring": "exact"}, "'B-1234' is not in its evidence (e1)"),
        ({"kind": "Direct!"}, "'kind': found 'Direct!'; expected small letters"),
        ({"memory_class": "facts"}, "'memory_class': found 'facts'; expected one of fact"),
        ({"scoring": "judge"}, "'scoring': found 'judge'; expected one of code, exact, token_f1"),
        ({"scoring": ["code"]}, "'scoring': found a list; expected one of code"),
        ({"scoring": {"method": "code", "threshold": 0.5}}, "'scoring.threshold': found 0.5"),
        ({"scoring": {"method": "token_f1", "threshold": 2}}, "'scoring.threshold': found 2"),
        ({"scoring": {"method": "token_f1", "treshold": 1}}, "'scoring': found an object"),
        ({"screening": 1}, "'screening': found a number; expected true or false"),
        ({"tags": ["a;b"]}, "'tags': found 'a;b'"),
        ({"scorng": "exact"}, "'scorng': this field is not known"),
    ],
)
def test_a_wrong_probe_is_refused_with_place_and_reason(change, says):
    found = problem(probes=({**PROBE, **change},))
    assert found.startswith("probes.jsonl line 1")
    assert says in found


@pytest.mark.parametrize("field", list(PROBE))
def test_a_missing_field_is_named(field):
    probe = {name: value for name, value in PROBE.items() if name != field}
    assert f"line 1, field '{field}': is missing" in problem(probes=(probe,))


def test_two_probes_of_one_key_are_both_named():
    found = problem(probes=(PROBE, b"\n", {**PROBE}))
    assert "line 3, field 'key': 'p1' is the key of probes.jsonl line 1 too" in found


def test_two_histories_may_use_the_same_probe_key():
    other = {**HISTORY, "key": "h2"}
    assert not read((HISTORY, other), (PROBE, {**PROBE, "history": "h2"})).problems


def test_a_broken_history_does_not_drag_its_probes_into_the_list():
    broken = {**HISTORY, "events": [{"key": "e1"}]}
    assert "events[0], field 'text': is missing" in problem(
        (broken,), (PROBE, {**PROBE, "key": "p2"})
    )


def test_an_answer_in_another_spelling_of_the_same_code_is_in_its_evidence():
    history = {**HISTORY, "events": [{"key": "e1", "text": "The code is ＡＢ‐1234."}]}
    assert not read((history,)).problems
    longer = {**HISTORY, "events": [{"key": "e1", "text": "The code is AB-12345."}]}
    assert "is not in its evidence" in problem((longer,))


def test_an_exact_answer_may_differ_in_case_and_punctuation():
    probe = {**PROBE, "answer": "Sunny Tuesday", "scoring": "exact", "evidence": ["e2"]}
    assert not read(probes=(probe,)).problems


def test_paraphrased_and_unsupported_free_text_answers_are_counted_not_refused():
    free = {**PROBE, "scoring": "token_f1", "answer": "a fine day", "evidence": ["e2"]}
    counts = read(probes=(free, {**free, "key": "p2", "evidence": []})).require_valid().counts

    assert counts.answers_not_in_evidence == 1
    assert counts.probes_without_evidence == 1


def test_unknown_fields_are_counted_where_that_is_asked_for():
    bundle = read(
        ({**HISTORY, "origin": 1},), ({**PROBE, "origin": 2, "x": 3},), ignore_unknown=True
    )
    assert bundle.require_valid().counts.unknown_fields == {"origin": 2, "x": 1}


def test_another_form_of_codes_can_be_named():
    history = {**HISTORY, "events": [{"key": "e1", "text": "The order is #123."}]}
    assert not read((history,), ({**PROBE, "answer": "123"},), code_pattern=r"\d{3}").problems
    with pytest.raises(InvalidInputError, match="too many ways"):
        read(code_pattern=r"(\d+)+")


def test_every_problem_is_listed_up_to_the_limit():
    probes = [{**PROBE, "key": f"p{i}", "answer": "XY-9999"} for i in range(40)]
    assert len(read(probes=probes).problems) == 40
    assert len(read(probes=probes, limits=Limits(problems=7)).problems) == 7
    with pytest.raises(InvalidInputError, match=r"line 1, .*There is more \(39\)"):
        read(probes=probes).require_valid()


def test_a_line_that_is_too_long_is_refused():
    assert "line 1: the line has" in problem(jsonl(HISTORY), limits=Limits(line_bytes=150))


def test_a_separator_of_unicode_inside_of_a_text_ends_no_line():
    history = {**HISTORY, "events": [{"key": "e1", "text": "AB-1234\u2028and more\u0085."}]}
    history["events"][0]["text"] = "AB-1234\u2028and more."
    assert read((history,)).require_valid().histories[0].events[0].text.endswith("more.")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"key,history\n", "probes.csv line 1: the column 'kind' is missing"),
        (b"key,history,kind,question,answer,evidence,key\n", "the column 'key' occurs twice"),
        (
            b"key,history,kind,question,answer,evidence\np1,h1,direct\n",
            "line 2: the row has 3 cells",
        ),
        (b'key,history,kind,question,answer,evidence\n"p1\n', "not CSV"),
        (
            b"key,history,kind,question,answer,evidence,threshold\np1,h1,direct,q,AB-1234,e1,x\n",
            "line 2, field 'threshold': found 'x'; expected a number",
        ),
        (
            b"key,history,kind,question,answer,evidence,screening\np1,h1,direct,q,AB-1234,e1,yes\n",
            "field 'screening': found 'yes'; expected 1 or 0",
        ),
        (
            b"key,history,kind,question,answer,evidence\np1,h1,direct,q,AB-9999,e1\n",
            "line 2, field 'answer': 'AB-9999' is not in its evidence",
        ),
        (b"", "probes.csv: the file is empty"),
    ],
)
def test_a_wrong_csv_is_refused_with_place_and_reason(data, says):
    bundle = read_bundle(
        SourceFile("histories.jsonl", jsonl(HISTORY)), SourceFile("probes.csv", data)
    )
    assert [says in p.sentence() for p in bundle.problems] == [True]


def test_a_file_that_is_missing_a_folder_or_too_large_is_refused(tmp_path):
    large = tmp_path / "large.jsonl"
    large.write_bytes(b"x" * 11)
    with pytest.raises(InvalidInputError, match="there is no such file"):
        read_source(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInputError, match="is a folder; expected a file"):
        read_source(tmp_path)
    with pytest.raises(InvalidInputError, match="has 11 bytes; expected at most 10 bytes"):
        read_source(large, limits=Limits(file_bytes=10))
