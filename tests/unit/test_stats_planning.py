"""The planner, the gates and the one-history case."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint

from analysis.stats.coverage import Coverage, evidence_coverage
from analysis.stats.gates import all_gates, coverage_gates, exact_mean, summary
from analysis.stats.one_history import compare_paired, mcnemar_p, paired_interval, wilson
from analysis.stats.planning import histories_for, plan_sample, power_of
from tests.unit.answer_frames import cube, right


def test_the_paper_s_numbers_follow_from_its_spreads_as_standard_deviations():
    assert histories_for(sd=0.28, distance=0.05).value == 248
    assert histories_for(sd=0.121, distance=0.05).value == 48


@pytest.mark.parametrize(("sd", "d"), [(5.0, 1.0), (12.1, 5.0), (3.0, 4.0), (0.1, 9.0)])
def test_the_number_is_the_smallest_that_satisfies_the_rule(sd, d):
    z = stats.norm.ppf(0.8)

    def enough(n):
        return n >= ((stats.t.ppf(0.975, n - 1) + z) * sd / d) ** 2

    n = int(histories_for(sd=sd, distance=d).value)
    assert enough(n)
    assert n == 2 or not enough(n - 1)


def test_power_is_that_of_statsmodels():
    theirs = TTestPower().power(0.05 / 0.121, nobs=48, alpha=0.025, alternative="larger")
    assert power_of(48, sd=0.121, distance=0.05) == pytest.approx(theirs, rel=1e-6)


def test_an_effect_at_the_margin_has_the_power_of_alpha_and_is_warned_about():
    plan = plan_sample(effect_pp=5, margin_pp=5, sd_pp=12.1)
    assert plan.n_histories.status == "undefined"
    assert "probability 0.025 at most" in plan.warnings[0]
    assert power_of(48, sd=12.1, distance=0) == pytest.approx(0.025)


def test_a_spread_from_a_broken_arm_is_warned_about():
    plan = plan_sample(effect_pp=10, margin_pp=5, sd_pp=28, coverage=0.46)
    assert "kept 46%" in plan.warnings[0]
    assert plan.power_reached.value > 0.79


@pytest.mark.parametrize(("b", "c"), [(0, 0), (3, 9), (9, 3), (5, 5), (0, 7)])
def test_mcnemar_is_that_of_statsmodels(b, c):
    assert mcnemar_p(b, c).value == pytest.approx(mcnemar([[4, b], [c, 6]], exact=True).pvalue)


def test_wilson_is_that_of_statsmodels():
    assert wilson(3, 17) == pytest.approx(proportion_confint(3, 17, method="wilson"))


def test_the_paired_interval_covers_by_enumeration():
    """Summed over all tables of 20 pairs: a little conservative, as Newcombe (1998) found."""
    n, covered = 20, []
    for p_gain, p_lose, p_both in [(0.1, 0.1, 0.6), (0.3, 0.1, 0.3), (0.05, 0.25, 0.5)]:
        total = 0.0
        for gained in range(n + 1):
            for lost in range(n + 1 - gained):
                for both in range(n + 1 - gained - lost):
                    neither = n - gained - lost - both
                    low, high = paired_interval(both, gained, lost, neither)
                    if low <= p_gain - p_lose <= high:
                        parts = [p_both, p_gain, p_lose, 1 - p_both - p_gain - p_lose]
                        logs = sum(
                            k * math.log(p)
                            for k, p in zip((both, gained, lost, neither), parts, strict=True)
                        )
                        ways = math.lgamma(n + 1) - sum(
                            math.lgamma(k + 1) for k in (both, gained, lost, neither)
                        )
                        total += math.exp(logs + ways)
        covered.append(total)
    assert min(covered) > 0.93
    assert 0.95 < np.mean(covered) < 0.975


def test_one_history_says_that_it_says_nothing_about_others():
    result = compare_paired("h", [True] * 12 + [False] * 3, [True] * 5 + [False] * 10)
    assert result.label == "this store only: says nothing about other histories"
    assert (result.gained, result.lost) == (0, 7)
    assert result.p_value.value == pytest.approx(2 * 0.5**7)
    assert result.interval_pp.high < 0


def reader_cells(none=0, raw=10, normal=8, doses=((25, 7), (50, 5), (75, 2))):
    shared = {"format": "*", "writer": "*", "reader": "R"}
    notes = {"format": "notes", "writer": "W", "reader": "R"}
    cells = [(notes, right(normal, normal))]
    cells += [(notes | {"condition": f"corrupt_{p}"}, right(k, k)) for p, k in doses]
    cells.append((shared | {"condition": "no_memory"}, right(none, none)))
    cells.append((shared | {"condition": "raw_evidence"}, right(raw, raw)))
    return cube(*cells)


def states(**options):
    coverage = [Coverage("h00", "notes", "W", 10, 6), Coverage("h01", "notes", "W", 10, 6)]
    return summary(all_gates(reader_cells(**options), coverage=coverage))


def test_a_good_reader_passes_every_gate_and_equality_passes_coverage():
    assert set(states().values()) == {"passed"}


@pytest.mark.parametrize(
    ("options", "gate"),
    [
        ({"none": 1}, "floor"),
        ({"raw": 7}, "ceiling"),
        ({"doses": ((25, 9),)}, "dose"),
        ({"doses": ((25, 4), (50, 6))}, "dose"),
        ({"doses": ((25, 8),)}, "dose"),
        ({"raw": 8, "none": 4}, "range"),
    ],
)
def test_each_gate_fails_on_its_own_fault(options, gate):
    assert states(**options)[gate] == "failed"


def test_a_rise_within_the_noise_floor_passes_the_dose_gate():
    answers = reader_cells(doses=((25, 4), (50, 5), (75, 1)))
    strict = summary(all_gates(answers))["dose"]
    tolerant = summary(all_gates(answers, noise_floor=0.1))["dose"]
    assert (strict, tolerant) == ("failed", "passed")


def test_coverage_is_the_mean_over_histories_of_the_share_kept():
    stores = [Coverage("a", "notes", "W", 10, 10), Coverage("b", "notes", "W", 100, 19)]
    gate = coverage_gates(stores, ["W"])[0]
    assert gate.figure.value == pytest.approx(0.595)
    assert evidence_coverage(stores).value == pytest.approx(0.595)
    assert gate.status == "failed"


def test_what_is_not_there_was_not_measured():
    answers = cube(({"format": "notes", "writer": "W", "reader": "R"}, right(5)))
    assert set(summary(all_gates(answers)).values()) == {"not measured"}


def test_a_range_is_asked_of_every_kind():
    gates = [g for g in all_gates(reader_cells()) if g.name == "range"]
    assert len(gates) == 5


def test_exact_means_do_not_round():
    answers = cube(({"format": "lc_raw", "reader": "A"}, right(1, 2, 3, probes=7)))
    assert exact_mean(answers.counts(answers.cells[0])) * 7 == 2
