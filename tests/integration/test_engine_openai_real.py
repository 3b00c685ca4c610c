"""The `openai_api` engine against a real server: llama.cpp's own, on the 135M."""

import json
from collections.abc import Iterator

import pytest

from experiments.engines.endpoint import Endpoint
from experiments.engines.llama_cpp import LlamaCppModel
from experiments.engines.openai_api import OpenAIChatModel
from experiments.engines.retrying import RetryPolicy
from stores.roles import ChatRequest, ContextOverflowError, EngineError
from stores.workload.generator import generate
from tests.model_files import SMALL, open_small_model

pytestmark = pytest.mark.model

SCHEMA = {
    "type": "object", "properties": {"kind": {"enum": ["code", "name"]}},
    "required": ["kind"], "additionalProperties": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def local() -> Iterator[LlamaCppModel]:
    opened = open_small_model(512)
    yield opened
    opened.close()


def a_model(local: LlamaCppModel, key: str | None = None) -> OpenAIChatModel:
    server = local._open()
    endpoint = Endpoint(
        f"http://{server._host}:{server._port}/v1", api_key=key or server._api_key,
        key_name="DEMO_KEY", timeout_s=60, retry=RetryPolicy(tries=1),
    )  # fmt: skip
    return OpenAIChatModel(endpoint, model=SMALL, context_tokens=512)


def test_a_real_server_answers_counts_and_caches(local):
    model = a_model(local)
    requests = [ChatRequest("Be brief.", "Anna has QX-4821. " * 8, q, 6) for q in ("Who?", "What?")]
    first, second = model.chat(requests)
    assert first.text
    assert first.served_model == SMALL
    assert first.finish_reason in ("stop", "length")
    assert 0 < first.output_tokens <= 6
    assert second.cached_tokens > 50
    assert model.token_counts_are_estimates


def test_estimates_are_above_the_real_counts_and_not_far_above(local):
    model = a_model(local)
    history = "\n".join(event.text for event in generate("tiny", seed=3)[0].events)
    for text in (history, "QX-4821 is the code.", "Später: «naïve café», 東京, №5.", "a b c d"):
        real = local.count_tokens(text)
        assert real <= model.count_tokens(text) <= 2.5 * real, text


def test_a_real_server_follows_a_schema(local):
    request = ChatRequest("", "", "Is QX-4821 a code or a name?", 24, json_schema=SCHEMA)
    assert json.loads(a_model(local).chat([request])[0].text)["kind"] in ("code", "name")


def test_a_real_server_refuses_a_wrong_key_and_a_length(local):
    with pytest.raises(EngineError, match=r"refuses the key in DEMO_KEY \(HTTP 401\)"):
        a_model(local, "wrong")
    with pytest.raises(ContextOverflowError):
        a_model(local).chat([ChatRequest("", "", "word " * 700, 6)])
