"""Scoring of answers in free text: normalized exact match and token F1, as SQuAD defines them."""

import pytest

from experiments.scoring import score, token_f1
from stores.formats.spans import normalized_tokens
from stores.workload.types import Probe, Scoring


def probe(answer: str, scoring: Scoring) -> Probe:
    return Probe("p", "h", "single_hop", "?", answer, ("e1",), scoring=scoring)


EXACT = Scoring("exact")


@pytest.mark.parametrize("text", ["The Blue Door", "blue door.", "  a blue\ndoor!", "BLUE DOOR"])
def test_exact_ignores_case_articles_punctuation_and_white_space(text: str) -> None:
    assert score(text, "stop", probe=probe("the blue door", EXACT)).correct


@pytest.mark.parametrize(("text", "reason"), [("a red door", "wrong_text"), ("The.", "no_text")])
def test_exact_says_why_an_answer_is_wrong(text: str, reason: str) -> None:
    assert score(text, "stop", probe=probe("the blue door", EXACT)).reason == reason


def test_token_f1_counts_repeated_tokens() -> None:
    # precision 2/3, recall 2/2
    assert token_f1(("so", "so", "good"), ("so", "so")) == pytest.approx(0.8)
    assert token_f1(("so",), ("so", "so")) == pytest.approx(2 / 3)
    assert token_f1((), ("so",)) == 0


def test_the_probes_own_threshold_goes_before_the_plans() -> None:
    # shared: blue; precision 1/2, recall 1/2
    answer = "blue door"
    own = score("blue wall", "stop", probe=probe(answer, Scoring("token_f1", 0.6)))
    plans = score(
        "blue wall", "stop", probe=probe(answer, Scoring("token_f1")), token_f1_threshold=0.5
    )
    assert (own.correct, own.value) == (False, 0.5)
    assert (plans.correct, plans.value) == (True, 0.5)


def test_a_threshold_of_zero_makes_no_answer_without_a_shared_token_right() -> None:
    assert not score("red", "stop", probe=probe("blue", Scoring("token_f1", 0.0))).correct


@pytest.mark.parametrize("reason", ["truncated", "refused"])
def test_a_cut_off_or_refused_text_is_wrong_although_it_matches(reason: str) -> None:
    finish = {"truncated": "length", "refused": "refused"}[reason]
    scored = score("blue", finish, probe=probe("blue", EXACT))  # type: ignore[arg-type]
    assert (scored.correct, scored.reason) == (False, reason)


def test_dashes_separate_words_and_apostrophes_do_not() -> None:
    assert normalized_tokens("Well-known — don't") == ("well", "known", "dont")
