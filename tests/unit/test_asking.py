"""Order of questions, room in the context, rank and recall."""

from types import SimpleNamespace
from typing import Any

import pytest

from experiments.services.asking import Question, asking_order, check_room, rank_and_recall
from stores.formats.base import Reading
from stores.roles import ContextOverflowError


def questions(n: int, *, prefixes: int = 1) -> list[Question]:
    found: list[Question] = []
    for k in range(n):
        probe: Any = SimpleNamespace(key=f"p{k}")
        found.append(Question(probe, Reading("system", f"prefix {k % prefixes}", f"suffix {k}")))
    return found


def keys(asked: list[Question]) -> list[str]:
    return [question.probe.key for question in asked]


def test_probes_with_one_prefix_follow_each_other() -> None:
    asked = asking_order(questions(6, prefixes=2), repeat=0, cell="c", seed=0)
    assert keys(asked) == ["p0", "p2", "p4", "p1", "p3", "p5"]


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_a_repeat_asks_in_another_order_that_is_its_own_and_always_the_same(n: int) -> None:
    for seed in range(20):
        usual = keys(asking_order(questions(n), repeat=0, cell="c", seed=seed))
        repeat = keys(asking_order(questions(n), repeat=1, cell="c", seed=seed))
        assert repeat != usual
        assert sorted(repeat) == sorted(usual)
        assert repeat == keys(asking_order(questions(n), repeat=1, cell="c", seed=seed))


def test_a_prompt_that_fills_the_context_to_the_last_token_fits_and_one_more_does_not() -> None:
    def count(text: str) -> int:
        return len(text.split())

    room = {"count_tokens": count, "output_tokens": 10, "reader": "old"}
    check_room(questions(1), context_tokens=1 + 2 + 2 + 32 + 10, **room)  # type: ignore[arg-type]
    with pytest.raises(ContextOverflowError, match=r"needs 47 tokens .* is given 46"):
        check_room(questions(1), context_tokens=46, **room)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ({"e1": 3}, (3, 1.0)),
        ({"e1": 9}, (None, 0.0)),
        ({"e1": 2, "e2": 9}, (2, 0.5)),
        ({"e1": 2, "e2": 2}, (2, 1.0)),  # one chunk holds both
        ({"e1": 1, "e2": None}, (1, 0.5)),
        ({}, (None, None)),
        (None, (None, None)),
    ],
)
def test_rank_is_of_the_first_evidence_chunk_and_recall_the_share_among_the_top_k(
    ranks: dict[str, int | None] | None, expected: tuple[int | None, float | None]
) -> None:
    reading = Reading("", "", "", evidence_ranks=ranks)
    assert rank_and_recall(reading, top_k=8) == expected
