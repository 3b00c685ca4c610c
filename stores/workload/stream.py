"""Randomness that is the same on every machine and in every Python version.

Only some methods of `random.Random` are promised to repeat a sequence across versions (`random()`
is; `choice`, `shuffle` and `sample` changed in the past). A history must be byte-identical for
ever, so this stream is a counter run through SHA-256, whose output a standard fixes.
"""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_BLOCK_VALUES = 1 << 64


class Stream:
    """A seeded stream of numbers. Streams with different labels are independent."""

    def __init__(self, *labels: str | int) -> None:
        """Name the stream: equal labels in equal order give equal numbers."""
        # The separator is no part of any label's text, so ("a", "bc") and ("ab", "c") differ.
        self._label = "\x1f".join(str(label) for label in labels).encode()
        self._counter = 0

    def _next(self) -> int:
        block = hashlib.sha256(self._label + b"\x1e" + str(self._counter).encode()).digest()
        self._counter += 1
        return int.from_bytes(block[:8], "big")

    def below(self, n: int) -> int:
        """Return an integer from 0 to n - 1, each equally likely. `n` must be positive."""
        if not 0 < n <= _BLOCK_VALUES:
            raise ValueError(f"below() needs 1 <= n <= 2**64, not {n}")
        # Values past the last full multiple of n would make small results likelier: draw again.
        limit = _BLOCK_VALUES - _BLOCK_VALUES % n
        while (value := self._next()) >= limit:
            pass
        return value % n

    def choice(self, items: Sequence[T]) -> T:
        """Return one item, each equally likely."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in a random order (Fisher and Yates)."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = self.below(last + 1)
            result[last], result[other] = result[other], result[last]
        return result

    def percent(self, share: int) -> bool:
        """Return True in `share` of 100 draws."""
        return self.below(100) < share
