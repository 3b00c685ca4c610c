"""The published tables, from an answers table that was drawn to match them.

The whole table (468,480 answers) lies beside a checkout in ../shared, or where MEMPORT_SHARED
says; tests/slow/test_paper_scale.py reads it. Here the same figures come from the counts of right
answers per cell and history of that table, kept in paper_scale_counts.csv (simulated answers).
"""

import csv
import json
from pathlib import Path

import pytest

from analysis.report import answers_report
from analysis.settings import Settings
from tests.reference.published import assert_published
from tests.reference.scale import cube_of_counts

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def report():
    with (HERE / "paper_scale_counts.csv").open(newline="") as file:
        cube = cube_of_counts(csv.DictReader(file))
    return answers_report(cube, Settings())


def test_the_published_tables_are_reproduced(report):
    assert_published(report)


def test_what_was_not_measured_is_said(report):
    assert report["gates"]["status"] == "not measured"
    assert report["noise_floor_pp"]["reason"].startswith("not measured")


def test_the_report_is_plain_json(report):
    assert json.loads(json.dumps(report, allow_nan=False)) == report
