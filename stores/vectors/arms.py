"""The test arms of an embedding upgrade: which vectors an index holds, and how it is searched.

An arm is the only place where a query may meet vectors of another generation, and it says so.
"""

import re
from dataclasses import dataclass
from typing import Literal

from stores.errors import InvalidInputError

Part = Literal["old", "new"]
HALF_PERCENT = 50


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to build and search an index during an embedding upgrade.

    Attributes
    ----------
    name
        As in the column `index` of the answers table.
    migrated_percent
        The share of chunks that have their new vector.
    asks
        The embedders that embed the query.
    crosses
        Whether queries of the new embedder are compared with vectors of the old one: what a
        service does that switched its embedder before its vectors. Allowed here alone.
    deployable
        False for an oracle, which knows where the evidence is.
    """

    name: str
    migrated_percent: int
    asks: tuple[Part, ...]
    crosses: bool = False
    deployable: bool = True

    @property
    def parts(self) -> tuple[Part, ...]:
        """The generations of which it holds vectors."""
        if self.migrated_percent == 0:
            return ("old",)
        return ("new",) if self.migrated_percent == 100 else ("old", "new")

    @property
    def built_from(self) -> tuple[Part, ...]:
        """The embedders that embed the chunks, so that both spaces can be compared as well."""
        return ("old", "new") if self.crosses or len(self.parts) > 1 else self.parts

    @property
    def embedder(self) -> Part:
        """The embedder that stands in the answers table: the one that the service asks with."""
        return "old" if self.asks == ("old",) else "new"


_NAMED = {
    arm.name: arm
    for arm in (
        Arm("old", 0, ("old",)),
        Arm("full", 100, ("new",)),
        Arm("mixed", HALF_PERCENT, ("new",), crosses=True),
        Arm("router", HALF_PERCENT, ("old", "new"), deployable=False),
        Arm("dual_query", HALF_PERCENT, ("old", "new")),
        Arm("version_filter", HALF_PERCENT, ("new",)),
    )
}
ARM_NAMES = tuple(_NAMED)


def arm_of(name: str) -> Arm:
    """Return the arm with this name: one of `ARM_NAMES`, or `mixed_p` as `dial_name` writes it.

    Raises
    ------
    InvalidInputError
        For any other spelling.
    """
    if name in _NAMED:
        return _NAMED[name]
    share = re.fullmatch(r"mixed_(0|[1-9]\d?)", name)
    if share is None or int(share[1]) == HALF_PERCENT:
        raise InvalidInputError(
            f"there is no index {name!r}",
            where="index",
            expected=f"{', '.join(ARM_NAMES)}, or mixed_p with p from 0 to 99, 50 written mixed",
        )
    return Arm(name, int(share[1]), ("new",), crosses=True)


def dial_name(percent: int) -> str:
    """Return the name of the index with this share of migrated chunks, in percent.

    Examples
    --------
    >>> [dial_name(p) for p in (0, 25, 50, 100)]
    ['mixed_0', 'mixed_25', 'mixed', 'full']
    """
    return {HALF_PERCENT: "mixed", 100: "full"}.get(percent, f"mixed_{percent}")
