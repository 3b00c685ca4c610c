"""What a run cost: every call of it, also those of attempts that were given up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Q, Sum

from experiments.models import Call, Run


@dataclass(frozen=True, slots=True)
class Cost:
    """The calls of one role and model. `computed_tokens`: prompt tokens really computed.

    Token counts are None for embedders, which report none.
    """

    role: str
    model: str
    calls: int
    prompt_tokens: int | None
    cached_tokens: int | None
    computed_tokens: int | None
    output_tokens: int | None
    engine_s: float
    cost_usd: float


def costs(run: Run) -> list[Cost]:
    """Return the costs of a run by role and model.

    A store that was reused cost this run nothing; its calls belong to the run that built it.
    """
    rows = (
        Call.objects.filter(Q(build__run=run) | Q(attempt__evaluation__run=run))
        .values("role", "model")
        .annotate(
            calls=Count("pk"),
            prompt=Sum("prompt_tokens"),
            cached=Sum("cached_tokens"),
            computed=Sum(F("prompt_tokens") - F("cached_tokens") + F("primed_tokens")),
            output=Sum("output_tokens"),
            seconds=Sum("engine_s"),
            usd=Sum("cost_usd"),
        )
        .order_by("role", "model")
    )
    return [_cost(row) for row in rows]


def _cost(row: Mapping[str, Any]) -> Cost:
    counted = row["role"] != Call.Role.EMBEDDER
    tokens = {
        f"{name}_tokens": int(row[name]) if counted else None
        for name in ("prompt", "cached", "computed", "output")
    }
    return Cost(
        role=row["role"],
        model=row["model"],
        calls=row["calls"],
        engine_s=row["seconds"],
        cost_usd=row["usd"],
        **tokens,
    )
