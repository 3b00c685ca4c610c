"""Scoring of answers that are codes."""

import time

import pytest

from experiments.scoring import MAX_ANSWER_CHARS, Score, score
from stores.errors import InvalidInputError
from stores.formats.codes import compile_code_pattern, find_codes
from stores.workload.types import Probe

PROBE = Probe("p", "h", "temporal", "Which seat now?", "NX-4441", ("e1", "e2"))
EVIDENCE = ("Larirn prefers the seat TF-1277.", "Larirn now prefers the seat NX-4441.")


def judged(text: str, finish_reason: str = "stop") -> Score:
    return score(text, finish_reason, probe=PROBE, evidence_texts=EVIDENCE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "NX-4441",
        "nx-4441",
        "The seat is **NX-4441**.",
        "NX-4441, I repeat: nx-4441",
        "NX‑4441",  # non-breaking hyphen
        "NX–4441",  # en dash
        "NX−4441",  # minus sign
        "ＮＸ－４４４１",  # full width
    ],
)
def test_every_spelling_of_the_one_right_code_is_right(text: str) -> None:
    assert judged(text) == Score(True, "", ("NX-4441",))


@pytest.mark.parametrize(
    ("text", "finish_reason", "reason", "found"),
    [
        ("TF-1277", "stop", "stale_code", ("TF-1277",)),
        ("QQ-0000", "stop", "wrong_code", ("QQ-0000",)),
        ("First TF-1277, then NX-4441", "stop", "several_codes", ("TF-1277", "NX-4441")),
        ("I do not know", "stop", "no_code", ()),
        ("", "stop", "no_code", ()),
        ("NX 4441", "stop", "no_code", ()),
        ("NX-4441", "length", "truncated", ("NX-4441",)),
        ("", "length", "truncated", ()),
        ("NX-4441", "refused", "refused", ("NX-4441",)),
    ],
)
def test_a_wrong_answer_keeps_its_reason(
    text: str, finish_reason: str, reason: str, found: tuple[str, ...]
) -> None:
    assert judged(text, finish_reason) == Score(False, reason, found)


def test_a_code_inside_a_longer_run_of_letters_and_digits_is_another_word() -> None:
    assert find_codes("NX-44410 and ANX-4441 and NX-4441") == ("NX-4441",)
    assert judged("NX-44410").reason == "no_code"


def test_another_pattern_finds_other_codes() -> None:
    probe = Probe("p", "h", "direct", "?", "#12", ("e1",))
    assert score("It is #12.", "stop", probe=probe, code_pattern=r"#\d{1,4}").correct


@pytest.mark.parametrize(
    "pattern",
    ["", "x" * 201, "(", r"[A-Z]+", r"(a{1,9}){1,9}", r"(a|aa|aaa){9}", r"(a)\1", r"a{0,3}", "a*b"],
)
def test_an_unsafe_or_broken_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInputError, match="pattern for codes"):
        compile_code_pattern(pattern)


def test_an_overlong_answer_is_taken_for_a_truncated_one_and_judged_quickly() -> None:
    text = "NX-4441 " + "A" * 5_000_000
    started = time.perf_counter()
    assert judged(text).reason == "truncated"
    assert time.perf_counter() - started < 2
    assert len(text) > MAX_ANSWER_CHARS
