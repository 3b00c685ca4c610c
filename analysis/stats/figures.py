"""The values that statistics return: named, frozen, JSON-ready; what is undefined says why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Status = Literal["ok", "undefined", "unreachable"]
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, or the reason why there is none.

    `undefined` means that the quantity does not exist for this data; `unreachable` means that it
    does, and is infinite (no repair reached its target). Neither is ever 0.
    """

    value: float | None
    status: Status = "ok"
    reason: str = ""

    @classmethod
    def ok(cls, value: float) -> "Figure":
        """Return a defined figure; a value that is not finite is a programming error."""
        number = float(value)
        if not np.isfinite(number):
            raise ValueError(f"a defined figure must be finite, got {number!r}")
        return cls(number)

    @classmethod
    def undefined(cls, reason: str) -> "Figure":
        """Return a figure that does not exist, and why."""
        return cls(None, "undefined", reason)

    @classmethod
    def unreachable(cls, reason: str) -> "Figure":
        """Return a figure that is infinite, and why."""
        return cls(None, "unreachable", reason)

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return self.status == "ok"

    def number(self) -> float:
        """Return the number; raise ValueError with the reason where there is none."""
        if self.value is None:
            raise ValueError(self.reason)
        return self.value

    def as_json(self) -> dict[str, Any]:
        """Return `{value, status, reason}`."""
        return {"value": self.value, "status": self.status, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Excluded:
    """A history that a contrast leaves out, and why."""

    history: str
    reason: str

    def as_json(self) -> dict[str, str]:
        """Return `{history, reason}`."""
        return {"history": self.history, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, or the reason why there is none."""

    low: float | None
    high: float | None
    level: float
    method: str
    reason: str = ""

    @property
    def defined(self) -> bool:
        """Whether both ends exist."""
        return self.low is not None and self.high is not None

    def ends(self) -> tuple[float, float]:
        """Return both ends; raise ValueError with the reason where there are none."""
        if self.low is None or self.high is None:
            raise ValueError(self.reason)
        return self.low, self.high

    @property
    def half_width(self) -> Figure:
        """Half the distance between the ends: what stands after the ± sign."""
        if self.low is None or self.high is None:
            return Figure.undefined(self.reason)
        return Figure.ok((self.high - self.low) / 2)

    def as_json(self) -> dict[str, Any]:
        """Return the ends, the level, how they were found, and the status."""
        return {
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
            "status": "ok" if self.defined else "undefined",
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class PerHistory:
    """One number for each history, or the reason why there is none.

    `values` has shape (n_histories,); its entries mean nothing where `defined` is False. `reasons`
    is empty exactly where the value is defined.
    """

    histories: tuple[str, ...]
    values: FloatArray
    defined: BoolArray
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        n = len(self.histories)
        if not (self.values.shape == self.defined.shape == (n,) and len(self.reasons) == n):
            raise ValueError("values, defined and reasons need one entry per history")

    @property
    def kept(self) -> FloatArray:
        """The defined values, in the order of the histories."""
        return self.values[self.defined]

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """The histories without a value, and why."""
        return tuple(
            Excluded(history, reason)
            for history, reason, ok in zip(self.histories, self.reasons, self.defined, strict=True)
            if not ok
        )

    def scaled(self, factor: float) -> "PerHistory":
        """Return the same values in another unit (100: fractions to percentage points)."""
        return PerHistory(self.histories, self.values * factor, self.defined, self.reasons)

    def figure(self, position: int) -> Figure:
        """Return the value of one history."""
        if self.defined[position]:
            return Figure.ok(float(self.values[position]))
        return Figure.undefined(self.reasons[position])

    def as_json(self) -> list[dict[str, Any]]:
        """Return one `{history, value, status, reason}` per history."""
        return [
            {"history": history, **self.figure(position).as_json()}
            for position, history in enumerate(self.histories)
        ]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over histories with its interval, its n, and the histories that it leaves out."""

    figure: Figure
    interval: Interval
    sd: Figure
    n_histories: int
    unit: str
    excluded: tuple[Excluded, ...] = ()
    planned: bool = False
    per_history: PerHistory | None = None

    @property
    def value(self) -> float | None:
        """The estimate, or None where it is undefined."""
        return self.figure.value

    @property
    def low(self) -> float | None:
        """The lower end of the interval, or None."""
        return self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval, or None."""
        return self.interval.high

    def as_json(self) -> dict[str, Any]:
        """Return the figure with `low`, `high`, `half_width`, `sd`, n, and what was left out."""
        document: dict[str, Any] = {
            **self.figure.as_json(),
            "unit": self.unit,
            "low": self.interval.low,
            "high": self.interval.high,
            "half_width": self.interval.half_width.as_json(),
            "interval": self.interval.as_json(),
            "sd": self.sd.as_json(),
            "n_histories": self.n_histories,
            "excluded": [left_out.as_json() for left_out in self.excluded],
            "planned": self.planned,
        }
        if self.per_history is not None:
            document["per_history"] = self.per_history.as_json()
        return document


def per_history(
    histories: Sequence[str], figures: Mapping[str, float], missing: str = "no value"
) -> PerHistory:
    """Return the values of a mapping in the order of `histories`.

    Examples
    --------
    >>> per_history(["a", "b"], {"a": 1.0}, "cell missing").as_json()[1]
    {'history': 'b', 'value': None, 'status': 'undefined', 'reason': 'cell missing'}
    """
    defined = np.array([history in figures for history in histories], dtype=np.bool_)
    values = np.array([figures.get(history, 0.0) for history in histories], dtype=np.float64)
    reasons = tuple("" if ok else missing for ok in defined)
    return PerHistory(tuple(histories), values, defined, reasons)
