"""From a plan's words to an `Endpoint`."""

import os
from typing import Any

from experiments.engines.endpoint import Endpoint
from experiments.engines.opening import positive_number, whole_number
from experiments.engines.retrying import RetryPolicy
from experiments.plan import schema
from stores.errors import InvalidInputError

ENDPOINT_OPTIONS = ("concurrency", "connect_timeout_s", "timeout_s", "tries")


def open_endpoint(part: schema.Model | schema.Embedder, *, where: str) -> tuple[Endpoint, str]:
    """Return the endpoint of a plan's model and the model's name there.

    The key is read from the environment variable that the plan names. Raises `InvalidInputError`
    where the address, the name or the key is missing, or an option is none.
    """
    for name, value in (("base_url", part.base_url), ("model", part.model)):
        if not value:
            raise InvalidInputError(
                f"the endpoint's {name} is missing",
                where=f"{where}.{name}",
                expected="`base_url` and `model` together",
            )
    api_key = ""
    if part.api_key_env:
        api_key = os.environ.get(part.api_key_env, "").strip()
        if not api_key:
            raise InvalidInputError(
                f"the environment variable {part.api_key_env} holds no key",
                where=f"{where}.api_key_env",
            )
    endpoint = Endpoint(
        base_url=str(part.base_url),
        api_key=api_key,
        key_name=part.api_key_env or "",
        **_settings(part.options, f"{where}.options"),
    )
    return endpoint, str(part.model)


def _settings(options: dict[str, Any], where: str) -> dict[str, Any]:
    tries = whole_number(options, "tries", default=RetryPolicy().tries, highest=100, where=where)
    return {
        "concurrency": whole_number(options, "concurrency", default=8, highest=512, where=where),
        "connect_timeout_s": positive_number(options, "connect_timeout_s", 10.0, where=where),
        "timeout_s": positive_number(options, "timeout_s", 300.0, where=where),
        "retry": RetryPolicy(tries=tries),
    }
