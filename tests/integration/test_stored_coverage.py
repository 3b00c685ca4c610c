"""A store names its writer as the catalogue does; figures and verdicts name it as the plan does."""

import pytest

from analysis.report import study_report
from stores.models import Blob, Store
from tests.answered import answered_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    study = answered_study(n_histories=2)
    written = Store.objects.filter(format="notes", writer="alpha")
    written.update(writer="alpha-instruct-q4", coverage={"spans_required": 8, "spans_kept": 6})
    return study


def test_the_coverage_gate_finds_the_stores_of_a_writer_by_its_key_in_the_plan(study):
    report = study_report(study)
    gates = {gate["writer"]: gate for gate in report["gates"]["each"] if gate["gate"] == "coverage"}
    assert (gates["alpha"]["status"], gates["alpha"]["figure"]["value"]) == ("passed", 0.75)
    shares = {(row["format"], row["writer"]): row["share"] for row in report["coverage"]}
    assert shares["notes", "alpha"] == 0.75


def test_damage_withholds_the_verdict_whatever_the_store_calls_its_writer(study):
    store = Store.objects.filter(writer="alpha-instruct-q4").first()
    Blob.objects.filter(pk=store.content_id).update(data=b"something else")
    for direction in study_report(study)["directions"]:
        outcomes = {entry["format"]: entry["verdict"]["outcome"] for entry in direction["formats"]}
        assert outcomes["notes"] == "withheld"
        assert outcomes["kg_fixed"] != "withheld"
