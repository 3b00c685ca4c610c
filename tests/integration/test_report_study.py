"""The report of a study: what counts, what is said where something does not."""

import gzip
import json

import pytest

from analysis.observations import csv_bytes, from_run, from_study, read_table, write_csv
from analysis.report import study_report
from experiments.models import Answer, Attempt, Evaluation, Run, Study
from stores.models import Blob
from tests.answered import answer, answered_study

pytestmark = pytest.mark.django_db


def entry(report, old, new, form):
    direction = next(d for d in report["directions"] if (d["old"], d["new"]) == (old, new))
    return next(f for f in direction["formats"] if f["format"] == form)


def test_the_report_is_json_without_nan_or_infinity():
    report = study_report(answered_study())
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_a_study_without_answers_says_so():
    study = answered_study(n_histories=0)
    assert study_report(study)["notices"] == ["there are no answers yet"]


def test_the_first_complete_attempt_of_an_evaluation_counts():
    study = answered_study()
    before = csv_bytes(from_study(study))
    for evaluation in Evaluation.objects.all():
        second = Attempt.objects.create(evaluation=evaluation, number=2, state="complete")
        answer(second, lambda *cell: True)
    assert csv_bytes(from_study(study)) == before


def test_answers_of_an_open_or_abandoned_attempt_are_not_seen():
    study = answered_study(n_histories=3)
    evaluation = Evaluation.objects.first()
    evaluation.attempts.update(state="abandoned")
    open_attempt = Attempt.objects.create(evaluation=evaluation, number=2, state="open")
    answer(open_attempt, lambda *cell: True)
    assert len(from_study(study)) == 10 * (Evaluation.objects.count() - 1)


def test_the_earliest_run_that_completed_an_evaluation_counts():
    study = answered_study(n_histories=3)
    before = csv_bytes(from_study(study))
    again = Run.objects.create(study=study, test="writer_swap", number=2, state="complete")
    for evaluation in Evaluation.objects.filter(run__number=1):
        evaluation.pk, evaluation.run = None, again
        evaluation.save()
        answer(Attempt.objects.create(evaluation=evaluation, state="complete"), lambda *cell: True)
    assert csv_bytes(from_study(study)) == before
    assert csv_bytes(from_run(again)) != before


def test_the_export_holds_no_ids_and_reads_back_the_same(tmp_path):
    frame = from_study(answered_study())
    write_csv(frame, tmp_path / "answers.csv.gz")
    data = gzip.decompress((tmp_path / "answers.csv.gz").read_bytes())
    assert b"answer_id" not in data.splitlines()[0]
    assert csv_bytes(read_table(tmp_path / "answers.csv.gz")) == data


def test_the_rows_come_in_the_order_of_the_export():
    frame = from_study(answered_study())
    keys = [line.split(b",")[:11] for line in csv_bytes(frame).splitlines()[1:]]
    assert keys == sorted(keys)
    own = [[str(v) for v in row] for row in frame[["history", "format", "reader"]].values]
    assert own == [[row[0].decode(), row[1].decode(), row[4].decode()] for row in keys]


def test_one_unscored_answer_withholds_the_verdicts_that_rest_on_it():
    study = answered_study()
    chosen = Answer.objects.filter(
        attempt__evaluation__format="notes", attempt__evaluation__writer="alpha",
        attempt__evaluation__reader="beta",
    ).first()  # fmt: skip
    Answer.objects.filter(pk=chosen.pk).update(correct=None)
    report = study_report(study)
    touched = entry(report, "alpha", "beta", "notes")
    assert touched["verdict"]["outcome"] == "withheld"
    assert touched["verdict"]["reason"] == "1 answer was never scored"
    assert touched["swap_delta_pp"]["n_histories"] == 5
    assert touched["swap_delta_pp"]["excluded"][0]["reason"].endswith("was never scored")
    assert entry(report, "beta", "alpha", "notes")["verdict"]["outcome"] != "withheld"
    assert report["data"]["unscored"] == 1


def test_there_is_no_verdict_before_the_run_has_ended():
    study = answered_study(state=Run.State.RUNNING)
    verdict = entry(study_report(study), "alpha", "beta", "notes")["verdict"]
    assert verdict["outcome"] == "withheld"
    assert "not finished" in verdict["sentence"]


def test_gates_and_noise_floor_that_were_not_measured_are_said_so():
    report = study_report(answered_study())
    assert report["noise_floor_pp"]["reason"] == "not measured: no cell was read twice"
    assert report["gates"]["by_gate"] == {
        "floor": "not measured", "ceiling": "not measured", "dose": "not measured",
        "range": "not measured", "coverage": "passed",
    }  # fmt: skip
    beside = entry(report, "alpha", "beta", "notes")["verdict"]["beside"]
    assert "noise floor not measured" in beside
    assert "gates not measured: ceiling, dose, floor, range" in beside


def test_the_noise_floor_is_the_mean_absolute_change_between_live_repeats():
    def right(history, form, writer, reader, probe, repeat):
        return probe >= (2 if repeat and history == "h00" else 1)

    study = answered_study(right=right, repeats=[("notes", "alpha", "beta")])
    noise = study_report(study)["noise_floor_pp"]
    assert noise["value"] == pytest.approx(10 / 6)  # one of six repeats moved by one of ten probes
    assert noise["n_histories"] == 6


def test_a_change_below_the_noise_floor_is_said_to_be_so():
    def right(history, form, writer, reader, probe, repeat):
        lost = writer != reader and history == "h00" and probe == 9
        return probe >= (3 if repeat else 1) and not lost

    study = answered_study(right=right, repeats=[("notes", "alpha", "beta")])
    verdict = entry(study_report(study), "alpha", "beta", "notes")["verdict"]
    assert "the change is smaller than the noise floor" in verdict["beside"]
    assert verdict["outcome"] == "undecided"  # the noise floor, 20 pp, is not below the margin


def test_repeats_do_not_enter_the_headline():
    without = study_report(answered_study(n_histories=4))["directions"]
    repeats = [("notes", "alpha", "beta")]
    repeated = study_report(answered_study(n_histories=4, repeats=repeats, key="repeated"))
    a, b = ([f["own"] for f in d[0]["formats"]] for d in (without, repeated["directions"]))
    assert a == b


def test_a_failed_coverage_gate_withholds_unless_the_plan_says_mark():
    study = answered_study(analysis={"gates": "mark"})
    for build in Run.objects.get().store_builds.filter(format="notes", writer="alpha"):
        build.store.coverage = {"spans_required": 10, "spans_kept": 5}
        build.store.save()
    marked = entry(study_report(study), "alpha", "beta", "notes")["verdict"]
    assert marked["outcome"] != "withheld"
    assert any("gate coverage (alpha notes): failed" in text for text in marked["beside"])
    study.plan = study.plan | {"analysis": {}}
    study.save()
    stopped = study_report(study)
    assert entry(stopped, "alpha", "beta", "notes")["verdict"]["outcome"] == "withheld"
    assert entry(stopped, "alpha", "beta", "kg_fixed")["verdict"]["outcome"] != "withheld"


def test_equal_answers_everywhere_rest_on_the_exact_bound():
    study = answered_study(right=lambda *cell: cell[4] % 2 == 0, n_histories=10, n_probes=20)
    verdict = entry(study_report(study), "alpha", "beta", "notes")["verdict"]
    assert verdict["interval"]["method"].startswith("Clopper–Pearson")
    assert verdict["outcome"] == "safe"


def test_scripted_models_are_named_in_the_labels():
    report = study_report(answered_study())
    assert report["study"]["labels"] == [
        "scripted (alpha, beta, bag): no real model gave these answers"
    ]


def test_coverage_is_told_per_format_and_writer():
    rows = study_report(answered_study())["coverage"]
    notes = next(r for r in rows if (r["format"], r["writer"]) == ("notes", "alpha"))
    assert (notes["spans_required"], notes["spans_kept"], notes["share"]) == (60, 42, 0.7)


def test_a_study_from_a_table_reports_the_same_directions(tmp_path):
    study = answered_study()
    data = csv_bytes(from_study(study))
    blob = Blob.objects.create(sha256="f" * 64, size_bytes=len(data), data=data)
    table = Study.objects.create(
        workspace=study.workspace, key="table", title="From a table", source="table", table=blob,
        table_name="answers.csv", plan=study.plan, plan_sha256=study.plan_sha256,
    )  # fmt: skip
    ours, theirs = study_report(study), study_report(table)
    assert ours["data"]["answers_sha256"] == theirs["data"]["answers_sha256"]
    figures = [[f["swap_delta_pp"] for f in d["formats"]] for d in ours["directions"]]
    assert figures == [[f["swap_delta_pp"] for f in d["formats"]] for d in theirs["directions"]]
