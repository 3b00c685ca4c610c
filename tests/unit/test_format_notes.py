"""`notes`: written window by window, capped, read whole."""

import json

import pytest

from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.formats.prompts import load_prompt
from stores.roles import ChatRequest
from stores.workload.types import Event, History
from tests.unit.format_fakes import HISTORY, ScriptedWriter

NOTES = FORMATS["notes"]
BUDGET = WriteBudget(writer_output_tokens=77, events_per_window=2, seed=5)


def copied(request: ChatRequest) -> str:
    """The events of the request, as they are."""
    return request.suffix.split("<events>\n")[1].split("\n</events>")[0]


def written(history: History = HISTORY, script=copied, budget=BUDGET, reason="stop"):  # type: ignore[no-untyped-def]
    writer = ScriptedWriter(script, reason)
    return NOTES.write(history, writer=writer, embedder=None, budget=budget), writer


def test_each_window_is_one_call_with_the_same_allowance() -> None:
    result, writer = written()
    assert len(writer.asked) == 3
    assert {(r.max_output_tokens, r.seed, r.temperature, r.system) for r in writer.asked} == {
        (77, 5, 0.0, load_prompt("notes").system)
    }
    assert "AB-1234" in writer.asked[0].suffix
    assert "AB-1234" not in writer.asked[1].suffix
    prompt = load_prompt("notes")
    assert (result.prompt_version, result.prompt_sha256) == ("v2", prompt.sha256)
    assert result.notices == ()


def test_no_call_depends_on_an_earlier_reply() -> None:
    _, one = written(script=lambda request: "AA-0000 first")
    _, two = written(script=lambda request: "BB-1111 second")
    assert one.asked == two.asked


def test_the_whole_notes_are_the_shared_prefix() -> None:
    result, _ = written()
    one, two = NOTES.read(result.content, HISTORY.probes, embedder=None, budget=BUDGET)
    assert one.prefix == two.prefix
    assert all(event.text in one.prefix for event in HISTORY.events)


def test_every_line_is_an_item_with_the_events_of_its_window() -> None:
    result, _ = written(script=lambda request: "\n- one\n\n- two\n")
    items = NOTES.describe(result.content)
    assert [item["item"] for item in items][:3] == ["note-001-01", "note-001-02", "note-002-01"]
    assert items[0]["text"] == "- one"
    assert items[2]["events"] == ["e03", "e04"]


@pytest.mark.parametrize(
    ("text", "reason", "notice"),
    [
        ("Olmar: AB-12", "length", "events 1 to 2 was cut off at its limit of 77 tokens"),
        ("I cannot do that.", "refused", "refused to write down events 1 to 2"),
        ("  \n", "stop", "wrote nothing for events 1 to 2"),
    ],
)
def test_a_window_that_went_wrong_is_noticed_and_kept(text: str, reason: str, notice: str) -> None:
    result, _ = written(script=lambda request: text, reason=reason)
    assert notice in result.notices[0]
    assert len(result.notices) == 3
    assert json.loads(result.content)["notes"][0]["text"] == text.strip()


@pytest.mark.parametrize("text", ["ä€😀" * 3000, "\n".join(f"line {n} ä€😀" for n in range(900))])
def test_the_cap_holds_for_the_stored_bytes_and_cuts_no_character(text: str) -> None:
    history = History("h", tuple(Event(f"e{n}", n, "x") for n in range(1, 4)))
    budget = WriteBudget(writer_output_tokens=9, notes_kib=5, events_per_window=1)
    replies = iter(["short note", text, "never reached"])
    result, _ = written(history, lambda request: next(replies), budget)
    assert 4.8 * 1024 < len(result.content) <= 5 * 1024
    kept = [part["text"] for part in json.loads(result.content)["notes"]]
    assert kept[0] == "short note"
    assert len(kept) == 2
    assert text.startswith(kept[1])
    if "\n" in text:
        assert text[len(kept[1])] == "\n"
    assert "cut at the cap of 5 KiB (5,120 bytes)" in result.notices[-1]


def test_equal_replies_are_equal_bytes() -> None:
    assert written()[0].content == written()[0].content


def test_an_empty_history_needs_no_call() -> None:
    result, writer = written(History("empty", ()))
    assert (writer.asked, NOTES.describe(result.content)) == ([], [])


def test_a_lone_surrogate_in_a_reply_does_not_break_the_store() -> None:
    result, _ = written(script=lambda request: "code \ud800 AB-1234")
    assert "AB-1234" in NOTES.describe(result.content)[0]["text"]
