"""Verdicts: each kind, its borders, and what blocks it."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.stats.figures import Figure, PerHistory
from analysis.stats.inference import estimate
from analysis.stats.verdicts import Discordant, histories_to_decide, judge


def deltas(*values):
    n = len(values)
    names = tuple(f"h{i}" for i in range(n))
    array = np.array(values, dtype=float)
    return estimate(PerHistory(names, array, np.ones(n, dtype=bool), ("",) * n), unit="pp")


def around(mean, spread, n=8):
    """n values with exactly this mean and standard deviation."""
    base = np.array([-1.0, 1.0] * (n // 2))
    return deltas(*(mean + spread * base / base.std(ddof=1)))


@pytest.mark.parametrize(
    ("mean", "spread", "outcome", "gain"),
    [
        (0, 1, "safe", False),
        (-2, 1, "safe", False),  # a loss, and surely a small one
        (4, 1, "safe", True),
        (-9, 1, "loses", False),
        (-5, 2, "worse", False),
        (-5, 20, "undecided", False),
        (0, 20, "undecided", False),
    ],
)
def test_the_interval_decides(mean, spread, outcome, gain):
    verdict = judge(around(mean, spread), margin_pp=5)
    assert (verdict.outcome, verdict.gain) == (outcome, gain)


def test_two_histories_show_a_direction_and_decide_nothing():
    verdict = judge(deltas(-20, -21), margin_pp=5)
    assert verdict.outcome == "too_few_histories"
    assert verdict.histories_to_decide.value is None


def test_an_end_exactly_at_the_margin_is_not_safe():
    half = stats.t.ppf(0.975, 7) / math.sqrt(8)
    assert judge(around(-5 + half, 1), margin_pp=5).outcome in ("worse", "undecided")
    assert judge(around(-5 + half + 1e-9, 1), margin_pp=5).outcome == "safe"


def test_a_failed_gate_or_unscored_answers_withhold_every_verdict():
    verdict = judge(around(0, 1), margin_pp=5, withheld_because="3 answers were never scored")
    assert (verdict.outcome, verdict.reason) == ("withheld", "3 answers were never scored")


def test_the_noise_floor_blocks_a_smaller_claim_of_loss_and_never_safe():
    noise = Figure.ok(4.0)
    assert judge(around(-3, 1), margin_pp=5, noise_floor_pp=noise).outcome == "safe"
    blocked = judge(around(-3, 1), margin_pp=2, noise_floor_pp=noise)
    assert blocked.outcome == "undecided"
    assert "smaller than the noise floor" in blocked.reason
    assert judge(around(-9, 1), margin_pp=5, noise_floor_pp=noise).outcome == "loses"


def test_a_gain_smaller_than_the_noise_floor_is_not_called_one():
    verdict = judge(around(3, 1), margin_pp=5, noise_floor_pp=Figure.ok(4.0))
    assert (verdict.outcome, verdict.gain) == ("safe", False)


def test_safe_needs_a_noise_floor_below_the_margin_where_one_was_measured():
    verdict = judge(around(0, 1), margin_pp=5, noise_floor_pp=Figure.ok(5.0))
    assert verdict.outcome == "undecided"
    assert "not below the margin" in verdict.reason
    unmeasured = Figure.undefined("not measured")
    assert judge(around(0, 1), margin_pp=5, noise_floor_pp=unmeasured).outcome == "safe"


def test_undecided_names_the_smallest_number_that_decides():
    seen = around(0, 12)
    n = int(judge(seen, margin_pp=5).histories_to_decide.value)

    def half_width(k):
        return stats.t.ppf(0.975, k - 1) * 12 / math.sqrt(k)

    assert half_width(n) < 5 <= half_width(n - 1)


def test_no_number_decides_a_delta_exactly_at_the_margin():
    figure = histories_to_decide(around(-5, 12), margin_pp=5)
    assert figure.value is None
    assert "exactly at the margin" in figure.reason


def test_equal_histories_rest_on_pooled_answers():
    same = deltas(*[0.0] * 48)
    verdict = judge(same, margin_pp=5, discordant=Discordant(0, 0, 48 * 160))
    assert verdict.outcome == "safe"
    assert verdict.interval.method.startswith("Clopper–Pearson")
    few = judge(deltas(0, 0, 0), margin_pp=5, discordant=Discordant(0, 0, 15))
    assert few.outcome == "undecided"
    # 1 - 0.025 ** (1 / answers) falls below 5 pp at 72 answers: 15 histories of 5.
    assert few.histories_to_decide.value == 15


def test_equal_losses_everywhere_can_be_a_loss():
    same = deltas(*[-20.0] * 10)
    verdict = judge(same, margin_pp=5, discordant=Discordant(0, 320, 1600))
    assert verdict.outcome == "loses"
