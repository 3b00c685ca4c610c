"""Checks that every chat engine makes before it sends a request and after it has a reply."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema

from stores.roles import ContextOverflowError, EngineError


def require_room(
    *, prompt_tokens: int, max_output_tokens: int, context_tokens: int, model: str
) -> None:
    """Raise `ContextOverflowError` where the prompt and its reserved output do not fit."""
    needed = prompt_tokens + max_output_tokens
    if needed > context_tokens:
        raise ContextOverflowError(
            f"model {model!r}: the prompt has {prompt_tokens:,} tokens and reserves "
            f"{max_output_tokens:,} for its output, {needed:,} together; the context holds "
            f"{context_tokens:,}."
        )


def require_schema(schema: Mapping[str, Any]) -> None:
    """Raise `EngineError` where a JSON schema is none: engines ignore such a schema silently."""
    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        raise EngineError(f"the JSON schema of the request is invalid: {error.message}.") from error


def require_json(text: str, schema: Mapping[str, Any], *, model: str) -> None:
    """Raise `EngineError` where a finished reply does not follow the schema that it was given."""
    try:
        jsonschema.Draft202012Validator(dict(schema)).validate(json.loads(text))
    except json.JSONDecodeError as error:
        raise EngineError(
            f"model {model!r} did not follow the JSON schema: its reply is no JSON ({error})."
        ) from error
    except jsonschema.ValidationError as error:
        raise EngineError(
            f"model {model!r} did not follow the JSON schema: {error.message} at {error.json_path}."
        ) from error
