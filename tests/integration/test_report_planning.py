"""What the plan did not name before results existed carries the word unplanned, everywhere."""

import pytest
import yaml

from analysis.html_report import html_report
from analysis.observations import csv_bytes, from_study
from analysis.report import study_report
from analysis.results import kept_report
from analysis.table_report import table_report
from experiments.plan.plan import parse_plan
from experiments.services.locking import lock_study
from memport_site.accounts.services import default_workspace
from stores.errors import InvalidInputError
from tests.answered import answered_study
from tests.commands import memport

pytestmark = pytest.mark.django_db

PLAN = {
    "key": "hand",
    "title": "Planned",
    "histories": {"preset": "tiny"},
    "formats": ["notes", "lc_raw"],
    "models": [{"key": name, "engine": "scripted", "price": {}} for name in ("alpha", "beta")],
    "directions": [["alpha", "beta"]],
    "tests": {"writer_swap": {}},
    "analysis": {"contrasts": [{"key": "H1"}]},
}


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.HOME = tmp_path / "home"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(csv_bytes(from_study(answered_study(key="other", n_histories=3))))
    return path


def plan_file(tmp_path, **changes):
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**PLAN, **changes}))
    return path


def planned_swaps(report) -> set[tuple[str, str, str]]:
    return {
        (direction["old"], direction["new"], entry["format"])
        for direction in report["directions"]
        for entry in direction["formats"]
        if entry["planned"]
    }


def test_without_a_plan_everything_is_unplanned(table):
    report = table_report(table)
    assert planned_swaps(report) == set()
    assert not any(report["planning"]["parts"].values())
    assert report["planning"]["reason"] == "there is no plan"
    page = html_report(report)
    assert "alpha → beta (unplanned)" in page
    assert "Contrasts (unplanned)" in page


def test_a_plan_makes_planned_what_it_names_and_nothing_else(table, tmp_path):
    report = table_report(table, plan=plan_file(tmp_path))
    assert planned_swaps(report) == {("alpha", "beta", "notes"), ("alpha", "beta", "lc_raw")}
    parts = report["planning"]["parts"]
    assert parts["planned_tests"]
    assert not parts["by_kind"]
    assert not parts["screening"]
    cells = {cell["format"]: cell["planned"] for cell in report["cells"]}
    assert cells == {"kg_fixed": False, "lc_raw": True, "notes": True, "rag": False}
    (contrast,) = report["planned_tests"]["contrasts"]
    assert contrast["planned"]
    assert not contrast["equivalence"]["planned"]
    assert not any(part["planned"] for part in contrast["parts"])


def test_secondary_analyses_and_equivalence_are_planned_where_they_are_named(table, tmp_path):
    analysis = {
        "contrasts": [{"key": "H1", "equivalence": True}],
        "secondary": ["by_kind", "contrast_parts"],
    }
    report = table_report(table, plan=plan_file(tmp_path, analysis=analysis))
    assert report["planning"]["parts"]["by_kind"]
    (contrast,) = report["planned_tests"]["contrasts"]
    assert contrast["equivalence"]["planned"]
    assert all(part["planned"] for part in contrast["parts"])


def test_a_plan_file_is_said_to_be_no_lock_and_a_lock_names_its_signer(
    table, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    path = plan_file(tmp_path)
    assert "not locked" in " ".join(table_report(table, plan=path)["study"]["labels"])
    assert memport(capsys, "study", "lock", path, "-o", "lock").code == 0
    locked = table_report(table, plan=tmp_path / "lock")
    assert "locked and signed by key" in " ".join(locked["study"]["labels"])
    assert planned_swaps(locked)
    plan = tmp_path / "lock" / "plan.json"
    plan.write_bytes(plan.read_bytes().replace(b'"seed":0', b'"seed":1'))
    with pytest.raises(InvalidInputError, match="the lock of the plan does not hold: SHA-256"):
        table_report(table, plan=tmp_path / "lock")


def test_nothing_is_planned_by_a_plan_that_was_locked_after_the_results(capsys):
    study = answered_study(key="hand", n_histories=3)
    assert planned_swaps(kept_report(study))
    lock_study(
        plan=parse_plan(PLAN), workspace=default_workspace(), user=None,
        after_results_because="found later",
    )  # fmt: skip
    study.refresh_from_db()
    report = kept_report(study)
    assert report == study_report(study)
    assert planned_swaps(report) == set()
    assert not report["planned_tests"]["planned"]
    assert any("locked after results existed (found later)" in w for w in report["study"]["labels"])
    shown = memport(capsys, "study", "report", "hand").out
    assert "alpha → beta (unplanned)" in shown
