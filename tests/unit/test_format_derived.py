"""Stores made from another store: corrupted ones, and notes rewritten in another manner."""

import json
from collections.abc import Sequence

import pytest

from stores.errors import InvalidInputError
from stores.formats.base import WriteBudget
from stores.formats.codes import DEFAULT_CODE_PATTERN, find_codes
from stores.formats.content import canonical_json
from stores.formats.corruption import DOSES, corrupt, corrupted_probes, replacements
from stores.formats.formats import FORMATS
from stores.formats.restyling import RewriteFigures, rewrite_figures, rewrite_notes
from stores.roles import ChatReply, ChatRequest, FinishReason, ModelIdentity
from stores.workload.generator import generate
from stores.workload.types import History
from tests.factories import BagEmbedder, written_by

HISTORY = generate("tiny", seed=7)[0]
BUDGET = WriteBudget(writer_output_tokens=200)


def content_of(name: str) -> bytes:
    """A store that lost nothing."""
    if name in ("notes", "kg_fixed"):
        return written_by(name, HISTORY, loses_every=1000).content
    embedder = BagEmbedder() if name == "rag" else None
    return FORMATS[name].write(HISTORY, writer=None, embedder=embedder, budget=BUDGET).content


def corrupted(name: str, percent: int, seed: int = 3) -> bytes:
    """A corrupted store's content."""
    return corrupt(
        name, content_of(name), HISTORY, HISTORY.probes, percent=percent, seed=seed,
        code_pattern=DEFAULT_CODE_PATTERN,
    ).content  # fmt: skip


def texts(name: str, content: bytes) -> str:
    return "\n".join(str(row["text"]) for row in FORMATS[name].describe(content))


def test_doses_are_nested_and_nearest_to_their_share() -> None:
    drawn = [set(corrupted_probes(HISTORY.probes, percent=p, seed=3)) for p in DOSES]
    assert [len(keys) for keys in drawn] == [1, 3, 4]
    assert drawn[0] < drawn[1] < drawn[2]
    other = corrupted_probes(HISTORY.probes, percent=50, seed=4)
    assert set(other) != drawn[1]


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("percent", DOSES)
def test_the_codes_of_the_drawn_probes_are_gone_and_all_others_stay(
    name: str, percent: int
) -> None:
    said = texts(name, corrupted(name, percent))
    drawn = set(corrupted_probes(HISTORY.probes, percent=percent, seed=3))
    gone = {
        code for probe in HISTORY.probes if probe.key in drawn for key in probe.evidence
        for code in find_codes(HISTORY.event(key).text)
    }  # fmt: skip
    before = set(find_codes(texts(name, content_of(name))))
    assert gone.isdisjoint(find_codes(said))
    assert before - gone <= set(find_codes(said))
    invented = set(find_codes(said)) - before
    assert invented
    assert invented.isdisjoint(code for e in HISTORY.events for code in find_codes(e.text))


def test_a_code_has_one_replacement_at_every_dose() -> None:
    codes = [set(find_codes(texts("notes", corrupted("notes", p)))) for p in DOSES]
    original = set(find_codes(texts("notes", content_of("notes"))))
    invented = [found - original for found in codes]
    assert invented[0] < invented[1] < invented[2]


def test_vectors_of_corrupted_chunks_stay() -> None:
    vectors = [[c["vector"] for c in json.loads(content)["chunks"]]
               for content in (content_of("rag"), corrupted("rag", 75))]  # fmt: skip
    assert vectors[0] == vectors[1]


def test_a_code_with_another_dash_is_replaced_and_the_rest_of_the_text_stays() -> None:
    code = find_codes(HISTORY.event(HISTORY.probes[0].evidence[0]).text)[0]
    text = f"a—b {code.replace('-', chr(0x2013)).lower()} c"
    content = canonical_json({"format": "notes", "notes": [{"events": ["e"], "text": text}]})
    made = corrupt("notes", content, HISTORY, HISTORY.probes, percent=100, seed=3,
                   code_pattern=DEFAULT_CODE_PATTERN)  # fmt: skip
    new = replacements(HISTORY, HISTORY.probes, seed=3, code_pattern=DEFAULT_CODE_PATTERN)[code]
    assert json.loads(made.content)["notes"][0]["text"] == f"a—b {new} c"


def test_codes_with_a_fixed_beginning_keep_it() -> None:
    code = find_codes(HISTORY.event(HISTORY.probes[0].evidence[0]).text)[0]
    pattern = rf"{code[:2]}-\d{{2,4}}"
    made = replacements(HISTORY, HISTORY.probes, seed=3, code_pattern=pattern)
    assert all(other.startswith(code[:2]) and other != old for old, other in made.items())


def test_a_history_without_codes_cannot_be_corrupted() -> None:
    empty = History("h", HISTORY.events[:1], probes=())
    with pytest.raises(InvalidInputError, match="no evidence of history 'h' holds a code"):
        replacements(empty, (), seed=1, code_pattern=DEFAULT_CODE_PATTERN)


class Rewriter:
    """Answers each request with the next reply."""

    identity = ModelIdentity("new", "scripted", "1", "f")
    context_tokens = 4096

    def __init__(self, replies: Sequence[tuple[str, FinishReason]]) -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def chat(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        self.requests += requests
        return [
            ChatReply(text, reason, 1, 0, 0, 1, 0.0, "new")
            for text, reason in self._replies[: len(requests)]
        ]

    def forget(self) -> None: ...

    def close(self) -> None: ...


OLD = canonical_json({"format": "notes", "notes": [
    {"events": ["e1"], "text": "Mara holds QX-4821."},
    {"events": ["e2"], "text": "Ivo holds RT-1000."},
    {"events": ["e3"], "text": "Team Kite holds ZB-7777."},
    {"events": ["e4"], "text": ""},
    {"events": ["e5"], "text": "Lea holds MM-2222."},
]})  # fmt: skip


def test_a_rewrite_reaches_whole_replies_alone_and_counts_lost_codes() -> None:
    rewriter = Rewriter([
        ("The one with QX-4821 is Mara.", "stop"), ("Ivo holds a code.", "stop"),
        ("Team Kite holds ZB-", "length"), ("  ", "stop"),
    ])  # fmt: skip
    written = rewrite_notes(OLD, rewriter=rewriter, budget=BUDGET)
    notes = json.loads(written.content)["notes"]
    assert [note["text"] for note in notes] == [
        "The one with QX-4821 is Mara.", "Ivo holds a code.", "Team Kite holds ZB-7777.", "",
        "Lea holds MM-2222.",
    ]  # fmt: skip
    figures = rewrite_figures(OLD, written.content, code_pattern=DEFAULT_CODE_PATTERN)
    assert figures == RewriteFigures(notes=4, reached=2, dropping=1)
    assert "did not reach 2 of 4 notes" in written.notices[0]
    assert "1 cut off at the output limit, 1 empty" in written.notices[0]


def test_a_rewriter_sees_one_window_of_notes_and_nothing_else() -> None:
    rewriter = Rewriter([("x", "stop")] * 4)
    rewrite_notes(OLD, rewriter=rewriter, budget=BUDGET)
    assert len(rewriter.requests) == 4
    assert "Mara holds QX-4821." in rewriter.requests[0].suffix
    assert "Ivo" not in rewriter.requests[0].suffix


def test_a_rewrite_that_outgrows_the_cap_is_cut_and_says_so() -> None:
    rewriter = Rewriter([("word " * 200, "stop")] * 4)
    written = rewrite_notes(
        OLD, rewriter=rewriter, budget=WriteBudget(writer_output_tokens=200, notes_kib=1)
    )
    assert len(written.content) <= 1024
    assert any("cut at the cap of 1 KiB" in notice for notice in written.notices)
