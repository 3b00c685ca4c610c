"""The report fits its published JSON Schema, and the schema refuses what a figure may not be."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from analysis.report import study_report
from analysis.table_report import table_report
from analysis.tables import write_csv
from tests.answered import answered_study
from tests.unit.answer_frames import frame, right

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "report.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def faults(document):
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in VALIDATOR.iter_errors(document)]


@pytest.mark.django_db
def test_the_report_of_a_study_fits():
    study = answered_study(n_histories=3, repeats=[("notes", "alpha", "beta")])
    assert faults(study_report(study)) == []


@pytest.mark.django_db
def test_the_report_of_a_study_without_answers_fits():
    assert faults(study_report(answered_study(n_histories=0))) == []


def every_kind_of_cell():
    notes = {"format": "notes", "writer": "A", "reader": "B"}
    rag = {"format": "rag", "reader": "B"}
    raw = {"format": "*", "writer": "*", "reader": "B", "condition": "raw_evidence"}
    cells = [
        ({"format": "notes", "writer": w, "reader": r}, right(5, 6, 7)) for w in "AB" for r in "AB"
    ]
    cells += [(rag | {"index": index}, right(3, 4, 5)) for index in ("old", "mixed", "full")]
    cells += [(notes | {"condition": "stored_evidence"}, right(6, 7, 8)), (raw, right(9, 9, 9))]
    cells += [(notes | {"repair": "fresh"}, right(8, 8, 8))]
    cells += [
        (notes | {"repair": "notes_raw", "rung": 1, "cost_usd": 0.5}, right(8, 8, 1)),
        (notes | {"condition": "style_rewrite"}, right(4, 4, 4)),
    ]
    return cells


def test_the_report_of_a_table_with_every_part_fits(tmp_path):
    path = tmp_path / "answers.csv"
    write_csv(frame(*every_kind_of_cell(), screening=4), path)
    report = table_report(path)
    parts = ("embedding_upgrade", "loss_decomposition", "repair", "screening", "style_rewrite")
    assert all(report[part] for part in parts)
    assert faults(report) == []


def test_the_report_of_one_history_fits(tmp_path):
    path = tmp_path / "answers.csv"
    cells = [({"format": "notes", "writer": w, "reader": r}, right(5)) for w in "AB" for r in "AB"]
    write_csv(frame(*cells), path)
    assert faults(table_report(path)) == []


def names_in(schema):
    """Every name that the schema gives to a part of the report."""
    if isinstance(schema, list):
        return set().union(*map(names_in, schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("properties")
    found = set(own) if isinstance(own, dict) else set()
    return found.union(*map(names_in, schema.values()))


def test_the_page_about_the_report_names_every_part_of_it():
    page = (DOCS / "report.md").read_text()
    words = set(re.findall(r"\w+", page))
    missing = {n for n in names_in(SCHEMA) if n not in words and n.replace("_", " ") not in page}
    assert missing == set()


@pytest.mark.parametrize(
    "figure",
    [
        {"value": None, "status": "ok", "reason": ""},
        {"value": 0.0, "status": "undefined", "reason": "x"},
        {"value": None, "status": "undefined", "reason": ""},
    ],
)
def test_a_figure_is_a_number_or_a_reason(figure):
    validator = jsonschema.Draft202012Validator(SCHEMA["$defs"]["figure"])
    assert list(validator.iter_errors(figure))
