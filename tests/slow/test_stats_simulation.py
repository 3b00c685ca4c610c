"""What the decisions promise, on thousands of simulated studies with fixed seeds.

The product decides one study at a time by analysis.stats; here whole batches of studies are drawn
as arrays and the same rules applied to all of them, and one test shows that both decide alike. A
rate is accepted within two Monte Carlo standard errors of its promise.

Where a rule of the method does not keep its promise, the worlds stand in a test of their own with
the rate that was measured. These are findings, not tolerances: docs/statistics.md tells them to
the people who decide, and the report says so beside a verdict that is touched.
"""

import math

import numpy as np
import pytest

from analysis.stats.cells import CellCounts
from analysis.stats.figures import Figure
from analysis.stats.inference import estimate
from analysis.stats.margin import margin_test
from analysis.stats.metrics import swap_delta_pp
from analysis.stats.multiplicity import holm
from analysis.stats.verdicts import Discordant, judge
from analysis.writer_swap import NEAR_0, NEAR_1
from tests.slow.simulated import (
    Family,
    World,
    decisive,
    draw,
    holm_rejects,
    one_sided_p,
    t_intervals,
    true_contrasts,
)

pytestmark = pytest.mark.slow
STUDIES = 20_000
FAMILY_STUDIES = 5000
MARGIN = 0.05
EQUAL = math.inf


def two_errors(rate, studies=STUDIES):
    """Two Monte Carlo standard errors of a rate."""
    return 2 * math.sqrt(rate * (1 - rate) / studies)


def rates(world, *, histories, probes=160, seed=1):
    """(coverage of the true delta, how often the verdict is safe)."""
    rng = np.random.default_rng(seed)
    studies = draw(world, studies=STUDIES, histories=histories, probes=probes, rng=rng)
    low, high = decisive(studies)
    covered = (low <= world.delta + 1e-12) & (world.delta <= high + 1e-12)
    safe = (low > -MARGIN) if histories >= 3 else np.zeros(STUDIES, dtype=bool)
    return covered.mean(), safe.mean()


# A true loss of exactly the margin: the verdict "safe" is wrong every time it is given.
MIDDLE = [
    World(own, own - MARGIN, alike, shared)
    for own in (0.3, 0.5, 0.8)
    for alike, shared in ((EQUAL, False), (200, True), (20, False))
]


@pytest.mark.parametrize("histories", [4, 8, 48])
@pytest.mark.parametrize("world", MIDDLE, ids=str)
def test_intervals_cover_and_safe_is_seldom_wrong_in_the_middle(world, histories):
    covered, safe = rates(world, histories=histories)
    assert 0.93 - two_errors(0.93) <= covered <= 0.97 + two_errors(0.97)
    assert safe <= 0.025 + two_errors(0.025)


@pytest.mark.parametrize("world", [*MIDDLE, World(0.97, 0.92, EQUAL), World(0.97, 0.92, 200)])
def test_two_histories_are_never_safe_and_their_interval_errs_on_the_wide_side(world):
    covered, safe = rates(world, histories=2)
    assert safe == 0
    assert covered >= 0.93 - two_errors(0.93)


@pytest.mark.parametrize("histories", [4, 8, 48])
@pytest.mark.parametrize("own", [0.93, 0.15])
def test_equal_histories_of_160_probes_keep_the_promise_nearer_the_ends(own, histories):
    covered, safe = rates(World(own, own - MARGIN, EQUAL), histories=histories)
    assert 0.93 - two_errors(0.93) <= covered <= 0.97 + two_errors(0.97)
    assert safe <= 0.025 + two_errors(0.025)


@pytest.mark.parametrize("histories", [4, 8, 48])
@pytest.mark.parametrize("own", [0.5, 0.97, 0.999, 0.03])
def test_without_a_true_loss_intervals_cover_near_the_ends_too(own, histories):
    """Both cells alike: their difference is symmetric, however skewed each of them is."""
    covered, _ = rates(World(own, own, 50), histories=histories)
    assert covered >= 0.93 - two_errors(0.93)


# (own accuracy, agreement between histories, probes, histories): (how often "safe" is wrong where
# the true loss is exactly the margin, how often the interval covers it). Losses of a few percent
# near 0 or 1 are skewed, and a t interval does not know it.
MEASURED = {
    (0.12, EQUAL, 160, 8): (0.028, 0.949),
    (0.97, 20, 160, 4): (0.038, 0.95),
    (0.97, 20, 160, 8): (0.037, 0.95),
    (0.97, EQUAL, 20, 8): (0.037, 0.944),
    (0.999, EQUAL, 20, 8): (0.062, 0.925),
    (0.999, 200, 160, 4): (0.041, 0.946),
    (0.999, 200, 160, 8): (0.043, 0.943),
    (0.999, 200, 160, 48): (0.033, 0.949),
    (0.999, 20, 160, 4): (0.101, 0.893),
    (0.999, 20, 160, 8): (0.090, 0.905),
    (0.999, 20, 160, 48): (0.049, 0.94),
    (0.055, 20, 160, 4): (0.083, 0.909),
    (0.055, 20, 160, 8): (0.076, 0.918),
    (0.055, 20, 160, 48): (0.045, 0.945),
}


@pytest.mark.parametrize(("case", "measured"), MEASURED.items(), ids=str)
def test_near_an_end_safe_is_wrong_more_often_than_promised(case, measured):
    """A finding: see docs/statistics.md. The rate is held so that what is written stays true."""
    own, alike, probes, histories = case
    world = World(own, own - MARGIN, alike)
    wrong, covers = measured
    covered, safe = rates(world, histories=histories, probes=probes)
    assert safe > 0.025 + two_errors(0.025)
    assert safe == pytest.approx(wrong, abs=2 * two_errors(wrong))
    assert covered == pytest.approx(covers, abs=2 * two_errors(covers))


@pytest.mark.parametrize("case", MEASURED, ids=str)
def test_near_an_end_a_safe_without_its_warning_keeps_the_promise(case):
    """What `writer_swap` warns of is what goes wrong: the other verdicts err 2.5 % at most."""
    own, alike, probes, histories = case
    world = World(own, own - MARGIN, alike)
    rng = np.random.default_rng(1)
    studies = draw(world, studies=STUDIES, histories=histories, probes=probes, rng=rng)
    low, _ = decisive(studies)
    means = np.array([studies.own.mean(axis=-1), studies.inherited.mean(axis=-1)]) / probes
    extreme = ((means < NEAR_0) | (means > NEAR_1)).any(axis=0)
    warned = extreme & (low < -MARGIN / 2)
    assert ((low > -MARGIN) & ~warned).mean() <= 0.025


def test_a_rare_disaster_is_not_seen_by_few_histories():
    """One history in ten loses half of its memory, the others nothing: the mean loss is 5 pp.

    Four histories show none of it two times out of three. No rule that looks at four histories
    alone can know; the number is here so that nobody believes otherwise.
    """
    rng = np.random.default_rng(30)
    own = np.full((STUDIES, 4), 160)
    hit = rng.random((STUDIES, 4)) < 0.1
    inherited = np.where(hit, 80, 160)
    values = (inherited - own) / 160
    low, _, spread = t_intervals(values)
    seen_nothing = (~spread) & (values.max(axis=1) == 0)
    assert seen_nothing.mean() == pytest.approx(0.9**4, abs=1.5 * two_errors(0.9**4))
    assert (low[spread] > -MARGIN).mean() == 0


def judged(studies, row):
    """The product's own verdict on one of the simulated studies."""
    n = studies.own.shape[1]
    names = [f"h{i:02}" for i in range(n)]
    own = CellCounts.of(names, studies.own[row], [studies.probes] * n)
    inherited = CellCounts.of(names, studies.inherited[row], [studies.probes] * n)
    discordant = Discordant(
        int(studies.gained[row].sum()), int(studies.lost[row].sum()), studies.probes * n
    )
    delta = estimate(swap_delta_pp(own, inherited), unit="pp")
    return judge(delta, margin_pp=100 * MARGIN, discordant=discordant)


@pytest.mark.parametrize("histories", [3, 4, 8])
@pytest.mark.parametrize("world", [World(0.5, 0.45, 50), World(0.999, 0.96, 20), World(1.0, 1.0)])
def test_the_simulated_rule_is_the_product_s_rule(world, histories):
    rng = np.random.default_rng(9)
    studies = draw(world, studies=150, histories=histories, probes=20, rng=rng)
    low, high = decisive(studies)
    for row in range(150):
        verdict = judged(studies, row)
        ends = (verdict.interval.low, verdict.interval.high)
        assert ends == pytest.approx((100 * low[row], 100 * high[row]), abs=1e-9)
        assert (verdict.outcome == "safe") == (verdict.interval.low > -100 * MARGIN)


FAMILIES = {
    "like the paper": Family(0.47, 0.9, 0.1, 0.54, 0.4, 0.08),
    "at the floor": Family(0.24, 0.9, 0.1, 0.3, 0.2, 0.05),
    "near 1": Family(0.98, 0.98, 0.05, 0.98, 0.97, 0.05, EQUAL),
    "near 1, histories differ": Family(0.98, 0.98, 0.05, 0.98, 0.97, 0.05, 50),
    "near 0": Family(0.5, 0.5, 0.05, 0.06, 0.056, 0.05),
}


def family_wise_error(family, *, histories, probes=160):
    """How often Holm rejects anything where every contrast truly equals its margin.

    The true contrast is the mean over a million histories, the noise of their probes included.
    """
    shape = (FAMILY_STUDIES, histories)
    values = family.contrasts(np.random.default_rng(histories), shape, probes)
    return holm_rejects(one_sided_p(values, true_contrasts(family, probes)), 0.05).mean()


@pytest.mark.parametrize("histories", [2, 4, 8, 48])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_the_family_wise_error_is_not_above_alpha(name, histories):
    assert family_wise_error(FAMILIES[name], histories=histories) <= 0.05 + two_errors(
        0.05, FAMILY_STUDIES
    )


@pytest.mark.parametrize(("probes", "histories", "measured"), [(20, 4, 0.063), (20, 8, 0.059)])
def test_few_probes_and_unlike_histories_exceed_alpha_a_little(probes, histories, measured):
    """A finding: ratios over 20 probes are skewed. See docs/statistics.md."""
    family = Family(0.6, 0.8, 0.05, 0.6, 0.5, 0.05, alike=20)
    error = family_wise_error(family, histories=histories, probes=probes)
    assert error > 0.05 + two_errors(0.05, FAMILY_STUDIES)
    assert error == pytest.approx(measured, abs=2 * two_errors(measured, FAMILY_STUDIES))


def test_the_simulated_tests_are_the_product_s_tests():
    family = FAMILIES["like the paper"]
    values = family.contrasts(np.random.default_rng(5), (60, 6), 160)
    p = one_sided_p(values, np.full((4, 1), 5.0))
    rejects = holm_rejects(p, 0.05)
    for row in range(60):
        ours = [margin_test(c[row][~np.isnan(c[row])], margin_pp=5).p_value for c in values]
        assert [figure.value for figure in ours] == pytest.approx(list(p[:, row]))
        adjusted = [figure.value for figure in holm(ours) if figure.value is not None]
        assert (min(adjusted) < 0.05) == rejects[row]


def test_an_undefined_p_never_rejects():
    assert not holm_rejects(np.array([[np.nan], [0.03]]), 0.05)[0]
    assert [p.value for p in holm([Figure.undefined("x"), Figure.ok(0.03)])] == [None, 0.06]
