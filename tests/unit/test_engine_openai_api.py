"""The `openai_api` engine against a server that does everything that endpoints do wrong."""

import logging
import random
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from experiments.engines.catalogue import Catalogue
from experiments.engines.endpoint import Endpoint
from experiments.engines.engines import open_chat_model
from experiments.engines.openai_api import OpenAIChatModel
from experiments.engines.retrying import RetryPolicy
from experiments.plan import schema
from stores.errors import InvalidInputError
from stores.roles import ChatRequest, ContextOverflowError, EngineError
from tests.fake_endpoint import MODEL, Answer, FakeEndpoint, choice, completion

KEY = "sk-very-secret-0123456789"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
CATALOGUE: Any = None  # Endpoints need no catalogue.


@pytest.fixture
def server() -> Iterator[FakeEndpoint]:
    with FakeEndpoint() as endpoint:
        yield endpoint


class Waits:
    """Stands for the clock: records every wait and does not wait."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


def a_model(server: FakeEndpoint, waits: Waits | None = None, **changes: Any) -> OpenAIChatModel:
    values: dict[str, Any] = {
        "base_url": server.base_url, "api_key": KEY, "key_name": "DEMO_KEY", "timeout_s": 5.0,
        "retry": RetryPolicy(tries=4), "sleep": (waits or Waits()).sleep, "rng": random.Random(1),
        **changes,
    }  # fmt: skip
    return OpenAIChatModel(Endpoint(**values), model=MODEL, context_tokens=1000)


def a_request(suffix: str = "What is it?", **changes: Any) -> ChatRequest:
    values = {"system": "Be brief.", "prefix": "", "max_output_tokens": 8, **changes}
    return ChatRequest(suffix=suffix, **values)


def error_of(model: OpenAIChatModel, request: ChatRequest | None = None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        model.chat([request or a_request()])
    return caught.value


def test_a_reply_carries_text_counts_and_the_served_name(server):
    details = {"prompt_tokens": 20, "completion_tokens": 5,
               "prompt_tokens_details": {"cached_tokens": 16}}  # fmt: skip
    server.answer = lambda n, asked: Answer(completion("QX-1000", usage=details))
    reply = a_model(server).chat([a_request()])[0]
    assert (reply.text, reply.finish_reason, reply.served_model) == ("QX-1000", "stop", MODEL)
    assert (reply.prompt_tokens, reply.cached_tokens, reply.output_tokens) == (20, 16, 5)
    assert reply.wall_s > 0


def test_everything_that_decides_an_answer_is_sent(server):
    a_model(server).chat([
        a_request(prefix="Memory. ", stop=("\n",), seed=7, temperature=0.3, json_schema=None)
    ])  # fmt: skip
    body = server.chats()[0].body
    assert body == {
        "model": MODEL, "max_tokens": 8, "temperature": 0.3, "seed": 7, "stop": ["\n"],
        "messages": [{"role": "system", "content": "Be brief."},
                     {"role": "user", "content": "Memory. What is it?"}],
    }  # fmt: skip
    assert server.chats()[0].headers["Authorization"] == f"Bearer {KEY}"


def test_null_details_of_usage_mean_that_nothing_is_known_to_be_cached(server):
    assert a_model(server).chat([a_request()])[0].cached_tokens == 0


def test_a_schema_is_sent_and_a_reply_that_breaks_it_is_an_error(server):
    server.answer = lambda n, asked: Answer(completion('{"a": 1}' if n == 1 else '{"a": "x"}'))
    model = a_model(server)
    assert model.chat([a_request(json_schema=SCHEMA)])[0].text == '{"a": 1}'
    sent = server.chats()[0].body["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == SCHEMA
    assert "did not follow the JSON schema" in str(error_of(model, a_request(json_schema=SCHEMA)))


def test_a_schema_that_is_none_is_refused_before_anything_is_sent(server):
    error = error_of(a_model(server), a_request(json_schema={"type": "nonsense"}))
    assert "JSON schema of the request is invalid" in str(error)
    assert server.chats() == []


def test_an_endpoint_that_is_down_is_named_and_the_call_may_be_repeated():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    waits = Waits()
    with pytest.raises(EngineError, match=r"is down: .*tried 3 times") as caught:
        OpenAIChatModel(Endpoint(url, sleep=waits.sleep), model=MODEL, context_tokens=1000)
    assert caught.value.retryable
    assert len(waits.waited) == 2


def test_a_slow_endpoint_is_given_up_after_its_time(server):
    server.answer = lambda n, asked: Answer(completion(), wait_s=0.6)
    error = error_of(a_model(server, timeout_s=0.2, retry=RetryPolicy(tries=1)))
    assert "too slow: no answer within 0.2 s" in str(error)
    assert error.retryable


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(server, status):
    server.answer = lambda n, asked: Answer(completion(), status=status if n < 3 else 200)
    waits = Waits()
    assert a_model(server, waits).chat([a_request()])[0].text == "QX-4821"
    assert len(waits.waited) == 2
    assert 0.25 <= waits.waited[0] <= 0.5 <= waits.waited[1] <= 1.0


def test_a_rate_limit_without_end_says_so_and_how_often_it_was_tried(server):
    body = {"error": {"message": "Rate limit reached"}}
    server.answer = lambda n, asked: Answer(body, status=429)
    error = error_of(a_model(server))
    assert "limits the rate (HTTP 429): Rate limit reached; tried 4 times." in str(error)
    assert error.retryable


def test_the_wait_that_the_server_asks_for_is_kept_to_the_second(server):
    server.answer = lambda n, asked: Answer(
        completion(), status=429 if n == 1 else 200, headers={"Retry-After": "17"}
    )
    waits = Waits()
    a_model(server, waits).chat([a_request()])
    assert waits.waited == [17.0]


def test_a_wait_beyond_reason_is_handed_back_to_the_job(server):
    server.answer = lambda n, asked: Answer({}, status=429, headers={"Retry-After": "3600"})
    waits = Waits()
    error = error_of(a_model(server, waits))
    assert "asks to wait 3,600 s" in str(error)
    assert error.retryable
    assert waits.waited == []


def test_a_500_without_end_is_an_error_with_the_servers_words(server):
    server.answer = lambda n, asked: Answer(None, status=500, text="engine core died")
    error = error_of(a_model(server))
    assert "HTTP 500: engine core died; tried 4 times" in str(error)


@pytest.mark.parametrize(("status", "words"), [(400, "no such parameter"), (404, "not found")])
def test_a_refusal_is_not_tried_again(server, status, words):
    server.answer = lambda n, asked: Answer({"error": {"message": words}}, status=status)
    error = error_of(a_model(server))
    assert f"HTTP {status}: {words}" in str(error)
    assert not error.retryable
    assert len(server.chats()) == 1


def test_a_redirect_is_not_followed(server):
    server.answer = lambda n, asked: Answer({}, status=307, headers={"Location": "http://x.test/"})
    assert "HTTP 307" in str(error_of(a_model(server)))


def test_half_a_json_is_tried_again_and_then_named(server):
    server.answer = lambda n, asked: Answer(text='{"choices": [{"message"')
    error = error_of(a_model(server))
    assert "sent broken JSON (23 characters" in str(error)
    assert len(server.chats()) == 4


def test_a_connection_that_breaks_off_is_tried_again(server):
    server.answer = lambda n, asked: Answer(completion(), drop=n == 1)
    assert a_model(server).chat([a_request()])[0].text == "QX-4821"


def test_an_empty_choice_is_tried_again_and_then_named(server):
    server.answer = lambda n, asked: Answer(completion(choices=[]))
    assert "answered without a choice; tried 4 times" in str(error_of(a_model(server)))


def test_another_models_name_in_the_reply_is_an_error(server):
    server.answer = lambda n, asked: Answer(completion(model="other-model"))
    error = error_of(a_model(server))
    assert "the plan names 'demo-model', the endpoint 'other-model'" in str(error)
    assert not error.retryable


def test_a_dated_snapshot_of_the_model_is_that_model_and_recorded(server):
    server.answer = lambda n, asked: Answer(completion(model=f"{MODEL}-2026-02-01"))
    assert a_model(server).chat([a_request()])[0].served_model == f"{MODEL}-2026-02-01"


def test_a_model_that_the_endpoint_does_not_serve_is_refused_at_opening(server):
    server.models = ["demo-modle"]
    with pytest.raises(
        EngineError, match=r"does not serve 'demo-model'\. Did you mean 'demo-modle'"
    ):
        a_model(server)


def test_a_null_content_is_an_error_unless_the_output_was_used_up(server):
    server.answer = lambda n, asked: Answer(completion(None, **choice(None, "stop")))
    assert "answered without text" in str(error_of(a_model(server)))
    server.answer = lambda n, asked: Answer(completion(None, **choice(None, "length")))
    reply = a_model(server).chat([a_request()])[0]
    assert (reply.text, reply.finish_reason) == ("", "length")


@pytest.mark.parametrize(
    ("choices", "text", "reason"),
    [
        (choice("partly", "length"), "partly", "length"),
        (choice("", "content_filter"), "", "refused"),
        (choice(None, "stop", refusal="I cannot."), "I cannot.", "refused"),
        (choice("done", "stop"), "done", "stop"),
    ],
)
def test_the_end_of_an_answer_is_one_of_three(server, choices, text, reason):
    server.answer = lambda n, asked: Answer(completion(**choices))
    reply = a_model(server).chat([a_request()])[0]
    assert (reply.text, reply.finish_reason) == (text, reason)


def test_an_unknown_end_is_an_error(server):
    server.answer = lambda n, asked: Answer(completion(**choice("x", "tool_calls")))
    assert "unknown reason: 'tool_calls'" in str(error_of(a_model(server)))


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 3}])
def test_an_answer_without_token_counts_cannot_be_costed(server, usage):
    server.answer = lambda n, asked: Answer(completion(usage=usage))
    assert "token usage" in str(error_of(a_model(server)))


def test_a_refused_length_is_a_context_overflow(server):
    message = "This model's maximum context length is 512 tokens."
    server.answer = lambda n, asked: Answer({"error": {"message": message}}, status=400)
    error = error_of(a_model(server))
    assert isinstance(error, ContextOverflowError)
    assert message.rstrip(".") in str(error)


def test_a_prompt_beyond_the_plans_context_is_refused_before_it_is_sent():
    with FakeEndpoint(vllm="0.11.0") as server:
        error = error_of(a_model(server), a_request("word " * 1200))
        assert isinstance(error, ContextOverflowError)
        assert "1,202 tokens" in str(error)
        assert server.chats() == []


def test_a_server_with_less_context_than_the_plan_is_refused_at_opening():
    words = "512 tokens of context; the plan asks for"
    with (
        FakeEndpoint(vllm="0.11.0", max_model_len=512) as server,
        pytest.raises(ContextOverflowError, match=words),
    ):
        a_model(server)


def test_the_key_appears_in_no_error_log_or_repr(server, caplog):
    caplog.set_level(logging.DEBUG)
    said = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    model = a_model(server)
    for status in (400, 401, 500):
        server.answer = lambda n, asked, status=status: Answer(said, status=status)
        assert KEY not in str(error_of(model))
    assert KEY not in caplog.text
    assert KEY not in repr(model._endpoint)
    assert "refuses the key in DEMO_KEY (HTTP 401)" in str(
        error_of(_with(model, server, Answer(said, status=401)))
    )


def _with(model: OpenAIChatModel, server: FakeEndpoint, answer: Answer) -> OpenAIChatModel:
    server.answer = lambda n, asked: answer
    return model


def test_requests_run_side_by_side_up_to_the_limit_and_come_back_in_order(server):
    server.answer = lambda n, asked: Answer(
        completion(asked.body["messages"][-1]["content"]), wait_s=0.05
    )
    model = a_model(server, concurrency=3)
    requests = [a_request(f"q{i}") for i in range(10)]
    assert [reply.text for reply in model.chat(requests)] == [f"q{i}" for i in range(10)]
    assert server.most_in_flight == 3


def test_the_first_request_of_a_new_prefix_goes_alone(server):
    model = a_model(server)
    requests = [a_request("q", prefix=p) for p in ("A", "A", "A", "B", "B")]
    assert model._groups(requests) == [(0, 1), (1, 3), (3, 4), (4, 5)]
    assert model._groups([a_request("q", prefix="B")]) == [(0, 1)]


def test_on_vllm_forgetting_changes_the_salt_of_the_cache():
    with FakeEndpoint(vllm="0.11.0") as server:
        model = a_model(server)
        model.chat([a_request()])
        model.chat([a_request()])
        model.forget()
        model.chat([a_request()])
        salts = [asked.body["cache_salt"] for asked in server.chats()]
        assert salts[0] == salts[1] != salts[2]
        assert model.identity.engine_version == "vllm 0.11.0"


def test_token_counts_are_the_servers_or_say_that_they_are_estimates(server):
    guessing = a_model(server)
    assert guessing.token_counts_are_estimates
    assert guessing.count_tokens("QX-4821 is the code of Anna.") == 15
    with FakeEndpoint(vllm="0.11.0") as vllm:
        exact = a_model(vllm)
        assert not exact.token_counts_are_estimates
        assert exact.count_tokens("four words are here") == 4


def test_the_identity_is_of_the_endpoint_and_what_it_serves(server):
    identity = a_model(server).identity
    assert (identity.key, identity.engine, identity.revision) == (MODEL, "openai_api", MODEL)
    assert identity == a_model(server).identity
    assert identity.fingerprint.startswith("endpoint:")


def test_a_plan_opens_an_endpoint_with_the_key_from_the_environment(server, monkeypatch):
    monkeypatch.setenv("DEMO_KEY", KEY)
    plan = schema.Model(
        key="new", engine="openai_api", base_url=server.base_url, model=MODEL,
        api_key_env="DEMO_KEY", options={"timeout_s": 5},
    )  # fmt: skip
    assert open_chat_model(plan, context_tokens=500, catalogue=CATALOGUE).context_tokens == 500


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"base_url": None}, "base_url is missing"),
        ({"model": None}, "model is missing"),
        ({"base_url": "ftp://x"}, "no address of an endpoint"),
        ({"base_url": "http://me:pw@x/v1"}, "no address of an endpoint"),
        ({"api_key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY holds no key"),
        ({"options": {"timeout": 5}}, "unknown option 'timeout'"),
        ({"options": {"tries": 0}}, "tries is 0"),
        ({"options": {"max_tokens_field": "x"}}, "max_tokens_field is 'x'"),
    ],
)
def test_a_plan_that_describes_an_endpoint_wrongly_is_refused(change, words):
    values = {"base_url": "http://127.0.0.1:9/v1", "model": MODEL, **change}
    plan = schema.Model(key="new", engine="openai_api", **values)
    catalogue: Catalogue = CATALOGUE
    with pytest.raises(InvalidInputError, match=words):
        open_chat_model(plan, context_tokens=500, catalogue=catalogue)
