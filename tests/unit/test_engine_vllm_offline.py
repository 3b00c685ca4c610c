"""The `vllm_offline` engine: how requests are put to vLLM, shown with a stand-in for its module."""

import types
from dataclasses import dataclass, field
from typing import Any

import pytest

from experiments.engines.engines import open_chat_model
from experiments.engines.vllm_offline import VllmModel, load_vllm
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import ChatRequest, ContextOverflowError, EngineError


@dataclass
class Tokenizer:
    """One token per character; the template is plain to see."""

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [ord(letter) for letter in text]

    def apply_chat_template(
        self, messages: Any, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        assert (tokenize, add_generation_prompt) == (False, True)
        return "".join(f"<{m['role']}>{m['content']}" for m in messages) + "<assistant>"


@dataclass
class FakeLLM:
    """Stands for `vllm.LLM`: keeps what it was asked, answers what it was told."""

    arguments: dict[str, Any]
    text: str = "QX-4821"
    finish: str | None = "stop"
    fails: Exception | None = None
    batches: list[tuple[list[str], list[Any]]] = field(default_factory=list)
    resets: int = 0

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def generate(self, prompts: Any, parameters: Any, use_tqdm: bool) -> list[Any]:
        assert use_tqdm is False
        if self.fails:
            raise self.fails
        texts = ["".join(map(chr, p["prompt_token_ids"])) for p in prompts]
        self.batches.append((texts, parameters))
        answer = types.SimpleNamespace(text=self.text, finish_reason=self.finish, token_ids=[1, 2])
        return [
            types.SimpleNamespace(
                prompt_token_ids=p["prompt_token_ids"], num_cached_tokens=None, outputs=[answer]
            )
            for p in prompts
        ]

    def reset_prefix_cache(self) -> None:
        self.resets += 1


def fake_vllm(**llm: Any) -> Any:
    """A module with those parts of vLLM that the engine uses."""
    made: list[FakeLLM] = []

    def make(**arguments: Any) -> FakeLLM:
        made.append(FakeLLM(arguments, **llm))
        return made[-1]

    return types.SimpleNamespace(
        LLM=make, made=made, __version__="0.11.0",
        SamplingParams=lambda **values: values,
        sampling_params=types.SimpleNamespace(StructuredOutputsParams=lambda json: ("json", json)),
    )  # fmt: skip


def a_model(vllm: Any, context_tokens: int = 500, **options: Any) -> VllmModel:
    return VllmModel(
        "some/model", key="some/model", fingerprint="", context_tokens=context_tokens,
        options=options, import_vllm=lambda: vllm,
    )  # fmt: skip


def test_a_prefix_is_computed_alone_once_and_its_neighbours_go_as_one_batch():
    vllm = fake_vllm()
    model = a_model(vllm)
    replies = model.chat([ChatRequest("S", "memory ", q, 8) for q in ("q1", "q2")])
    prefix = "<system>S<user>memory "
    assert [texts for texts, _ in vllm.made[0].batches] == [
        [prefix],
        [f"{prefix}q1<assistant>", f"{prefix}q2<assistant>"],
    ]
    assert [reply.primed_tokens for reply in replies] == [len(prefix), 0]
    assert (replies[0].text, replies[0].finish_reason) == ("QX-4821", "stop")
    assert (replies[0].prompt_tokens, replies[0].output_tokens) == (len(prefix) + 13, 2)
    model.chat([ChatRequest("S", "memory ", "q3", 8)])
    assert len(vllm.made[0].batches) == 3, "a known prefix is not computed again"


def test_forgetting_empties_the_cache_and_primes_anew():
    vllm = fake_vllm()
    model = a_model(vllm)
    request = ChatRequest("", "memory ", "q", 8)
    model.chat([request])
    model.forget()
    assert vllm.made[0].resets == 1
    assert model.chat([request])[0].primed_tokens == len("<user>memory ")


def test_two_prefixes_in_one_call_are_two_batches():
    vllm = fake_vllm()
    a_model(vllm).chat([ChatRequest("", p, "q", 8) for p in ("A", "A", "B")])
    assert [len(texts) for texts, _ in vllm.made[0].batches] == [1, 2, 1, 1]


def test_everything_that_decides_an_answer_is_set():
    vllm = fake_vllm(text='{"a": 1}')
    schema_ = {"type": "object", "properties": {"a": {"type": "integer"}}}
    request = ChatRequest(
        "", "", "q", 8, temperature=0.2, seed=7, stop=("\n",), json_schema=schema_
    )
    a_model(vllm, dtype="bfloat16").chat([request])
    assert vllm.made[0].batches[-1][1] == [
        {"max_tokens": 8, "temperature": 0.2, "top_p": 1.0, "seed": 7, "stop": ["\n"],
         "structured_outputs": ("json", schema_)}
    ]  # fmt: skip
    assert vllm.made[0].arguments == {
        "model": "some/model", "max_model_len": 500, "enable_prefix_caching": True,
        "disable_log_stats": True, "seed": 0, "dtype": "bfloat16",
    }  # fmt: skip


def test_a_prompt_beyond_the_context_is_refused_before_it_is_sent():
    vllm = fake_vllm()
    with pytest.raises(ContextOverflowError, match="reserves 8 for its output"):
        a_model(vllm).chat([ChatRequest("", "", "x" * 500, 8)])
    assert vllm.made[0].batches == []


def test_a_reply_that_breaks_its_schema_is_an_error():
    request = ChatRequest("", "", "q", 8, json_schema={"type": "object"})
    with pytest.raises(EngineError, match="did not follow the JSON schema"):
        a_model(fake_vllm(text="no json")).chat([request])


def test_an_aborted_answer_may_be_asked_for_again():
    with pytest.raises(EngineError, match="unknown reason: 'abort'") as caught:
        a_model(fake_vllm(finish="abort")).chat([ChatRequest("", "", "q", 8)])
    assert caught.value.retryable


def test_a_failure_inside_vllm_is_an_engine_error():
    model = a_model(fake_vllm(fails=RuntimeError("CUDA out of memory")))
    with pytest.raises(EngineError, match="vLLM failed on model 'some/model': CUDA out of memory"):
        model.chat([ChatRequest("", "", "q", 8)])


def test_a_closed_model_says_so():
    model = a_model(fake_vllm())
    model.close()
    with pytest.raises(EngineError, match="is closed"):
        model.chat([ChatRequest("", "", "q", 8)])


def test_without_vllm_the_error_says_what_to_install_or_choose(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vllm", None)
    with pytest.raises(EngineError, match=r"vLLM is not installed here: install memport\[worker\]"):
        load_vllm()


@pytest.mark.parametrize(
    ("values", "words"),
    [({}, "no model is named"),
     ({"model": "m", "options": {"dtipe": 1}}, "unknown option 'dtipe'")],
)  # fmt: skip
def test_a_plan_that_describes_it_wrongly_is_refused(values, words):
    plan = schema.Model(key="m", engine="vllm_offline", **values)
    with pytest.raises(InvalidInputError, match=words):
        open_chat_model(plan, context_tokens=512, catalogue=None)  # type: ignore[arg-type]


def test_local_weights_are_fingerprinted_and_a_hub_name_by_its_revision(tmp_path):
    from experiments.engines.engines import folder_fingerprint

    assert folder_fingerprint(tmp_path) == ""
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    first = folder_fingerprint(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"other")
    assert first.startswith("sha256:")
    assert folder_fingerprint(tmp_path) != first
    model = a_model(fake_vllm(), revision="abc")
    assert model.identity.fingerprint == "hub:some/model@abc"
    assert model.identity.engine_version == "vllm 0.11.0"
