"""The report's numbers, worked out again from the exported answers with pandas and SciPy alone.

Nothing of `analysis` takes part in the calculation; it only makes the two files.
"""

import json
import math

import pandas as pd
import pytest
from scipy import stats

from analysis.observations import from_study, write_csv
from analysis.report import study_report
from tests.answered import answered_study

pytestmark = pytest.mark.django_db
DIRECTIONS = [("alpha", "beta"), ("beta", "alpha")]


@pytest.fixture
def files(tmp_path):
    study = answered_study(n_histories=6, n_probes=15)
    write_csv(from_study(study), tmp_path / "answers.csv")
    (tmp_path / "report.json").write_text(json.dumps(study_report(study)))
    table = pd.read_csv(tmp_path / "answers.csv", keep_default_na=False, na_values={"correct": ""})
    return table, json.loads((tmp_path / "report.json").read_text())


def accuracies(table, form, writer, reader, **filters):
    rows = table[(table.format == form) & (table.writer == writer) & (table.reader == reader)]
    rows = rows[(rows.condition == "normal") & (rows.repeat == 0)]
    for column, value in filters.items():
        rows = rows[rows[column] == value]
    return rows.groupby("history")["correct"].mean()


def reported(report, old, new, form):
    direction = next(d for d in report["directions"] if (d["old"], d["new"]) == (old, new))
    return next(f for f in direction["formats"] if f["format"] == form)


def assert_same(estimate, values):
    assert estimate["value"] == pytest.approx(values.mean(), rel=1e-12, abs=1e-12)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    assert estimate["low"] == pytest.approx(values.mean() - half, rel=1e-10, abs=1e-10)
    assert estimate["high"] == pytest.approx(values.mean() + half, rel=1e-10, abs=1e-10)
    assert estimate["half_width"]["value"] == pytest.approx(half, rel=1e-10)
    assert estimate["n_histories"] == len(values)
    by_history = {row["history"]: row["value"] for row in estimate["per_history"]}
    assert by_history == pytest.approx(values.to_dict(), rel=1e-12, abs=1e-12)


def test_both_directions_and_all_four_formats_are_reported(files):
    _, report = files
    assert [(d["old"], d["new"]) for d in report["directions"]] == DIRECTIONS
    for direction in report["directions"]:
        formats = [entry["format"] for entry in direction["formats"]]
        assert formats == ["kg_fixed", "lc_raw", "notes", "rag"]


@pytest.mark.parametrize(("old", "new"), DIRECTIONS)
@pytest.mark.parametrize("form", ["notes", "kg_fixed"])
def test_a_written_format_is_confirmed_by_hand(files, form, old, new):
    table, report = files
    entry = reported(report, old, new, form)
    own, inherited = accuracies(table, form, new, new), accuracies(table, form, old, new)
    before = accuracies(table, form, old, old)
    assert_same(entry["own"], own)
    assert_same(entry["inherited"], inherited)
    assert_same(entry["before"], before)
    assert_same(entry["swap_delta_pp"], 100 * (inherited - own))
    assert_same(entry["direct_gap"], own - inherited)
    assert_same(entry["service_change_pp"], 100 * (inherited - before))
    kept = own[own >= 0.2 - 1e-12]
    assert_same(entry["retained_performance"] | {"per_history": [
        row for row in entry["retained_performance"]["per_history"] if row["status"] == "ok"
    ]}, inherited[kept.index] / kept)  # fmt: skip
    assert entry["retained_of_means"]["value"] == pytest.approx(inherited.mean() / own.mean())


@pytest.mark.parametrize(("old", "new"), DIRECTIONS)
@pytest.mark.parametrize("form", ["lc_raw", "rag"])
def test_a_format_that_nobody_writes_is_confirmed_by_hand(files, form, old, new):
    table, report = files
    entry = reported(report, old, new, form)
    own, before = accuracies(table, form, "", new), accuracies(table, form, "", old)
    assert_same(entry["own"], own)
    assert_same(entry["service_change_pp"], 100 * (own - before))
    assert entry["swap_delta_pp"]["value"] is None
    assert "not affected by a writer swap" in entry["swap_delta_pp"]["reason"]
    assert entry["verdict"]["outcome"] == "not_affected"


def test_the_breakdown_by_kind_and_memory_class_is_confirmed_by_hand(files):
    table, report = files
    entry = reported(report, "alpha", "beta", "notes")
    for part, column in (("by_kind", "kind"), ("by_memory_class", "memory_class")):
        for row in entry[part]:
            own = accuracies(table, "notes", "beta", "beta", **{column: row["name"]})
            inherited = accuracies(table, "notes", "alpha", "beta", **{column: row["name"]})
            assert row["own"]["value"] == pytest.approx(own.mean())
            delta = row["swap_delta_pp"]["value"]
            assert delta == pytest.approx(100 * (inherited - own).mean(), abs=1e-12)
        assert {row["name"] for row in entry[part]} == set(table[column])
