"""Checks that opening a model and opening an embedder share."""

from collections.abc import Mapping
from typing import Any

from experiments.engines.catalogue import Catalogue
from experiments.engines.catalogue_schema import ModelKind
from stores.errors import InvalidInputError


def catalogue_key(key: str | None, kind: ModelKind, where: str, catalogue: Catalogue) -> str:
    """Return a plan's catalogue key; raises `InvalidInputError` where it is not of this kind."""
    of_kind = [name for name in catalogue.keys() if catalogue.entry(name).kind == kind]  # noqa: SIM118
    if key is None:
        raise InvalidInputError(
            "no model is named",
            where=f"{where}.catalogue",
            expected=f"one of {', '.join(of_kind)}",
        )
    if catalogue.entry(key).kind != kind:
        raise InvalidInputError(
            f"{key!r} is no {kind} model",
            where=f"{where}.catalogue",
            expected=f"one of {', '.join(of_kind)}",
        )
    return key


def require_options(options: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Raise `InvalidInputError` for an option that the engine does not know."""
    for name in options:
        if name not in known:
            raise InvalidInputError(
                f"unknown option {name!r}",
                where=where,
                expected=f"options among {', '.join(known)}",
            )


def whole_number(
    options: Mapping[str, Any], name: str, *, default: int, highest: int, where: str
) -> int:
    """Return an option that is a whole number from 1; raises `InvalidInputError`."""
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= highest:
        raise InvalidInputError(
            f"{name} is {value!r}", where=where, expected=f"a whole number from 1 to {highest:,}"
        )
    return value


def positive_number(options: Mapping[str, Any], name: str, default: float, *, where: str) -> float:
    """Return an option that is a number above 0; raises `InvalidInputError`."""
    value = options.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise InvalidInputError(f"{name} is {value!r}", where=where, expected="a number above 0")
    return float(value)
