"""`memport histories`, as a person types it."""

import json
import os

import pytest
from click.testing import CliRunner

from memport_site.commands import histories as module
from stores import models
from stores.errors import InvalidInputError
from tests.unit.test_workload_locomo import sample

pytestmark = pytest.mark.django_db


def run(*words: str):
    return CliRunner().invoke(module.command, [str(word) for word in words])


def ok(*words: str) -> str:
    result = run(*words)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refused(*words: str) -> str:
    result = run(*words)
    assert isinstance(result.exception, InvalidInputError), (result.output, result.exception)
    return str(result.exception)


def folder_of(path, *, seed: int = 7):
    ok("generate", "tiny", "--seed", seed, "--out", path)
    return path


def test_generate_keeps_the_histories_and_says_so():
    assert "Kept 6 histories in collection 'tiny-s7' (66 events, 30 probes)." in ok(
        "generate", "tiny", "--seed", "7"
    )
    assert "6 were there already" in ok("generate", "tiny", "--seed", "7")
    report = json.loads(ok("generate", "tiny", "--seed", "7", "--split", "both", "--json"))
    assert len(report["created"]) == 3
    assert models.History.objects.filter(split="calibration").count() == 3


def test_generate_into_a_folder_keeps_nothing_in_the_database(tmp_path):
    folder_of(tmp_path / "out")

    assert not models.History.objects.exists()
    assert sorted(os.listdir(tmp_path / "out")) == [
        "histories.jsonl",
        "probes.csv",
        "probes.jsonl",
    ]


def test_what_goes_out_comes_in_and_goes_out_again_byte_for_byte(tmp_path):
    first = folder_of(tmp_path / "first")
    ok("import", first, "--collection", "mine")
    ok("export", "--collection", "mine", "--out", tmp_path / "second")

    for name in os.listdir(first):
        assert (first / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_import_names_the_collection_after_the_folder_and_reports(tmp_path):
    report = json.loads(ok("import", folder_of(tmp_path / "mine"), "--json"))

    assert report["collection"] == "mine"
    assert report["counts"]["events"] == 66
    row = models.History.objects.first()
    assert row.source == "imported"
    assert set(row.source_detail["files"]) == {"histories.jsonl", "probes.jsonl"}


def test_import_takes_probes_as_csv(tmp_path):
    folder = folder_of(tmp_path / "mine")
    (folder / "probes.jsonl").unlink()
    assert "30 probes" in ok("import", folder)


def test_validate_says_yes_with_0_and_no_with_2_and_every_problem(tmp_path):
    folder = folder_of(tmp_path / "mine")
    assert "No problems." in ok("validate", folder)

    probes = folder / "probes.jsonl"
    lines = probes.read_text().splitlines()
    lines[1] = "{"
    lines[3] = lines[3].replace("tiny-s7-01", "tiny-s8-01")
    probes.write_text("\n".join(lines))
    result = run("validate", folder)

    assert result.exit_code == 2
    assert "probes.jsonl line 2: not JSON" in result.output
    assert "probes.jsonl line 4, field 'history': there is no history 'tiny-s8-01'" in result.output
    assert "2 problems" in result.output
    report = json.loads(run("validate", folder, "--json").output)
    assert (report["valid"], len(report["problems"])) == (False, 2)


def test_a_bad_file_is_refused_and_nothing_is_kept(tmp_path):
    folder = folder_of(tmp_path / "mine")
    with (folder / "histories.jsonl").open("a") as file:
        file.write('{"key": "tiny-s7-01", "events": [{"key": "e1", "text": "x"}]}\n')

    assert "line 7, field 'key': 'tiny-s7-01' is the key of histories.jsonl line 1 too" in refused(
        "import", folder
    )
    assert not models.History.objects.exists()


def test_a_missing_folder_or_file_is_named(tmp_path):
    assert "there is no such folder" in refused("import", tmp_path / "none")
    (tmp_path / "histories.jsonl").write_text("{}")
    assert "probes.jsonl: there is no such file" in refused("validate", tmp_path)


def test_a_file_over_the_upload_limit_is_refused(tmp_path, settings):
    settings.MAX_UPLOAD_BYTES = 1000
    folder = folder_of(tmp_path / "mine")
    assert "expected at most 1,000 bytes" in refused("import", folder)


def test_show_prints_events_and_probes():
    ok("generate", "tiny", "--seed", "7")

    text = ok("show", "tiny-s7-01")

    assert "Events (11)" in text
    assert "What is the locker code of Lulmo?" in text
    assert json.loads(ok("show", "tiny-s7-01", "--json"))["probes"][0]["key"] == "direct-01"
    assert "Did you mean 'tiny-s7-02'?" in refused("show", "tiny-s7-2")


def test_list_shows_what_is_kept():
    assert "No histories yet" in ok("list")
    ok("generate", "tiny", "--seed", "7")
    assert json.loads(ok("list", "--json"))[0] == {
        "key": "tiny-s7-01",
        "title": "Synthetic history 1 (tiny, seed 7)",
        "collection": "tiny-s7",
        "split": "study",
        "source": "synthetic",
        "events": 11,
        "probes": 5,
    }
    assert "tiny-s7-06" in ok("list")


def test_export_never_overwrites_another_content(tmp_path):
    ok("generate", "tiny", "--seed", "7")
    ok("export", "tiny-s7-01", "--out", tmp_path / "out")
    ok("export", "tiny-s7-01", "--out", tmp_path / "out")

    before = (tmp_path / "out" / "histories.jsonl").read_bytes()
    assert "is there already, with other content" in refused(
        "export", "tiny-s7-02", "--out", tmp_path / "out"
    )
    assert (tmp_path / "out" / "histories.jsonl").read_bytes() == before
    assert "expected history keys, or --collection" in refused("export", "--out", tmp_path / "x")
    assert "collection 'no' has no histories" in refused(
        "export", "--collection", "no", "--out", tmp_path / "x"
    )


def test_locomo_is_converted_and_imported(tmp_path):
    file = tmp_path / "talks.json"
    file.write_text(json.dumps([sample()]))
    out = tmp_path / "talk"

    text = ok(
        "convert", "locomo", file, "--conversation", "talk-1", "--questions", "3", "--out", out,
        "--category", "4=direct",
    )  # fmt: skip

    assert "4 = direct" in text
    assert "questions taken: 3 (direct 2, temporal 1)" in text
    assert "left: 2 - no evidence is named (first: talks.json [0].qa[5])" in text
    assert "2 of the free-text answers stand in none of their evidence" in ok("import", out)
    assert models.History.objects.get().key == "talk-1"


def test_a_locomo_file_that_is_wrong_leaves_no_folder(tmp_path):
    file = tmp_path / "talks.json"
    file.write_text("[]")
    words = ("convert", "locomo", file, "--conversation", "talk-1", "--out", tmp_path / "talk")

    assert "there is no conversation 'talk-1'" in refused(*words)
    assert "expected a number and a kind, like 4=direct" in refused(*words, "--category", "four")
    assert not (tmp_path / "talk").exists()
