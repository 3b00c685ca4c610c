"""`memport study check`: what would be refused is said before anything is measured."""

import json

import pytest

from experiments.models import Study
from experiments.runtime.pool import use_pool
from stores.models import History
from tests.commands import memport
from tests.integration.test_study_command_run import plan_file


@pytest.fixture
def run(sqlite_file, capsys):
    use_pool(None)
    yield lambda *arguments: memport(capsys, "study", *arguments)
    use_pool(None)


def test_a_plan_that_fits_is_taken_and_nothing_is_written(run, tmp_path):
    ended = run("check", plan_file(tmp_path))
    assert ended.code == 0
    assert "ok  longest window (old): " in ended.out
    assert all("; expected " in line for line in ended.out.splitlines() if line.startswith("ok"))
    assert (Study.objects.count(), History.objects.count()) == (0, 0)


def test_a_history_longer_than_the_context_is_refused_with_the_numbers(run, tmp_path):
    path = plan_file(tmp_path, formats="[lc_raw]")
    path.write_text(path.read_text() + "budgets: {context_tokens: 256, writer_output_tokens: 8}\n")
    ended = run("check", path)
    assert ended.code == 2
    assert "NO  longest history (old): expected at most 128 tokens (context 256" in ended.out
    refused = run("run", path)
    assert refused.code == 2
    assert "refused at preflight: longest history (old): expected at most 128" in refused.err
    assert (Study.objects.count(), History.objects.count()) == (0, 0)


def test_checks_as_json_hold_what_was_expected_and_found(run, tmp_path):
    checks = json.loads(run("check", plan_file(tmp_path), "--json").out)
    assert {"name", "expected", "found", "ok", "subject", "hint"} == set(checks[0])


def test_a_typo_in_a_study_file_is_one_clear_message(run, tmp_path):
    path = plan_file(tmp_path)
    path.write_text(path.read_text().replace("formats:", "fromats:"))
    ended = run("run", path)
    assert ended.code == 2
    assert (
        "study.yaml, line 4, fromats: the key 'fromats' is not known. Did you mean 'formats'?"
        in (ended.err)
    )
    assert "Traceback" not in ended.err
    assert Study.objects.count() == 0


def test_an_unknown_model_names_the_nearest_of_the_catalogue(run, tmp_path):
    path = plan_file(tmp_path)
    path.write_text(
        path.read_text().replace(
            "{key: new, engine: scripted, options: {}}",
            "{key: new, engine: llama_cpp, catalogue: smollm2-135m-instruct-q4, price: {}}",
        )
    )
    ended = run("check", path)
    assert ended.code == 2
    assert "unknown model 'smollm2-135m-instruct-q4'" in ended.out
    assert "Did you mean 'smollm2-135m-instruct-q4_1'?" in ended.out


def test_a_file_that_is_not_there_is_one_clear_message(run, tmp_path):
    ended = run("check", tmp_path / "none.yaml")
    assert ended.code == 2
    assert "none.yaml: the study file cannot be read: No such file or directory" in ended.err
