"""The planned tests: every contrast with its margin test, bootstrap, equivalence and parts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.settings import Settings
from analysis.stats.bootstrap import Bootstrap, bootstrap_all
from analysis.stats.cells import Cube
from analysis.stats.contrasts import CONTRASTS, Contrast, design_of
from analysis.stats.equivalence import Equivalence, equivalence
from analysis.stats.figures import Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.margin import MarginTest, margin_test
from analysis.stats.multiplicity import holm

NO_CELLS = "the answers hold none of its cells"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A contrast as it is to be tested: as the plan has it, or as usual."""

    contrast: Contrast
    margin_pp: float
    alpha: float
    family: str
    equivalence: bool = False


@dataclass(frozen=True, slots=True)
class _Tested:
    asked: _Asked
    estimate: Estimate
    test: MarginTest
    second: MarginTest


def section(cube: Cube, settings: Settings) -> dict[str, Any]:
    """Return the family of contrasts: the plan's, or all that the answers allow, unplanned."""
    tested = [_test(asked, settings) for asked in _asked(cube, settings)]
    families = [one.asked.family for one in tested]
    adjusted = _holm(families, [one.test.p_value for one in tested])
    second = _holm(families, [one.second.p_value for one in tested])
    boots = bootstrap_all(
        [(one.asked.contrast.values, one.estimate.figure, one.asked.margin_pp) for one in tested],
        resamples=settings.bootstrap_resamples,
        seed=settings.seed,
    )
    boot_p = _holm(families, [boot.p_value for boot in boots])
    same = [_equivalence(one, settings) for one in tested]
    same_p = _holm(families, [result.p_value for result in same])
    return {
        "planned": _planned(settings),
        "family": [one.asked.contrast.key for one in tested],
        "correction": "Holm",
        "alpha": settings.alpha,
        "bootstrap": {"resamples": settings.bootstrap_resamples, "seed": settings.seed},
        "contrasts": [
            {
                **_head(one, settings),
                "p": one.test.p_value.as_json(),
                "t": one.test.statistic.as_json(),
                "p_holm": adjusted[at].as_json(),
                **_decision(one, adjusted[at]),
                "bootstrap": _boot(boots[at], boot_p[at]),
                "second_margin": {
                    "planned": False,
                    "margin_pp": settings.second_margin_pp,
                    "p": one.second.p_value.as_json(),
                    "p_holm": second[at].as_json(),
                },
                "equivalence": {**same[at].as_json(), "p_holm": same_p[at].as_json()},
                "parts": [_part(label, part, one, settings)
                          for label, part in one.asked.contrast.parts],
            }
            for at, one in enumerate(tested)
        ],
    }  # fmt: skip


def _planned(settings: Settings) -> bool:
    return settings.planned and bool(settings.contrasts)


def _holm(families: Sequence[str], p_values: Sequence[Figure]) -> list[Figure]:
    """Adjust within each family; the order stays."""
    adjusted = list(p_values)
    for family in dict.fromkeys(families):
        at = [position for position, name in enumerate(families) if name == family]
        for position, value in zip(at, holm([p_values[n] for n in at]), strict=True):
            adjusted[position] = value
    return adjusted


def _asked(cube: Cube, settings: Settings) -> list[_Asked]:
    design = design_of(
        cube, chance=settings.chance, directions=settings.directions, readers=settings.readers
    )
    if settings.contrasts:
        return [
            _Asked(
                CONTRASTS[c.key](cube, design) or _absent(cube, c.key),
                c.margin_pp, c.alpha, c.family, c.equivalence,
            )
            for c in settings.contrasts
        ]  # fmt: skip
    found = [make(cube, design) for make in CONTRASTS.values()]
    return [
        _Asked(contrast, settings.margin_pp, settings.alpha, "unplanned")
        for contrast in found
        if contrast is not None
    ]


def _absent(cube: Cube, key: str) -> Contrast:
    n = len(cube.histories)
    nothing = PerHistory(cube.histories, np.zeros(n), np.zeros(n, dtype=np.bool_), (NO_CELLS,) * n)
    return Contrast(key, NO_CELLS, nothing, ())


def _test(asked: _Asked, settings: Settings) -> _Tested:
    values = asked.contrast.values
    return _Tested(
        asked=asked,
        estimate=estimate(values, unit="pp", planned=_planned(settings)),
        test=margin_test(values.kept, margin_pp=asked.margin_pp),
        second=margin_test(values.kept, margin_pp=settings.second_margin_pp),
    )


def _equivalence(one: _Tested, settings: Settings) -> Equivalence:
    return equivalence(
        one.asked.contrast.values.kept,
        margin_pp=one.asked.margin_pp,
        alpha=one.asked.alpha,
        planned=_planned(settings) and one.asked.equivalence,
    )


def _head(one: _Tested, settings: Settings) -> dict[str, Any]:
    value = one.estimate.value
    return {
        "key": one.asked.contrast.key,
        "definition": one.asked.contrast.definition,
        "planned": _planned(settings),
        "family": one.asked.family,
        "alpha": one.asked.alpha,
        "estimate": one.estimate.as_json(),
        "margin_pp": one.asked.margin_pp,
        "above_margin_pp": None if value is None else value - one.asked.margin_pp,
    }


def _decision(one: _Tested, p: Figure) -> dict[str, Any]:
    """Supported: the adjusted p is below α and the estimate above the margin."""
    if p.value is None or one.estimate.value is None:
        reason = p.reason or one.estimate.figure.reason
        return {"supported": None, "decision": f"no decision: {reason}"}
    margin = one.asked.margin_pp
    supported = p.value < one.asked.alpha and one.estimate.value > margin
    words = "supported" if supported else "not supported"
    return {"supported": supported, "decision": f"{words} at a margin of {margin:g} pp"}


def _boot(boot: Bootstrap, p_holm: Figure) -> dict[str, Any]:
    return {**boot.as_json(), "p_holm": p_holm.as_json()}


def _part(label: str, values: PerHistory, one: _Tested, settings: Settings) -> dict[str, Any]:
    """One direction or reader on its own, not adjusted; planned where the plan names parts."""
    margin = one.asked.margin_pp
    return {
        "label": label,
        "planned": _planned(settings) and "contrast_parts" in settings.secondary,
        "estimate": estimate(values, unit="pp").as_json(),
        "p": margin_test(values.kept, margin_pp=margin).p_value.as_json(),
    }
