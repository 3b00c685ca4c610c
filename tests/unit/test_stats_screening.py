"""The quick check: leave-one-out predictions against a plain loop over statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from analysis.stats.screening import SCHEMES, calibrate, correlation, leave_one_out, predictions
from tests.unit.answer_frames import cube

PROBES, SCREENING = 30, 10


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    cells = []
    for form, writers in (("notes", "AB"), ("lc_raw", [""])):
        for writer in writers:
            for reader in "AB":
                ease = rng.uniform(0.2, 0.9)
                scores = {
                    f"h{h}": (rng.random(PROBES) < ease).astype(int).tolist() for h in range(8)
                }
                cells.append(({"format": form, "writer": writer, "reader": reader}, scores))
    return predictions(cube(*cells, screening=SCREENING))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_is_a_loop_of_least_squares(data, scheme):
    groups = data.groups[scheme]
    predicted, slopes = np.empty(data.x.size), []
    for group in np.unique(groups):
        out = groups == group
        fit = sm.OLS(data.y[~out], sm.add_constant(data.x[~out])).fit()
        predicted[out] = fit.params[0] + fit.params[1] * data.x[out]
        slopes.append(fit.params[1])
    ours = calibrate(data, scheme)
    errors = predicted - data.y
    assert ours.mae.value == pytest.approx(np.abs(errors).mean())
    assert ours.rmse.value == pytest.approx(np.sqrt((errors**2).mean()))
    assert ours.bias.value == pytest.approx(errors.mean())
    assert ours.mean_slope.value == pytest.approx(np.mean(slopes))
    by_history = [errors[data.history == h].mean() for h in range(8)]
    low, _ = stats.t.interval(0.95, 7, np.mean(by_history), stats.sem(by_history))
    assert ours.bias.low == pytest.approx(low)


def test_a_writer_free_format_pairs_with_none(data):
    assert "none → A" in data.labels["pair"]
    assert len(data.labels["pair"]) == 6


def test_rho_is_that_of_scipy(data):
    assert correlation(data).value == pytest.approx(stats.pearsonr(data.x, data.y).statistic)


def test_no_spread_in_the_screening_scores_leaves_it_undefined():
    predicted, slopes = leave_one_out(np.ones(6), np.arange(6.0), np.array([0, 0, 1, 1, 2, 2]))
    assert np.isnan(predicted).all()
    assert np.isnan(slopes).all()


def test_one_group_alone_cannot_be_left_out(data):
    result = calibrate(data, "format", data.groups["format"] == 0)
    assert result.mae.status == "undefined"
