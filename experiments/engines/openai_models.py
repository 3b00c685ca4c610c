"""What an endpoint says about the model that it serves, asked once when it is opened."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from experiments.engines.catalogue import nearest
from experiments.engines.endpoint import Endpoint
from stores.roles import EngineError

# Facts of a model card that change with the model; `created` is the time of the question.
CARD_FACTS = ("id", "root", "parent", "max_model_len", "owned_by")
FIRST_VLLM_WITH_SALT = (0, 9)
# A person waits for these questions: they are given up sooner than answers are.
OPENING_TIMEOUT_S = 30.0
OPENING_TRIES = 3


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model card, and what its server can do beyond OpenAI's interface."""

    facts: Mapping[str, Any]
    root: str
    max_context_tokens: int
    vllm_version: str
    tokenizes: bool

    @property
    def salts_cache(self) -> bool:
        """Whether the server keeps caches of different salts apart."""
        numbers = self.vllm_version.split(".")[:2]
        if not all(number.isdigit() for number in numbers):
            return False
        return tuple(int(number) for number in numbers) >= FIRST_VLLM_WITH_SALT


def served_model(endpoint: Endpoint, model: str) -> ServedModel:
    """Ask an endpoint for the model; raises `EngineError` where it is down or serves others."""
    endpoint = replace(
        endpoint,
        timeout_s=min(endpoint.timeout_s, OPENING_TIMEOUT_S),
        retry=replace(endpoint.retry, tries=min(endpoint.retry.tries, OPENING_TRIES)),
    )
    url = endpoint.base_url.rstrip("/") + "/models"
    cards = endpoint.get(url, lambda reply, _: reply.get("data"))
    if not isinstance(cards, list):
        raise EngineError(f"{url} lists no models.")
    by_id = {str(card.get("id")): card for card in cards if isinstance(card, dict)}
    if model not in by_id:
        hint = nearest(model, [*by_id])
        raise EngineError(f"the endpoint {endpoint.base_url} does not serve {model!r}. {hint}")
    card = by_id[model]
    length = card.get("max_model_len")
    return ServedModel(
        facts={name: card.get(name) for name in CARD_FACTS},
        root=str(card.get("root") or ""),
        max_context_tokens=length if isinstance(length, int) else 0,
        vllm_version=_vllm_version(endpoint),
        tokenizes=_tokenizes(endpoint, model),
    )


def _vllm_version(endpoint: Endpoint) -> str:
    """Return the version of a vLLM server, or '' for any other."""
    try:
        version = endpoint.get(
            f"{endpoint.root_url}/version", lambda reply, _: reply.get("version")
        )
    except EngineError:
        return ""
    return version if isinstance(version, str) else ""


def _tokenizes(endpoint: Endpoint, model: str) -> bool:
    """Return whether the server has the tokenizer of vLLM's interface."""
    body = {"model": model, "prompt": "one", "add_special_tokens": False}
    try:
        count = endpoint.post(
            f"{endpoint.root_url}/tokenize", body, lambda reply, _: reply.get("count")
        )
    except EngineError:
        return False
    return isinstance(count, int)
