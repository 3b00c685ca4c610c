"""`memport analyze`: from a table to numbers, a page, and a comparison."""

import json

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

from analysis.tables import read_table, write_csv
from memport_site.commands.analyze import command
from stores.errors import InvalidInputError
from tests.answered import plan_document
from tests.unit.answer_frames import frame, right


def swap_table(tmp_path, name="answers.csv", shift=0, histories=6):
    """Both directions of notes, and the raw transcript, over a few histories."""
    counts = {("A", "A"): 6, ("B", "B"): 8, ("A", "B"): 5 + shift, ("B", "A"): 7}
    cells = [
        (
            {"format": "notes", "writer": w, "reader": r},
            right(*(k + h % 2 for h in range(histories))),
        )
        for (w, r), k in counts.items()
    ]
    cells += [({"format": "lc_raw", "reader": r}, right(*[9] * histories)) for r in "AB"]
    path = tmp_path / name
    write_csv(frame(*cells), path)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(command, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_verdicts_are_printed_and_the_report_is_written(tmp_path):
    out = tmp_path / "report.json"
    text = run(swap_table(tmp_path), "--json", out)
    report = json.loads(out.read_text())
    assert "A → B" in text
    assert "unplanned" in text
    assert report["schema"] == "memport/report/2"
    assert report["data"]["answers"] == 360
    assert len(report["data"]["file_sha256"]) == 64


def test_a_plan_names_margin_and_contrasts(tmp_path):
    plan = plan_document(
        models=[{"key": k, "engine": "scripted"} for k in "AB"],
        analysis={"margin_pp": 7, "contrasts": [{"key": "H1", "margin_pp": 7}, {"key": "H4a"}]},
    )
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    run(swap_table(tmp_path), "--plan", tmp_path / "plan.yaml", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["settings"]["margin_pp"] == 7
    tests = report["planned_tests"]
    assert (tests["planned"], tests["family"]) == (True, ["H1", "H4a"])
    assert tests["contrasts"][1]["decision"].startswith("no decision: ")
    # The test that cannot be made keeps its place in the family.
    first = tests["contrasts"][0]
    assert first["p_holm"]["value"] == pytest.approx(min(1, 2 * first["p"]["value"]))


def test_a_plan_for_other_models_is_refused(tmp_path):
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan_document()))
    arguments = [str(swap_table(tmp_path)), "--plan", str(tmp_path / "plan.yaml")]
    result = CliRunner().invoke(command, arguments)
    assert "no answer in the table is by alpha, beta, which the plan names" in str(result.exception)


def test_the_page_is_one_file_without_address_and_with_one_script_of_its_own(tmp_path):
    run(swap_table(tmp_path), "--html", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.count("<script") == page.count("<script>") == 1
    assert " src=" not in page
    assert "http:" not in page
    assert "https:" not in page
    assert "May we switch?" in page


def test_text_of_a_table_is_escaped_in_the_page(tmp_path):
    cells = [
        ({"format": "notes", "writer": w, "reader": r}, right(5, 6, 7))
        for w in ("<b>x", "y")
        for r in ("<b>x", "y")
    ]
    write_csv(frame(*cells), tmp_path / "answers.csv")
    run(tmp_path / "answers.csv", "--html", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


def test_two_tables_stand_side_by_side(tmp_path):
    first, second = swap_table(tmp_path), swap_table(tmp_path, "other.csv", shift=2)
    text = run("--compare", first, second, "--json", tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert "answers.csv" in text
    assert "other.csv" in text
    row = next(r for r in document["rows"] if (r["old"], r["format"]) == ("A", "notes"))
    deltas = [row[side]["swap_delta_pp"]["value"] for side in ("first", "second")]
    assert deltas == pytest.approx([-30, -10])


def test_every_other_part_stands_side_by_side_too(tmp_path):
    first = swap_table(tmp_path)
    extra = [
        ({"format": "notes", "writer": "A", "reader": "B", "condition": "stored_evidence"}, 8),
        ({"format": "*", "writer": "*", "reader": "B", "condition": "raw_evidence"}, 9),
        ({"format": "rag", "reader": "B", "embedder": "e", "index": "old"}, 4),
        ({"format": "rag", "reader": "B", "embedder": "e", "index": "full"}, 7),
    ]
    swap = read_table(first)
    more = frame(*[(key, right(*[k] * 6)) for key, k in extra])
    write_csv(pd.concat([swap, more]), tmp_path / "more.csv")
    text = run("--compare", first, tmp_path / "more.csv", "--json", tmp_path / "c.json",
               "--html", tmp_path / "c.html")  # fmt: skip
    document = json.loads((tmp_path / "c.json").read_text())
    found = {(row["part"], row["of"], row["figure"]): row for row in document["figures"]}
    gain = found["embedding_upgrade", "rag, index full", "gain_pp"]
    assert gain["first"] is None
    assert gain["second"]["value"] == pytest.approx(30)
    total = found["loss_decomposition", "notes", "total"]
    assert (total["first"], total["second"]["n_histories"]) == (None, 6)
    h1 = next(row for (part, of, _), row in found.items() if of.startswith("H1"))
    assert h1["first"]["value"] == h1["second"]["value"] is not None
    assert document["gates"]["ceiling"]["first"] == "not measured"
    page = (tmp_path / "c.html").read_text()
    assert "rag, index full" in page
    assert "+30.0 pp" in page
    assert "rag, index full" not in text  # only one of the two has it: that is in the files
    assert "H1: " in text


def test_two_tables_make_a_page_and_keep_their_label(tmp_path):
    first, second = swap_table(tmp_path), tmp_path / "b" / "answers.csv"
    second.parent.mkdir()
    swap_table(second.parent, shift=2)
    text = run("--compare", first, second, "--simulated", "--html", tmp_path / "c.html")
    page = (tmp_path / "c.html").read_text()
    assert page.count("<script") == page.count("<script>") == 1
    assert "http" not in page
    # Two files of one name are told apart by where they lie.
    assert str(first) in page
    assert str(second) in page
    for place in (text, page):
        assert place.count("simulated: no model gave these answers") == 2
    assert page.count("(unplanned)") == 8
    assert "swap delta −30.0 pp" in page
    assert "swap delta −10.0 pp" in page


def test_the_page_holds_what_the_pages_of_a_study_hold(tmp_path):
    run(swap_table(tmp_path), "--html", tmp_path / "r.html", "--json", tmp_path / "r.json")
    page = (tmp_path / "r.html").read_text()
    report = json.loads((tmp_path / "r.json").read_text())
    for title in ("By probe kind and memory class (unplanned)", "Every direction apart",
                  "At a second margin (unplanned)", "Equivalence, unplanned"):  # fmt: skip
        assert title in page
    (h1,) = [c for c in report["planned_tests"]["contrasts"] if c["key"] == "H1"]
    assert h1["decision"] in page
    for part in h1["parts"]:
        assert part["label"].replace("'", "&#x27;") in page


def test_every_estimate_says_whether_it_was_planned(tmp_path):
    plan = plan_document(
        formats=["notes"],
        models=[{"key": k, "engine": "scripted"} for k in "AB"],
        analysis={"contrasts": [{"key": "H1"}], "secondary": ["by_kind"]},
    )
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    run(swap_table(tmp_path), "--plan", tmp_path / "plan.yaml", "--json", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    for direction in report["directions"]:
        for entry in direction["formats"]:
            named = entry["format"] == "notes"
            assert entry["planned"] is named
            assert entry["swap_delta_pp"]["planned"] is named
            assert {part["own"]["planned"] for part in entry["by_kind"]} == {named}
            assert entry["service_change_pp"]["planned"] is named
    for cell in report["cells"]:
        assert cell["accuracy"]["planned"] is cell["planned"]
    for part in report["planned_tests"]["contrasts"][0]["parts"]:
        assert part["estimate"]["planned"] is part["planned"] is False


def test_one_history_is_labelled_and_compared_probe_by_probe(tmp_path):
    run(swap_table(tmp_path, histories=1), "--json", tmp_path / "r.json",
        "--html", tmp_path / "r.html")  # fmt: skip
    report = json.loads((tmp_path / "r.json").read_text())
    page = (tmp_path / "r.html").read_text()
    assert "This store only (unplanned)" in page
    assert "says nothing about other histories" in page
    assert "over 10 probes of one history; exact McNemar p" in page
    only = report["this_store_only"]
    assert only["label"] == "this store only: says nothing about other histories"
    assert {c["format"] for c in only["comparisons"]} == {"notes"}
    verdict = report["directions"][0]["formats"][1]["verdict"]
    assert verdict["outcome"] == "too_few_histories"


def test_a_cell_over_other_probes_is_named_and_its_history_left_out(tmp_path):
    path = swap_table(tmp_path)
    lines = path.read_text().splitlines()
    lines.remove(
        next(line for line in lines if line.startswith("h02,notes,,A,B,") and "p003" in line)
    )
    path.write_text("\n".join(lines) + "\n")
    text = run(path, "--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    for place in (" ".join(text.split()), (tmp_path / "r.html").read_text()):
        assert "otes, A → B lacks probes that other cells were asked in 1 history" in place
        assert "(h02: 9 of 10): cells over different probes cannot be compared" in place
        assert "h02 (the cells were asked different probes)" in place
    report = json.loads((tmp_path / "r.json").read_text())
    (lacking,) = report["probe_sets"]
    assert (lacking["history"], lacking["asked"], lacking["of"]) == ("h02", 9, 10)
    assert lacking["cell"] == "notes, A → B"
    delta = report["directions"][0]["formats"][1]["swap_delta_pp"]
    assert delta["excluded"] == [
        {"history": "h02", "reason": "the cells were asked different probes"}
    ]


@pytest.mark.parametrize(("own", "warned"), [(99, True), (60, False)])
def test_a_safe_near_the_margin_and_near_1_says_beware(tmp_path, own, warned):
    gone = (3, 2, 3, 2, 3, 2)
    cells = [
        ({"format": "notes", "writer": w, "reader": "B"}, right(*counts, probes=100))
        for w, counts in {"B": [own] * 6, "A": [own - lost for lost in gone]}.items()
    ]
    cells += [
        ({"format": "notes", "writer": w, "reader": "A"}, right(*[50, 60] * 3, probes=100))
        for w in "AB"
    ]
    write_csv(frame(*cells), tmp_path / "answers.csv")
    text = " ".join(run(tmp_path / "answers.csv", "--html", tmp_path / "r.html").split())
    assert "Safe to switch: B on A's notes loses less than 5 points" in text
    for place in (text, (tmp_path / "r.html").read_text()):
        assert ("Beware: accuracies this close to 0 or 1 are skewed" in place) is warned


def test_all_repairs_failing_are_shown_as_such(tmp_path):
    cells = [
        ({"format": "notes", "writer": w, "reader": "B"}, right(*[k] * 4))
        for w, k in {"B": 8, "A": 3}.items()
    ]
    store = {"format": "notes", "writer": "A", "reader": "B"}
    cells += [
        (store | {"repair": "fresh"}, right(*[8] * 4)),
        (store | {"repair": "notes_raw", "rung": 1, "cost_usd": 0.5}, right(*[2] * 4)),
    ]
    write_csv(frame(*cells), tmp_path / "answers.csv")
    run(tmp_path / "answers.csv", "--json", tmp_path / "r.json", "--html", tmp_path / "r.html")
    rows = json.loads((tmp_path / "r.json").read_text())["repair"]["usd"]
    for row in rows:
        assert (row["n_success"], row["n_histories"]) == (0, 4)
        assert row["median_cost"]["status"] == "unreachable"
    assert "∞" in (tmp_path / "r.html").read_text()


def test_a_bad_table_leaves_nothing_behind(tmp_path):
    path = swap_table(tmp_path)
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    result = CliRunner().invoke(command, [str(path), "--json", str(tmp_path / "r.json")])
    assert isinstance(result.exception, InvalidInputError)
    assert "have the same key" in str(result.exception)
    assert not (tmp_path / "r.json").exists()


def test_one_table_or_two_to_compare_must_be_given():
    assert "Give one TABLE" in run(code=2)
