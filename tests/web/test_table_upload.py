"""Bringing an answers table in through the browser: a study, or the line that is wrong."""

import gzip
import io
import os
import tempfile

import pandas as pd
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.models import Study
from memport_site.accounts.models import AuditEntry
from stores.models import Blob
from tests.web.conftest import signed_in, text_of
from tests.web.tables import csv_of, rows
from tests.web.test_study_page import words_of

URL = "/studies/new/table/"


@pytest.fixture
def operator(workspace):
    return signed_in(workspace, "operator")


def send(client, data, name="answers.csv", **fields):
    file = SimpleUploadedFile(name, data)
    return client.post(URL, {"file": file, **fields}, follow=True)


def parquet_of() -> bytes:
    file = io.BytesIO()
    frame = pd.DataFrame(list(rows()))
    for name in ("repeat", "screening", "correct"):
        frame[name] = frame[name].astype(int)
    frame.to_parquet(file)
    return file.getvalue()


def nothing_is_left(kept_before):
    return (
        not Study.objects.exists()
        and not Blob.objects.exists()
        and set(os.listdir(tempfile.gettempdir())) <= kept_before
    )


@pytest.fixture
def temporary(monkeypatch, tmp_path):
    """The folder of temporary files, and what lies in it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return set(os.listdir(tmp_path))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("answers.csv", csv_of()),
        ("answers.csv.gz", gzip.compress(csv_of())),
        ("answers.parquet", parquet_of()),
    ],
)
def test_a_table_becomes_a_study_with_its_verdicts(operator, temporary, name, data):
    words = words_of(text_of(send(operator, data, name)))
    study = Study.objects.get()
    assert study.source == "table"
    assert "Llama → Qwen" in words
    assert "Loses: Qwen on Llama's notes loses more than 5 points" in words
    assert "From an answers table" in words
    assert AuditEntry.objects.get(action="study.import_table").subject == study.key
    assert set(os.listdir(tempfile.gettempdir())) == temporary


def test_a_table_that_is_said_to_be_simulated_is_stamped_everywhere(operator):
    send(operator, csv_of(), simulated="1")
    key = Study.objects.get().key
    pages = ("", "swap/", "tests/", "repair/", "screening/", "gates/", "planner/", "answers/")
    for page in pages:
        assert "Simulated</span>" in text_of(operator.get(f"/studies/{key}/{page}")), page
    assert "Simulated</span>" in text_of(operator.get("/"))
    table = text_of(operator.get(f"/studies/{key}/swap/?csv=deltas"))
    assert all("simulated" in line for line in table.splitlines()[1:])
    report = operator.get(f"/studies/{key}/report.json").json()
    assert report["study"]["simulated"]


@pytest.mark.parametrize(
    ("line", "column", "value", "said"),
    [
        (7, "correct", "2", "line 7"),
        (3, "rank", "first", "line 3"),
        (4, "repeat", "-1", "line 4"),
    ],
)
def test_a_faulty_value_is_named_with_its_line_and_nothing_is_kept(
    operator, temporary, line, column, value, said
):
    found = list(rows())
    found[line - 2][column] = value
    response = send(operator, csv_of(found))
    assert response.status_code == 422
    words = words_of(text_of(response))
    assert said in words
    assert column in words
    assert nothing_is_left(temporary)


def test_two_rows_with_one_key_are_named_with_both_lines(operator, temporary):
    found = list(rows())
    words = words_of(text_of(send(operator, csv_of([*found, found[4]]))))
    assert "line 6" in words
    assert f"line {len(found) + 2}" in words
    assert nothing_is_left(temporary)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("answers.xlsx", b"PK", "this file is no answers table"),
        ("answers.csv", b"", "answers.csv"),
        ("answers.csv.gz", gzip.compress(csv_of())[:400], "answers.csv.gz"),
        ("answers.parquet", b"no parquet", "answers.parquet"),
        ("answers.csv", b"history,format\nh,notes\n", "writer"),
        ("answers.csv", b"x" * 200_000, "the table cannot be read"),
        ("answers.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "UTF-8"),
    ],
)
def test_what_is_no_table_is_refused_in_words(operator, temporary, name, data, said):
    response = send(operator, data or b"\n", name)
    assert response.status_code == 422
    assert said in words_of(text_of(response))
    assert nothing_is_left(temporary)


def test_a_file_beyond_the_limit_is_refused_and_the_limit_is_said(operator, temporary, settings):
    settings.MAX_UPLOAD_BYTES = 1000
    words = words_of(text_of(send(operator, csv_of())))
    assert "MEMPORT_MAX_UPLOAD_MIB" in words
    assert nothing_is_left(temporary)


def test_no_file_at_all_is_said(operator):
    response = operator.post(URL, {})
    assert response.status_code == 422
    assert "There is no table" in text_of(response)


def test_a_path_in_the_name_of_the_file_leads_nowhere(operator, temporary):
    send(operator, csv_of(), "../../answers.csv")
    assert Study.objects.get().table_name == "answers.csv"


def test_a_very_long_name_of_the_file_is_cut(operator, temporary):
    send(operator, csv_of(), f"{'ä' * 200}.csv", title="Long\x00 name")
    study = Study.objects.get()
    assert study.table_name.endswith("ä.csv")
    assert len(study.table_name.encode()) <= 200
    assert study.title == "Long name"


def test_the_same_table_twice_is_two_studies_of_one_file(operator):
    for _ in range(2):
        send(operator, csv_of(), title="Ours")
    assert set(Study.objects.values_list("key", flat=True)) == {"ours", "ours-2"}
    assert Blob.objects.count() == 1


def test_who_may_not_import_is_told_so(viewer):
    assert viewer.get(URL).status_code == 403
    assert send(viewer, csv_of()).status_code == 403
    assert "Bring a table in" not in text_of(viewer.get("/"))


def test_a_plan_that_comes_along_judges_the_table(operator):
    plan = b"""
key: ours
title: Ours
histories: {preset: tiny, seed: 1}
formats: [notes]
models: [{key: Llama, engine: scripted}, {key: Qwen, engine: scripted}]
tests: {writer_swap: {noise_repeats: 0}}
analysis: {margin_pp: 40}
"""
    words = words_of(text_of(send(operator, csv_of(), plan=SimpleUploadedFile("p.yaml", plan))))
    assert "a margin" in words or "40 points" in words
    assert Study.objects.get().plan["analysis"]["margin_pp"] == 40


def test_a_faulty_plan_is_said_and_nothing_is_kept(operator, temporary):
    plan = SimpleUploadedFile("p.yaml", b"formats: [prose]")
    response = send(operator, csv_of(), plan=plan)
    assert response.status_code == 422
    assert "p.yaml" in text_of(response)
    assert nothing_is_left(temporary)
