"""The `scripted` engine: a pure function of its request, as good or bad as it is told to be."""

import json

import numpy as np
import pytest

from experiments.engines.embedders import open_embedder
from experiments.engines.engines import open_chat_model
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.roles import ChatModel, ChatRequest, ContextOverflowError, Embedder, EngineError
from stores.workload.generator import generate

BUDGET = WriteBudget(writer_output_tokens=500)
MEMORY = "[1] The code of Anna is AA-1111.\n[2] The key of Bert is BB-2222.\n"


def a_model(key: str = "new", context_tokens: int = 4096, **options: object) -> ChatModel:
    plan = schema.Model(key=key, engine="scripted", options=options)
    return open_chat_model(plan, context_tokens=context_tokens, catalogue=None)  # type: ignore[arg-type]


def an_embedder(key: str = "bag") -> Embedder:
    plan = schema.Embedder(key=key, engine="scripted")
    return open_embedder(plan, catalogue=None)  # type: ignore[arg-type]


def a_question(text: str = "What is the code of Anna?", **changes: object) -> ChatRequest:
    values = {"system": "S", "prefix": MEMORY, "max_output_tokens": 16, **changes}
    return ChatRequest(suffix=f"Question: {text}\nAnswer:", **values)  # type: ignore[arg-type]


def right_share(model: ChatModel, name: str) -> float:
    """Write and read all tiny histories in one format; return the share of right answers."""
    memory_format, embedder = FORMATS[name], an_embedder()
    right: list[bool] = []
    for history in generate("tiny", seed=1):
        written = memory_format.write(history, writer=model, embedder=embedder, budget=BUDGET)
        readings = memory_format.read(
            written.content, history.probes, embedder=embedder, budget=BUDGET
        )
        replies = model.chat([ChatRequest(r.system, r.prefix, r.suffix, 16) for r in readings])
        right += [p.answer in reply.text for p, reply in zip(history.probes, replies, strict=True)]
    return sum(right) / len(right)


@pytest.mark.parametrize("name", ["lc_raw", "rag", "notes", "kg_fixed"])
def test_a_good_scripted_model_gets_most_probes_of_every_format_right(name):
    assert right_share(a_model(), name) >= 0.6


def test_accuracy_and_keep_are_what_the_options_say():
    right = right_share(a_model(), "lc_raw")
    assert right_share(a_model(accuracy=0.5), "lc_raw") < right
    assert right_share(a_model(accuracy=0.0), "lc_raw") < 0.3
    assert right_share(a_model(keep=0.4), "notes") < right_share(a_model(), "notes")


def test_order_repetition_and_forgetting_change_nothing():
    model = a_model(accuracy=0.5)
    requests = [a_question(f"What is the code of Anna, asked for time {n}?") for n in range(12)]
    texts = [reply.text for reply in model.chat(requests)]
    assert len(set(texts)) == 2
    model.forget()
    assert [reply.text for reply in model.chat(requests[::-1])][::-1] == texts


def test_a_prefix_counts_as_computed_once_and_primed_anew_after_forgetting():
    model = a_model()
    first, second = model.chat([a_question(), a_question("What is the key of Bert?")])
    shared = model.count_tokens("S") + model.count_tokens(MEMORY)
    assert (first.cached_tokens, first.primed_tokens) == (shared, shared + 1)
    assert (second.cached_tokens, second.primed_tokens) == (shared, 1)
    assert (first.text, second.text) == ("AA-1111", "BB-2222")
    model.forget()
    assert model.chat([a_question()])[0].primed_tokens == shared + 1


def test_an_output_beyond_its_limit_is_cut_and_says_so():
    request = ChatRequest("Take notes.", "", MEMORY, 4)
    reply = a_model().chat([request])[0]
    assert (reply.text, reply.finish_reason, reply.output_tokens) == ("- The code of", "length", 4)


def test_a_schema_is_filled_from_the_lines():
    claim = {
        "type": "object",
        "properties": {
            "event": {"enum": [1, 2]}, "subject": {"type": "string"},
            "predicate": {"enum": ["has_key", "has_code"]}, "object": {"type": "string"},
        },
        "required": ["event", "subject", "predicate", "object"],
    }  # fmt: skip
    wanted = {"type": "object", "properties": {"claims": {"type": "array", "items": claim}}}
    reply = a_model().chat([ChatRequest("S", "", MEMORY, 50, json_schema=wanted)])[0]
    assert json.loads(reply.text)["claims"] == [
        {"event": 1, "subject": "Anna", "predicate": "has_code", "object": "AA-1111"},
        {"event": 2, "subject": "Bert", "predicate": "has_key", "object": "BB-2222"},
    ]


def test_a_list_per_numbered_line_is_filled_from_that_line():
    place = {"type": "string", "minLength": 1}
    claim = {"type": "array", "prefixItems": [place, {"enum": ["key", "code"]}, place, place],
             "items": False, "minItems": 3}  # fmt: skip
    lists = {str(n): {"type": "array", "items": claim} for n in (1, 2, 3)}
    memory = f"<events>\n{MEMORY}[3] nothing at all\n</events>\n"
    request = ChatRequest("S", "", memory, 50, json_schema={"type": "object", "properties": lists})
    assert json.loads(a_model().chat([request])[0].text) == {
        "1": [["Anna", "code", "AA-1111"]], "2": [["Bert", "key", "BB-2222"]], "3": [],
    }  # fmt: skip


def test_events_may_stand_under_days_and_have_no_numbers():
    text = "<events>\nOn 2026-01-05:\n09:58 analyst: one\n11:08 clerk: two\n</events>\n"
    reply = a_model().chat([ChatRequest("S", "", text, 50)])[0]
    assert reply.text == "- 09:58 analyst: one\n- 11:08 clerk: two"


def test_it_fails_where_and_as_often_as_it_is_told():
    model = a_model(fail_on="Bert?", fail_times=2, fail_retryable=True)
    bert = a_question("What is the key of Bert?")
    for _ in range(2):
        with pytest.raises(EngineError, match="fails on 'Bert") as caught:
            model.chat([bert])
        assert caught.value.retryable
    assert model.chat([bert])[0].text == "BB-2222"
    always = a_model(fail_on="Bert?")
    with pytest.raises(EngineError) as caught:
        always.chat([bert])
    assert not caught.value.retryable
    assert always.chat([a_question()])[0].text == "AA-1111"


def test_it_refuses_what_it_is_told_to_refuse():
    assert a_model(refuse_on="Anna?").chat([a_question()])[0].finish_reason == "refused"


def test_a_prompt_beyond_the_context_is_refused():
    with pytest.raises(ContextOverflowError):
        a_model(context_tokens=20).chat([a_question()])


def test_a_memory_without_codes_is_answered_with_not_knowing():
    assert a_model().chat([a_question(prefix="Nothing.\n")])[0].text == "I do not know."


def test_it_never_passes_for_a_real_model():
    assert a_model().identity.engine == "scripted"
    assert an_embedder().generation.engine == "scripted"
    assert a_model().identity.fingerprint != a_model(accuracy=0.5).identity.fingerprint


@pytest.mark.parametrize("options", [{"acuracy": 1}, {"accuracy": 2}, {"delay_s": -1}])
def test_a_wrong_option_is_named(options):
    with pytest.raises(InvalidInputError, match=next(iter(options))):
        a_model(**options)


def test_two_embedders_have_two_spaces_and_words_make_texts_near():
    one, two = an_embedder("one"), an_embedder("two")
    texts = [line for line in MEMORY.splitlines() if line]
    assert (one.embed_queries(["code of Anna"]) @ one.embed_passages(texts).T).argmax() == 0
    np.testing.assert_allclose(np.linalg.norm(one.embed_passages(texts), axis=1), 1, atol=1e-6)
    assert (one.embed_passages(texts) * two.embed_passages(texts)).sum(axis=1).mean() < 0.5
