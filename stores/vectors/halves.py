"""Which chunks are migrated already: a seeded draw that only the store's content decides."""

import hashlib
from collections.abc import Sequence


def migrated_positions(
    items: Sequence[str], *, percent: int, seed: int, history_checksum: str
) -> frozenset[int]:
    """Return the positions of the chunks that have their new vector.

    Every chunk's place in the order of migration is a hash of the seed, the history and the
    chunk's name: the same for every reader, every repeat and every machine. Shares are nested: a
    chunk that is migrated at 25 % is so at 50 %. Half a chunk counts as a whole one.

    Examples
    --------
    >>> names = [f"chunk-{n}" for n in range(8)]
    >>> few = migrated_positions(names, percent=25, seed=1, history_checksum="")
    >>> len(few), few < migrated_positions(names, percent=50, seed=1, history_checksum="")
    (2, True)
    """
    count = (len(items) * percent + 50) // 100
    order = sorted(
        range(len(items)),
        key=lambda at: hashlib.sha256(f"{seed}\0{history_checksum}\0{items[at]}".encode()).digest(),
    )
    return frozenset(order[:count])
