"""When a failed HTTP call is tried again, and how long to wait before it."""

import email.utils
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter; what the server asks for takes precedence.

    A call is tried `tries` times in all. A server that asks for a wait beyond `longest_wait_s`
    is not waited for: the job fails, retryably, and others can run meanwhile.
    """

    tries: int = 6
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0

    def wait_s(self, tried: int, rng: random.Random) -> float:
        """Seconds to wait after `tried` tries: between half and all of a doubling time."""
        full = min(self.first_wait_s * 2.0 ** (tried - 1), self.longest_wait_s)
        return full * (0.5 + 0.5 * rng.random())


def retry_after_s(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Return the wait that a Retry-After header asks for, in seconds; None where it says nothing.

    The header holds seconds or an HTTP date.
    """
    value = headers.get("Retry-After", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
