"""Whatever page shows numbers says who made them up, what is damaged, unscored or unfinished."""

import pytest
from django.urls import reverse

from analysis.report import study_report
from experiments.guards import drop_guards
from experiments.models import Answer, Evaluation, Run, Study
from stores.models import Blob, Store
from tests.factories import a_study
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of

PAGES = ("study", "run", "history", "probe", "answers")


def address(study: Study, name: str) -> str:
    """A page about the first history of a study."""
    history = study.runs.get().evaluations.order_by("position").first().history
    return {
        "study": lambda: reverse("study", args=[study.key]),
        "run": lambda: reverse("run", args=[study.runs.get().pk]),
        "history": lambda: reverse("history", args=[history.pk]),
        "probe": lambda: reverse("probe", args=[history.probes.first().pk]),
        "answers": lambda: reverse("answers", args=[study.key]),
        "prompt": lambda: reverse(
            "prompt", args=[Answer.objects.filter(probe__history=history).first().pk]
        ),
        "store": lambda: reverse(
            "store", args=[Store.objects.get(history=history, format="notes", writer="old").pk]
        ),
    }[name]()


def damage(study: Study, **cell) -> Store:
    """Change one store of the first history after it was made."""
    history = study.runs.get().evaluations.order_by("position").first().history
    store = Store.objects.get(history=history, **cell)
    blob = Blob.objects.get(pk=store.content_id)
    Blob.objects.filter(pk=blob.pk).update(data=bytes(blob.data) + b" ")
    return store


def by_models(study: Study) -> None:
    """Make a study's plan say that real models answered; a locked plan is changed by no less."""
    drop_guards()
    plan = study.plan
    for part in (*plan["models"], *plan["embedders"]):
        part["engine"] = "llama_cpp" if part in plan["models"] else "onnx"
    Study.objects.filter(pk=study.pk).update(plan=plan)


@pytest.mark.parametrize("name", [*PAGES, "prompt", "store"])
def test_a_scripted_study_is_stamped(admin, study, name):
    page = text_of(admin.get(address(study, name)))
    assert ">Scripted</span>" in page


@pytest.mark.parametrize("name", [*PAGES, "prompt"])
def test_a_simulated_study_is_stamped_and_one_of_real_models_is_not(admin, study, name):
    by_models(study)
    page = text_of(admin.get(address(study, name)))
    assert 'class="label stamp' not in page
    assert "no model gave" not in page.lower()
    Study.objects.update(simulated=True)
    assert ">Simulated</span>" in text_of(admin.get(address(study, name)))


def test_exports_say_it_too_and_the_bytes_of_the_table_stay_the_same(admin, study):
    names = []
    tables = []
    for prepare in (lambda: None, lambda: by_models(study)):
        prepare()
        response = admin.get(reverse("answers-csv", args=[study.key]))
        names.append(response["Content-Disposition"])
        tables.append(response.content)
    assert 'filename="swap-scripted-answers.csv"' in names[0]
    assert 'filename="swap-answers.csv"' in names[1]
    assert tables[0] == tables[1]
    labels = study_report(a_study(study.workspace, key="again", n_histories=1))["study"]["labels"]
    assert labels == ["scripted (old, new, bag): no real model gave these answers"]


@pytest.mark.parametrize("name", [*PAGES, "store"])
def test_a_damaged_store_is_said_on_every_page_whose_numbers_rest_on_it(admin, study, name):
    before = words_of(text_of(admin.get(address(study, name))))
    assert "was changed after it was made" not in before
    damage(study, format="notes", writer="old")
    assert "was changed after it was made" in words_of(text_of(admin.get(address(study, name))))


def test_a_damaged_store_withholds_the_verdicts_that_rest_on_it_and_no_others(admin, study):
    store = damage(study, format="notes", writer="old")
    report = study_report(study)
    words = (
        f"Notes of {store.history.key} by old was changed after it was made: its content does not "
        "match its checksum"
    )
    assert words in report["notices"]
    for direction in report["directions"]:
        for entry in direction["formats"]:
            withheld = entry["verdict"]["outcome"] == "withheld"
            assert withheld == (entry["format"] == "notes")
            assert (words in entry["verdict"]["reason"]) == withheld
    page = words_of(text_of(admin.get(address(study, "study"))))
    assert f"No verdict: {words}" in page


def test_a_damaged_index_is_said_beside_the_numbers_of_retrieval(study):
    damage(study, format="rag")
    entries = [e for d in study_report(study)["directions"] for e in d["formats"]]
    said = {e["format"] for e in entries if "its checksum" in str(e["verdict"]["beside"])}
    assert said == {"rag"}
    assert not [e for e in entries if e["verdict"]["outcome"] == "withheld"]


def test_damage_after_a_report_was_kept_is_seen(admin, study):
    study_page = address(study, "study")
    assert "No verdict" not in words_of(text_of(admin.get(study_page)))
    damage(study, format="kg_fixed", writer="new")
    assert "No verdict" in words_of(text_of(admin.get(study_page)))


@pytest.mark.parametrize("name", PAGES)
def test_answers_that_were_never_scored_are_counted_on_every_page(admin, study, name):
    history = study.runs.get().evaluations.order_by("position").first().history
    answer = Answer.objects.filter(probe__history=history).first()
    Answer.objects.filter(pk=answer.pk).update(correct=None)
    page = words_of(text_of(admin.get(address(study, name))))
    assert "1 answer was never scored: verdicts that rest on such answers are withheld" in page


@pytest.mark.parametrize("name", [name for name in PAGES if name != "run"])
def test_a_study_that_has_not_ended_says_how_far_it_is(admin, workspace, name):
    study = a_study(workspace, n_histories=1, answered=0.5, state=Run.State.RUNNING)
    page = words_of(text_of(admin.get(address(study, name))))
    assert "The study is not finished: 6 of 12 evaluations complete" in page


@pytest.mark.parametrize("name", PAGES)
def test_a_study_that_ended_with_failures_says_so(admin, study, name):
    Run.objects.update(state=Run.State.INCOMPLETE)
    last = Evaluation.objects.order_by("position").last()
    Evaluation.objects.filter(pk=last.pk).update(state="failed")
    page = words_of(text_of(admin.get(address(study, name))))
    said = "some of its work failed" if name == "run" else "ended with failures: 1 evaluation "
    assert said in page
