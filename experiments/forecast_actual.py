"""A run's forecast beside what it really took."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Sum

from experiments.models import Attempt, Run
from experiments.run_costs import Cost, costs

COUNTED = ("calls", "prompt_tokens", "computed_tokens", "output_tokens", "engine_s", "cost_usd")


def forecast_and_actual(run: Run) -> dict[str, Any]:
    """Return the forecast that was kept at the launch, what the run took so far, and the ratios.

    JSON-ready; `{}` for a run that was launched without a forecast. `ratio` is actual through
    forecast, None where one of the two is not known or the forecast is 0. A store that was reused
    cost this run nothing, although it was forecast.
    """
    if not run.forecast:
        return {}
    spent = costs(run)
    built = run.store_builds.filter(reused=False).aggregate(n=Sum("store__size_bytes"))["n"]
    actual = {
        **{name: _sum(spent, name) for name in COUNTED},
        "store_bytes": built or 0,
        "answers": _answers(run),
    }
    expected = {**run.forecast["total"], "answers": run.forecast["answers"]}
    return {
        "forecast": run.forecast,
        "actual": actual,
        "finished": run.finished_at is not None,
        "reused_stores": run.store_builds.filter(reused=True).count(),
        "rows": [
            {
                "what": name,
                "forecast": _number(expected.get(name)),
                "why_not": _reason(expected.get(name)),
                "actual": value,
                "ratio": _ratio(value, _number(expected.get(name))),
            }
            for name, value in actual.items()
        ],
    }


def _answers(run: Run) -> int:
    complete = Attempt.objects.filter(evaluation__run=run, state=Attempt.State.COMPLETE)
    return int(complete.aggregate(n=Count("answers"))["n"])


def _sum(spent: Sequence[Cost], name: str) -> float:
    return sum(getattr(cost, name) or 0 for cost in spent)


def _number(value: Any) -> float | None:
    """A number of the kept forecast, which holds counts as they are and amounts as figures."""
    return value["value"] if isinstance(value, Mapping) else value


def _reason(value: Any) -> str:
    return str(value["reason"]) if isinstance(value, Mapping) else ""


def _ratio(actual: float, expected: float | None) -> float | None:
    return actual / expected if expected else None
