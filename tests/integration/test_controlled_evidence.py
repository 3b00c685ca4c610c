"""Controlled evidence and gates on scripted models, worked off one job after the other."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from analysis import losses
from analysis.observations import from_study, read_table, to_cube, write_csv
from analysis.stats.gates import all_gates
from experiments.models import Answer, Call, Run, StoreBuild, Study
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.launch import launch_study
from stores.formats.restyling import rewrite_figures
from stores.models import Store
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data
from tests.runs import work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def scripted_pool() -> Iterator[None]:
    use_pool(None)
    yield
    use_pool(None)


def launched(tests: dict[str, Any], *, n_histories: int = 1, **changes: Any) -> Study:
    """Launch a study over the first tiny histories; nothing has been done yet."""
    workspace = a_workspace()
    values = generate("tiny", seed=7)[:n_histories]
    for value in values:
        a_history(workspace, value)
    data = plan_data(
        "controlled",
        **{
            "histories": {"keys": [value.key for value in values]},
            "budgets": {"context_tokens": 4096}, "tests": tests, **changes,
        },
    )  # fmt: skip
    return launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)


def answers(study: Study, **where: Any) -> Any:
    cells = {f"attempt__evaluation__{name}": value for name, value in where.items()}
    return Answer.objects.filter(attempt__evaluation__run__study=study, **cells)


def test_controlled_evidence_is_worked_off_and_reuses_the_normal_cells() -> None:
    study = launched({"writer_swap": {}, "controlled_evidence": {}})
    work_off()
    run = study.runs.get(test="controlled_evidence")
    assert set(study.runs.values_list("state", flat=True)) == {Run.State.COMPLETE}
    assert (run.evaluations.count(), run.reused) == (12, 6)
    found = Counter(run.evaluations.values_list("condition", "format"))
    assert found["stored_evidence", "notes"] == 4
    assert not answers(study, condition="stored_evidence").exclude(correct=True).exists()
    assert not answers(study, condition="stored_evidence").exclude(rank=None).exists()
    for answer in answers(study, condition="raw_evidence"):
        assert answer.attempt.store is None
        assert answer.correct
        assert answer.probe.answer in answer.suffix


def test_a_store_of_a_later_test_is_the_one_of_the_earlier_test() -> None:
    study = launched({"writer_swap": {}, "controlled_evidence": {}})
    work_off()
    builds = StoreBuild.objects.filter(run__test="controlled_evidence", spec={})
    assert builds.count() == 5
    assert all(builds.values_list("reused", flat=True))
    assert Store.objects.filter(builds__run__study=study, parent=None).distinct().count() == 6


def test_an_export_holds_the_shared_rows_and_gives_the_same_losses_and_gates(tmp_path) -> None:
    study = launched({"gates": {"doses": [50]}, "controlled_evidence": {}}, formats=["notes"])
    work_off()
    write_csv(from_study(study), tmp_path / "answers.csv")
    table = read_table(tmp_path / "answers.csv")
    shared = table[table["format"] == "*"]
    assert set(shared["condition"]) == {"no_memory", "raw_evidence"}
    assert set(shared["writer"]) == {""}
    kept, read = to_cube(from_study(study)), to_cube(table)
    assert losses.section(read) == losses.section(kept)
    assert [gate.as_json() for gate in all_gates(read)] == [g.as_json() for g in all_gates(kept)]


def test_a_style_rewrite_is_a_new_store_with_its_parent_and_its_cost() -> None:
    study = launched({"controlled_evidence": {}}, formats=["notes"])
    work_off()
    builds = StoreBuild.objects.filter(run__study=study, spec__derived="style_rewrite")
    assert builds.count() == 2
    for build in builds:
        store, parent = build.store, build.store.parent
        assert store.writer == build.writer != parent.writer
        assert store.checksum != parent.checksum
        assert Call.objects.filter(build=build, model=build.writer).count() == 2
        figures = rewrite_figures(
            bytes(parent.content.data), bytes(store.content.data), code_pattern=r"[A-Z]{2}-\d{2,4}"
        )
        assert (figures.reached, figures.dropping) == (figures.notes, 0)
    cells = answers(study, condition="style_rewrite")
    assert {(a.attempt.evaluation.writer, a.attempt.evaluation.reader) for a in cells} == {
        ("old", "new"), ("new", "old"),
    }  # fmt: skip


def test_gates_run_first_and_corruption_costs_accuracy() -> None:
    study = launched({"gates": {}, "writer_swap": {}}, formats=["notes", "rag"])
    work_off()
    run = study.runs.get(test="gates")
    assert run.state == Run.State.COMPLETE
    assert not answers(study, condition="no_memory").filter(correct=True).exists()
    for name in ("notes", "rag"):
        right = [
            answers(study, format=name, condition=f"corrupt_{dose}").filter(correct=True).count()
            for dose in (25, 50, 75)
        ]
        assert right == [8, 4, 2]
    corrupted = Store.objects.filter(builds__spec__derived="corrupt_50").distinct()
    assert all(store.parent is not None for store in corrupted)
    assert not Call.objects.filter(build__spec__derived="corrupt_50").exists()


def test_stores_made_from_one_that_failed_fail_with_it() -> None:
    options = {"fail_on": "as one short note"}  # words of the writer's prompt alone
    models = [{"key": "old", "engine": "scripted", "options": options},
              {"key": "new", "engine": "scripted"}]  # fmt: skip
    study = launched({"controlled_evidence": {}}, formats=["notes"], models=models)
    work_off()
    run = study.runs.get()
    assert run.state == Run.State.INCOMPLETE
    rewrite = run.store_builds.get(spec__parent="tiny-s7-01/notes/old")
    assert (rewrite.state, "could not be built" in rewrite.error) == ("failed", True)
    other = run.store_builds.get(spec__parent="tiny-s7-01/notes/new")
    assert other.state == "complete" or "fails on" in other.error
