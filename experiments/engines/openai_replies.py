"""Reading a chat completion: its text, why it ended, what it cost; or why it is no answer."""

import re
from collections.abc import Mapping
from typing import Any

from experiments.engines.endpoint_errors import MalformedReplyError
from stores.roles import ChatReply, EngineError, FinishReason

FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refused",
}


def chat_reply(reply: Mapping[str, Any], wall_s: float, *, model: str) -> ChatReply:
    """Turn the JSON of a chat completion into a reply.

    Raises `MalformedReplyError` (worth another try) where the answer is missing or half there, and
    `EngineError` where another model answered or the answer is of a kind that memport cannot use.
    """
    served = require_model(reply, model)
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedReplyError(f"model {model!r} answered without a choice.")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise MalformedReplyError(f"model {model!r} answered without a message.")
    text, reason = _text_and_reason(message, choices[0].get("finish_reason"), model)
    prompt_tokens, cached_tokens, output_tokens = _usage(reply.get("usage"), model)
    return ChatReply(
        text=text,
        finish_reason=reason,
        prompt_tokens=prompt_tokens,
        cached_tokens=cached_tokens,
        primed_tokens=0,
        output_tokens=output_tokens,
        wall_s=wall_s,
        served_model=served,
    )


def require_model(reply: Mapping[str, Any], model: str) -> str:
    """Return the name that a reply says it comes from; raise `EngineError` where it is another.

    A hosted name may be served by its dated snapshot: `name-2026-01-31` is `name`.
    """
    served = reply.get("model")
    if not isinstance(served, str) or not served:
        raise EngineError(f"the endpoint does not say which model answered for {model!r}.")
    if served == model or re.fullmatch(rf"{re.escape(model)}-\d{{4}}-?\d\d-?\d\d", served):
        return served
    raise EngineError(f"another model answered: the plan names {model!r}, the endpoint {served!r}.")


def _text_and_reason(
    message: Mapping[str, Any], finish: object, model: str
) -> tuple[str, FinishReason]:
    if refusal := message.get("refusal"):
        return str(refusal), "refused"
    if finish == "abort":
        raise MalformedReplyError(f"the endpoint aborted the answer of model {model!r}.")
    if finish not in FINISH:
        raise EngineError(f"model {model!r} ended for an unknown reason: {finish!r}.")
    reason = FINISH[str(finish)]
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if content is None:
        if reason == "stop":
            raise EngineError(f"model {model!r} answered without text.")
        content = ""
    return str(content), reason


def _usage(usage: object, model: str) -> tuple[int, int, int]:
    """Return prompt, cached and output tokens; an endpoint that reports none cannot be costed."""
    if not isinstance(usage, dict):
        raise EngineError(f"the endpoint reports no token usage for model {model!r}.")
    prompt, output = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(output, int):
        raise EngineError(f"the endpoint's token usage for model {model!r} is incomplete.")
    # vLLM sends null here unless it is started with --enable-prompt-tokens-details.
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return prompt, cached if isinstance(cached, int) else 0, output
