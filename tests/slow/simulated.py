"""Thousands of simulated studies at once: binomial answers of histories that differ."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 0.95
GRID = 4096


@dataclass(frozen=True)
class World:
    """Where histories come from: beta-distributed accuracies of the own and inherited store.

    `alike` is the number of probes' worth of agreement between histories (the beta's a + b);
    infinite: all histories are equally hard. `shared`: a history that is hard for one store is as
    hard for the other.
    """

    own: float
    inherited: float
    alike: float = 50.0
    shared: bool = False

    @property
    def delta(self) -> float:
        """The true swap delta, a fraction."""
        return float(_quantiles(self.inherited, self.alike).mean()) - float(
            _quantiles(self.own, self.alike).mean()
        )

    def accuracies(self, rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """True accuracies (own, inherited) of every history."""
        u = rng.integers(0, GRID, shape)
        v = u if self.shared else rng.integers(0, GRID, shape)
        return _quantiles(self.own, self.alike)[u], _quantiles(self.inherited, self.alike)[v]


@lru_cache
def _quantiles(mean: float, alike: float) -> Any:
    """Equally likely accuracies that stand for the beta distribution."""
    if np.isinf(alike) or mean in (0.0, 1.0):
        return np.full(GRID, mean)
    u = (np.arange(GRID) + 0.5) / GRID
    return stats.beta.ppf(u, mean * alike, (1 - mean) * alike)


@dataclass(frozen=True)
class Studies:
    """Answers of many studies: right answers and discordant pairs, shape (studies, histories)."""

    own: Any
    inherited: Any
    gained: Any
    lost: Any
    probes: int

    @property
    def deltas(self) -> Any:
        """Swap delta of each history, a fraction."""
        return (self.inherited - self.own) / self.probes


def draw(
    world: World, *, studies: int, histories: int, probes: int, rng: np.random.Generator
) -> Studies:
    """Answers of own and inherited store, independent given the accuracies of the history."""
    p, q = world.accuracies(rng, (studies, histories))
    own = rng.binomial(probes, p)
    # Of the probes right with the own store, and of the others, a share q is right again.
    kept = rng.binomial(own, q)
    gained = rng.binomial(probes - own, q)
    return Studies(own, kept + gained, gained, own - kept, probes)


def t_intervals(values: Any, level: float = LEVEL) -> tuple[Any, Any, Any]:
    """(low, high, has spread) of the mean over the last axis."""
    n = values.shape[-1]
    sd = values.std(axis=-1, ddof=1)
    spread = np.ptp(values, axis=-1) > 1e-12
    half = stats.t.ppf((1 + level) / 2, n - 1) * sd / np.sqrt(n)
    mean = values.mean(axis=-1)
    return mean - half, mean + half, spread


def exact_lower(lost: Any, gained: Any, answers: int, level: float = LEVEL) -> Any:
    """Lower bound of gained − lost shares, as `discordant_interval` has it."""

    def upper(k: Any, tail: float) -> Any:
        bound = stats.beta.ppf(1 - tail, k + 1, np.maximum(answers - k, 1))
        return np.where(k == answers, 1.0, bound)

    tail = (1 - level) / 2
    lower = stats.beta.ppf(tail / 2, np.maximum(gained, 1), answers - gained + 1)
    return np.where(gained == 0, -upper(lost, tail), lower - upper(lost, tail / 2))


def decisive(studies: Studies) -> tuple[Any, Any]:
    """(low, high) that decide each study: the t interval, or the exact bound without spread."""
    low, high, spread = t_intervals(studies.deltas)
    answers = studies.probes * studies.own.shape[-1]
    lost, gained = studies.lost.sum(axis=-1), studies.gained.sum(axis=-1)
    exact_low = exact_lower(lost, gained, answers)
    exact_high = -exact_lower(gained, lost, answers)
    return np.where(spread, low, exact_low), np.where(spread, high, exact_high)


@dataclass(frozen=True)
class Family:
    """A world for the four planned contrasts: accuracies of every cell they need.

    `own` and `graph` are own-store accuracies of notes and graph, `loss` what a swap takes from
    either, `index` and `repair` the accuracies of the full index and of the repair from raw
    history, `gain` what they are ahead by.
    """

    own: float
    graph: float
    loss: float
    index: float
    repair: float
    gain: float
    alike: float = 50.0

    def contrasts(self, rng: np.random.Generator, shape: tuple[int, ...], probes: int) -> Any:
        """H1, H2, H4a, H7a in pp, shape (4, *shape), NaN where undefined."""
        p_notes = self._penalty(rng, shape, probes, self.own)
        p_graph = self._penalty(rng, shape, probes, self.graph)
        h2 = np.mean([self._gap(rng, shape, probes, self.index) for _ in range(2)], axis=0)
        h7a = np.mean([self._gap(rng, shape, probes, self.repair) for _ in range(6)], axis=0)
        return np.array([p_notes, h2, p_notes - p_graph, h7a])

    def _accuracy(self, rng: np.random.Generator, shape: Any, mean: float, probes: int) -> Any:
        p = np.full(shape, mean)
        if np.isfinite(self.alike):
            p = rng.beta(mean * self.alike, (1 - mean) * self.alike, shape)
        return rng.binomial(probes, p)

    def _penalty(self, rng: np.random.Generator, shape: Any, probes: int, own: float) -> Any:
        ratios = []
        for _ in range(2):
            k = self._accuracy(rng, shape, own, probes)
            inherited = self._accuracy(rng, shape, own * (1 - self.loss), probes)
            ratios.append(np.where(5 * k >= probes, inherited / np.maximum(k, 1), np.nan))
        return 50 * (2 - ratios[0] - ratios[1])

    def _gap(self, rng: np.random.Generator, shape: Any, probes: int, high: float) -> Any:
        ahead = self._accuracy(rng, shape, high, probes)
        return 100 * (ahead - self._accuracy(rng, shape, high - self.gain, probes)) / probes


@lru_cache
def true_contrasts(family: Family, probes: int) -> Any:
    """Mean of every contrast over a million histories, shape (4, 1), noise of probes included."""
    values = family.contrasts(np.random.default_rng(3), (1_000_000,), probes)
    return np.nanmean(values, axis=-1, keepdims=True)


def one_sided_p(values: Any, margin: Any) -> Any:
    """p of the margin test over the last axis, NaN dropped; NaN where undefined."""
    n = np.sum(~np.isnan(values), axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nanmean(values, axis=-1)
        sd = np.sqrt(np.nansum((values - mean[..., None]) ** 2, axis=-1) / (n - 1))
        t = (mean - margin) / (sd / np.sqrt(n))
        p = stats.t.sf(t, np.maximum(n - 1, 1))
    return np.where((n < 2) | (sd < 1e-9), np.nan, p)


def holm_rejects(p: Any, alpha: float) -> Any:
    """Whether Holm rejects anything: shape (m, studies) → (studies,). The least p decides."""
    least = np.nanmin(np.where(np.isnan(p), 1.0, p), axis=0)
    return least * p.shape[0] < alpha
