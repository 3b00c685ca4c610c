"""The planned tests: every contrast with its margin test, bootstrap, equivalence and parts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.settings import Settings
from analysis.stats.bootstrap import Bootstrap, bootstrap_all
from analysis.stats.cells import Cube
from analysis.stats.contrasts import CONTRASTS, Contrast, design_of
from analysis.stats.equivalence import equivalence
from analysis.stats.figures import Estimate, Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.margin import MarginTest, margin_test
from analysis.stats.multiplicity import holm

NO_CELLS = "the answers hold none of its cells"


@dataclass(frozen=True, slots=True)
class _Tested:
    contrast: Contrast
    margin_pp: float
    estimate: Estimate
    test: MarginTest
    second: MarginTest


def section(cube: Cube, settings: Settings) -> dict[str, Any]:
    """Return the family of contrasts: the plan's, or all that the answers allow, unplanned."""
    planned = bool(settings.contrasts)
    tested = [
        _test(contrast, margin, settings, planned) for contrast, margin in _family(cube, settings)
    ]
    adjusted = holm([one.test.p_value for one in tested])
    second = holm([one.second.p_value for one in tested])
    boots = bootstrap_all(
        [(one.contrast.values, one.estimate.figure, one.margin_pp) for one in tested],
        resamples=settings.bootstrap_resamples,
        seed=settings.seed,
    )
    boot_p = holm([boot.p_value for boot in boots])
    same = [
        equivalence(one.contrast.values.kept, margin_pp=one.margin_pp, alpha=settings.alpha)
        for one in tested
    ]
    same_p = holm([result.p_value for result in same])
    return {
        "planned": planned,
        "family": [one.contrast.key for one in tested],
        "correction": "Holm",
        "alpha": settings.alpha,
        "bootstrap": {"resamples": settings.bootstrap_resamples, "seed": settings.seed},
        "contrasts": [
            {
                **_head(one, settings),
                "p": one.test.p_value.as_json(),
                "t": one.test.statistic.as_json(),
                "p_holm": adjusted[at].as_json(),
                **_decision(one, adjusted[at], settings),
                "bootstrap": _boot(boots[at], boot_p[at]),
                "second_margin": {
                    "planned": False,
                    "margin_pp": settings.second_margin_pp,
                    "p": one.second.p_value.as_json(),
                    "p_holm": second[at].as_json(),
                },
                "equivalence": {**same[at].as_json(), "p_holm": same_p[at].as_json()},
                "parts": [_part(label, part, one.margin_pp) for label, part in one.contrast.parts],
            }
            for at, one in enumerate(tested)
        ],
    }


def _family(cube: Cube, settings: Settings) -> list[tuple[Contrast, float]]:
    design = design_of(
        cube, chance=settings.chance, directions=settings.directions, readers=settings.readers
    )
    if settings.contrasts:
        return [
            (CONTRASTS[c.key](cube, design) or _absent(cube, c.key), c.margin_pp)
            for c in settings.contrasts
        ]
    found = [make(cube, design) for make in CONTRASTS.values()]
    return [(contrast, settings.margin_pp) for contrast in found if contrast is not None]


def _absent(cube: Cube, key: str) -> Contrast:
    n = len(cube.histories)
    nothing = PerHistory(cube.histories, np.zeros(n), np.zeros(n, dtype=np.bool_), (NO_CELLS,) * n)
    return Contrast(key, NO_CELLS, nothing, ())


def _test(contrast: Contrast, margin: float, settings: Settings, planned: bool) -> _Tested:
    kept = contrast.values.kept
    return _Tested(
        contrast=contrast,
        margin_pp=margin,
        estimate=estimate(contrast.values, unit="pp", planned=planned),
        test=margin_test(kept, margin_pp=margin),
        second=margin_test(kept, margin_pp=settings.second_margin_pp),
    )


def _head(one: _Tested, settings: Settings) -> dict[str, Any]:
    value = one.estimate.value
    return {
        "key": one.contrast.key,
        "definition": one.contrast.definition,
        "planned": bool(settings.contrasts),
        "estimate": one.estimate.as_json(),
        "margin_pp": one.margin_pp,
        "above_margin_pp": None if value is None else value - one.margin_pp,
    }


def _decision(one: _Tested, p: Figure, settings: Settings) -> dict[str, Any]:
    """Supported: the adjusted p is below α and the estimate above the margin."""
    if p.value is None or one.estimate.value is None:
        reason = p.reason or one.estimate.figure.reason
        return {"supported": None, "decision": f"no decision: {reason}"}
    supported = p.value < settings.alpha and one.estimate.value > one.margin_pp
    words = "supported" if supported else "not supported"
    return {"supported": supported, "decision": f"{words} at a margin of {one.margin_pp:g} pp"}


def _boot(boot: Bootstrap, p_holm: Figure) -> dict[str, Any]:
    return {**boot.as_json(), "p_holm": p_holm.as_json()}


def _part(label: str, values: PerHistory, margin: float) -> dict[str, Any]:
    """One direction or reader on its own: unplanned, and not adjusted."""
    return {
        "label": label,
        "planned": False,
        "estimate": estimate(values, unit="pp").as_json(),
        "p": margin_test(values.kept, margin_pp=margin).p_value.as_json(),
    }
