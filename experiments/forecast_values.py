"""The values of a forecast: what a study will take, by test, role and model. JSON-ready."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.forecast_prompts import Tokens


@dataclass(frozen=True, slots=True)
class Amount:
    """A number, or why there is none."""

    value: float | None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return `{value, status, reason}`."""
        status = "ok" if self.value is not None else "undefined"
        return {"value": self.value, "status": status, "reason": self.reason}

    def plus(self, other: "Amount") -> "Amount":
        """Return the sum; undefined where a part is, with every part's reason."""
        if self.value is not None and other.value is not None:
            return Amount(self.value + other.value)
        reasons = dict.fromkeys(filter(None, (*self.reason.split("; "), *other.reason.split("; "))))
        return Amount(None, "; ".join(reasons))


@dataclass(frozen=True, slots=True)
class Line:
    """The calls of one role and model in one test. Embedders count texts, not tokens."""

    role: str
    model: str
    tokens: Tokens
    engine_s: Amount
    gpu_hours: Amount
    cost_usd: Amount
    texts: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        embeds = self.role == "embedder"
        names = ("prompt", "computed", "output", "output_limit")
        counts = {f"{n}_tokens": None if embeds else getattr(self.tokens, n) for n in names}
        return {
            "role": self.role,
            "model": self.model,
            "calls": self.tokens.calls,
            **counts,
            "texts": self.texts if embeds else None,
            "engine_s": self.engine_s.as_json(),
            "gpu_hours": self.gpu_hours.as_json(),
            "cost_usd": self.cost_usd.as_json(),
        }


@dataclass(frozen=True, slots=True)
class TestForecast:
    """One migration test: its jobs, its calls by role and model, and the disk they take."""

    __test__ = False

    test: str
    stores: int
    evaluations: int
    answers: int
    lines: tuple[Line, ...]
    store_bytes: int
    disk_bytes: int

    def as_json(self) -> dict[str, Any]:
        """Return every part, and the sum over roles and models."""
        return {
            "test": self.test,
            "stores": self.stores,
            "evaluations": self.evaluations,
            "answers": self.answers,
            "lines": [line.as_json() for line in self.lines],
            "total": {
                **_sum(self.lines),
                "store_bytes": self.store_bytes,
                "disk_bytes": self.disk_bytes,
            },
        }


@dataclass(frozen=True, slots=True)
class Forecast:
    """All tests of a plan. `basis` says from what each number comes."""

    tests: tuple[TestForecast, ...]
    basis: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return every test, and the total."""
        total = _sum([line for test in self.tests for line in test.lines])
        return {
            "tests": [test.as_json() for test in self.tests],
            "total": {
                **total,
                "stores": sum(test.stores for test in self.tests),
                "evaluations": sum(test.evaluations for test in self.tests),
                "answers": sum(test.answers for test in self.tests),
                "store_bytes": sum(test.store_bytes for test in self.tests),
                "disk_bytes": sum(test.disk_bytes for test in self.tests),
            },
            "basis": list(self.basis),
        }


def _sum(lines: Sequence[Line]) -> dict[str, Any]:
    tokens, amounts = Tokens(), dict.fromkeys(("engine_s", "gpu_hours", "cost_usd"), Amount(0.0))
    for line in lines:
        tokens = tokens.plus(line.tokens)
        amounts = {name: amount.plus(getattr(line, name)) for name, amount in amounts.items()}
    return {
        "calls": tokens.calls,
        "prompt_tokens": tokens.prompt,
        "computed_tokens": tokens.computed,
        "output_tokens": tokens.output,
        "output_limit_tokens": tokens.output_limit,
        **{name: amount.as_json() for name, amount in amounts.items()},
    }
