"""What an endpoint's refusals mean, in the words of the person who gave the plan."""

import json
from dataclasses import dataclass, field

from experiments.engines.retrying import RETRIED_STATUS
from stores.roles import ContextOverflowError, EngineError

MESSAGE_CHARS = 300
# What hosted services, vLLM and llama.cpp say of a prompt that is too long.
OVERFLOW_WORDS = (
    "context_length_exceeded",
    "maximum context length",
    "max_model_len",
    "exceed_context_size_error",
)


class MalformedReplyError(EngineError):
    """A reply that is no whole answer; the same call may get one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


@dataclass(frozen=True, slots=True)
class Names:
    """How an endpoint is called in messages. The key is here to be taken out of them."""

    base_url: str
    api_key: str = field(repr=False)
    key_name: str


def refusal(status: int, text: str, names: Names) -> EngineError:
    """Say what an HTTP status other than 200 means, with the server's own words."""
    said = _server_message(text)
    if names.api_key:
        said = said.replace(names.api_key, "***")
    url = names.base_url
    if status in (400, 413, 422) and any(word in text for word in OVERFLOW_WORDS):
        return ContextOverflowError(f"the endpoint {url} refuses the length: {said}")
    if status in (401, 403):
        key = f"the key in {names.key_name}" if names.key_name else "a call without a key"
        return EngineError(f"the endpoint {url} refuses {key} (HTTP {status}).")
    if status == 429:
        return EngineError(f"the endpoint {url} limits the rate (HTTP 429): {said}", retryable=True)
    return EngineError(
        f"the endpoint {url} answered HTTP {status}: {said}", retryable=status in RETRIED_STATUS
    )


def _server_message(text: str) -> str:
    """Return the message in an error's JSON, or the beginning of the text."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        value = text
    for key in ("error", "message", "detail"):
        if isinstance(value, dict) and key in value:
            value = value[key]
    said = " ".join(str(value).split())[:MESSAGE_CHARS].rstrip(".")
    return f"{said or 'no message'}."
