"""Evidence coverage: how much of what the probes need is still in the stores of a writer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.figures import Estimate, PerHistory
from analysis.stats.inference import estimate


@dataclass(frozen=True, slots=True)
class Coverage:
    """Required evidence spans of one store, and how many of them it keeps."""

    history: str
    format: str
    writer: str
    required: int
    kept: int


def evidence_coverage(stores: Sequence[Coverage]) -> Estimate:
    """Mean over histories of the share of required evidence spans that a store keeps.

    ``kept / required`` per history, a fraction.

    Parameters
    ----------
    stores
        The stores of one format and writer, one per history.

    Returns
    -------
    Estimate
        A history whose probes require no span that can be looked for is left out: undefined.

    Notes
    -----
    Source: protocol.md, "Evidence coverage"; the paper, sections 3.4 and B.

    Examples
    --------
    >>> stores = [Coverage("a", "notes", "W", 10, 9), Coverage("b", "notes", "W", 20, 12)]
    >>> evidence_coverage(stores).value
    0.75
    """
    required = np.array([store.required for store in stores], dtype=np.int64)
    kept = np.array([store.kept for store in stores], dtype=np.int64)
    values = PerHistory(
        histories=tuple(store.history for store in stores),
        values=kept / np.maximum(required, 1),
        defined=np.asarray(required > 0),
        reasons=tuple("" if n else "no evidence span can be looked for" for n in required.tolist()),
    )
    return estimate(values, unit="share")
