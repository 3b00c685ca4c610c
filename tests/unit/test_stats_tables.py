"""Answers tables: every fault is named with its place, and equal results are equal bytes."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import table_files
from analysis.arrays import to_cube
from analysis.columns import COLUMNS
from analysis.stats.cells import Cell
from analysis.tables import csv_bytes, read_cube, read_table, write_csv, write_parquet
from stores.errors import InvalidInputError

HEADER = [column.name for column in COLUMNS if not column.optional]
BASE = {
    "history": "h1", "format": "notes", "writer": "A", "reader": "B", "condition": "normal",
    "index": "", "repair": "", "rung": "", "cost_usd": "", "repeat": "0", "probe": "p1",
    "kind": "direct", "screening": "0", "correct": "1", "rank": "", "recall": "",
}  # fmt: skip


def rows(*changes):
    return [BASE | change for change in changes]


def write(tmp_path, lines, name="answers.csv", header=HEADER, separator=","):
    text = [separator.join(header)] + [separator.join(r[c] for c in header) for r in lines]
    path = tmp_path / name
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    return path


def refusal(path):
    with pytest.raises(InvalidInputError) as caught:
        read_table(path)
    return str(caught.value)


def test_a_good_table_becomes_counts(tmp_path):
    path = write(
        tmp_path, rows({}, {"probe": "p2", "correct": "0"}, {"probe": "p3", "correct": ""})
    )
    counts = to_cube(read_table(path)).counts(Cell("notes", "", "A", "B"))
    assert (counts.correct[0], counts.probes[0], counts.blank[0]) == (1, 3, 1)
    assert counts.accuracy().figure(0).reason == "1 of 3 answers was never scored"


def test_a_duplicate_key_names_both_lines(tmp_path):
    message = refusal(write(tmp_path, rows({}, {"probe": "p2"}, {"correct": "0"})))
    assert "line 2 and line 4 have the same key" in message
    assert "history h1, probe p1" in message


def test_lines_are_counted_where_a_quoted_text_holds_line_ends(tmp_path):
    path = tmp_path / "answers.csv"
    first = BASE | {"probe": '"a\nb"'}
    lines = [",".join(r[c] for c in HEADER) for r in (first, BASE, BASE)]
    path.write_text("\n".join([",".join(HEADER), *lines]) + "\n")
    assert "line 4 and line 5 have the same key" in refusal(path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"correct": "2"}, "line 3: '2' in column correct; expected 0, 1 or nothing"),
        ({"correct": "1.0"}, "'1.0' in column correct"),
        ({"correct": "yes"}, "'yes' in column correct"),
        ({"correct": "NaN"}, "'NaN' in column correct"),
        ({"cost_usd": "inf"}, "a finite number; NaN and infinity never occur here"),
        ({"cost_usd": "nan"}, "a finite number"),
        ({"cost_usd": "-1"}, "a number from 0"),
        ({"recall": "1.5"}, "a share from 0 to 1"),
        ({"rank": "0"}, "a whole number from 1"),
        ({"rung": "0"}, "a whole number from 1"),
        ({"repeat": ""}, "'' in column repeat; expected a whole number from 0"),
        ({"history": ""}, "'' in column history; expected a key, it is empty"),
        ({"condition": "normale"}, "perhaps 'normal'"),
        ({"index": "mixed_50"}, "50 is written mixed"),
        ({"index": "mixed_100"}, "100 is full"),
        ({"index": "mixed_05"}, "without leading zeros"),
        ({"repair": "rebuild"}, "one of nothing, none, notes_raw"),
        ({"screening": ""}, "'' in column screening; expected 0 or 1"),
    ],
)
def test_a_value_that_its_column_cannot_hold_names_the_line(tmp_path, change, expected):
    message = refusal(write(tmp_path, rows({}, {"probe": "p2"} | change)))
    assert expected in message
    assert "answers.csv, line 3" in message


@pytest.mark.parametrize("share", ["mixed_0", "mixed_10", "mixed_99", "mixed", "full", "router"])
def test_indexes_of_every_share_are_taken(tmp_path, share):
    path = write(tmp_path, rows({"format": "rag", "writer": "", "index": share}))
    assert read_table(path)["index"].tolist() == [share]


@pytest.mark.parametrize("name", HEADER)
def test_a_missing_column_is_named(tmp_path, name):
    header = [column for column in HEADER if column != name]
    assert f"the column {name} is missing" in refusal(write(tmp_path, rows({}), header=header))


def test_unknown_columns_are_ignored_and_optional_ones_taken(tmp_path):
    header = [*HEADER, "memory_class", "comment", "cost_tokens"]
    row = BASE | {"memory_class": "task", "comment": "x", "cost_tokens": "12"}
    frame = read_table(write(tmp_path, [row], header=header))
    assert "comment" not in frame
    assert (frame["memory_class"][0], frame["cost_tokens"][0]) == ("task", 12)


def test_one_probe_with_two_kinds_names_both_lines(tmp_path):
    message = refusal(write(tmp_path, rows({}, {"reader": "C", "kind": "alias"})))
    assert "kind 'direct' on line 2 and 'alias' on line 3" in message


def test_a_repair_with_two_costs_is_refused(tmp_path):
    repair = {"repair": "notes_raw", "rung": "1", "cost_usd": "0.5"}
    message = refusal(write(tmp_path, rows(repair, repair | {"probe": "p2", "cost_usd": "0.6"})))
    assert "two values of cost_usd" in message


def test_shared_rows_are_taken_where_they_may_be_shared_alone(tmp_path):
    shared = {"format": "*", "writer": "*", "condition": "raw_evidence"}
    assert len(read_table(write(tmp_path, rows(shared)))) == 1
    assert "'*'" in refusal(write(tmp_path, rows(shared | {"condition": "normal"})))


def test_semicolons_are_refused_and_a_byte_order_mark_is_not(tmp_path):
    message = refusal(write(tmp_path, rows({}), separator=";"))
    assert "columns are separated by semicolons" in message
    path = write(tmp_path, rows({}))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(read_table(path)) == 1


def test_other_encodings_are_refused(tmp_path):
    path = write(tmp_path, rows({"history": "höhe"}))
    path.write_bytes(path.read_text().encode("latin-1"))
    assert "not UTF-8" in refusal(path)
    path.write_bytes(path.read_text(encoding="latin-1").encode("utf-16"))
    assert "UTF-16" in refusal(path)


def test_a_truncated_gzip_is_refused(tmp_path):
    path = tmp_path / "answers.csv.gz"
    many = rows(*({"probe": f"p{n}"} for n in range(3000)))
    path.write_bytes(gzip.compress(write(tmp_path, many).read_bytes()))
    assert len(read_table(path)) == 3000
    path.write_bytes(path.read_bytes()[:-20])
    assert "cannot be unpacked" in refusal(path)
    path.write_bytes(b"no gzip at all")
    assert "cannot be unpacked" in refusal(path)


def test_a_file_under_the_name_of_another_kind_is_told_its_own(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(gzip.compress(b"history,format"))
    assert "gzip under another name. Give it a name that ends in .csv.gz" in refusal(path)
    typed_frame().to_parquet(path)
    assert "Parquet under another name. Give it a name that ends in .parquet" in refusal(path)


def test_a_row_with_too_few_values_is_refused(tmp_path):
    path = write(tmp_path, rows({}))
    path.write_text(path.read_text() + "h1,notes\n")
    assert "one value per column" in refusal(path)


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_is_refused(tmp_path, text):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    assert "the file is empty" in refusal(path)


def test_a_table_without_rows_is_refused(tmp_path):
    assert "no rows" in refusal(write(tmp_path, []))


def test_another_kind_of_file_and_a_missing_one_are_refused(tmp_path):
    path = tmp_path / "answers.xlsx"
    assert "no such file" in refusal(path)
    path.write_bytes(b"x")
    assert "expected .csv, .csv.gz or .parquet" in refusal(path)


def typed_frame():
    frame = pd.DataFrame(rows({}, {"probe": "p2", "correct": "0"}))
    for name in ("repeat", "screening", "correct"):
        frame[name] = frame[name].astype(int)
    for name in ("rung", "cost_usd", "rank", "recall"):
        frame[name] = np.nan
    return frame


def test_a_parquet_with_typed_columns_reads_like_the_csv(tmp_path):
    typed_frame().to_parquet(tmp_path / "answers.parquet")
    other = read_table(write(tmp_path, rows({}, {"probe": "p2", "correct": "0"})))
    assert csv_bytes(read_table(tmp_path / "answers.parquet")) == csv_bytes(other)


def test_a_parquet_with_a_wrong_type_names_the_column(tmp_path):
    frame = typed_frame()
    frame["history"] = 7
    frame.to_parquet(tmp_path / "answers.parquet")
    assert "the column history holds int64; expected text" in refusal(tmp_path / "answers.parquet")
    frame = typed_frame()
    frame["correct"] = 0.5
    frame.to_parquet(tmp_path / "answers.parquet")
    assert "row 1: '0.5' in column correct" in refusal(tmp_path / "answers.parquet")
    frame["correct"] = pd.Timestamp("2026-01-01")
    frame.to_parquet(tmp_path / "answers.parquet")
    assert "expected numbers or text" in refusal(tmp_path / "answers.parquet")


def test_a_true_nan_in_a_parquet_is_no_blank(tmp_path):
    table = pa.Table.from_pandas(typed_frame())
    at = table.column_names.index("correct")
    nan = pa.array([float("nan"), 1.0])
    pq.write_table(table.set_column(at, "correct", nan), tmp_path / "answers.parquet")
    assert "'nan' in column correct" in refusal(tmp_path / "answers.parquet")


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "answers.parquet"
    path.write_bytes(b"PAR1 but not really")
    assert "the Parquet file cannot be read" in refusal(path)


def test_the_order_of_the_rows_changes_no_byte(tmp_path):
    lines = rows(*({"probe": f"p{n}", "reader": r} for n in range(12) for r in "BC"))
    once = csv_bytes(read_table(write(tmp_path, lines)))
    assert csv_bytes(read_table(write(tmp_path, lines[::-1]))) == once


def test_writing_and_reading_again_is_the_same_in_every_kind_of_file(tmp_path):
    special = {"history": 'a "quoted", name', "recall": "0.3333333333333333", "rank": "3"}
    frame = read_table_of(tmp_path, rows(special, {"cost_usd": "0.013", "probe": "p2"}))
    once = csv_bytes(frame)
    for name in ("one.csv", "two.csv.gz"):
        write_csv(frame, tmp_path / name)
        assert csv_bytes(read_table(tmp_path / name)) == once
    write_parquet(frame, tmp_path / "three.parquet")
    assert csv_bytes(read_table(tmp_path / "three.parquet")) == once
    write_csv(frame, tmp_path / "again.csv.gz")
    assert (tmp_path / "again.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()


def read_table_of(tmp_path, lines):
    frame = pd.DataFrame(lines)[HEADER]
    frame.to_csv(tmp_path / "source.csv", index=False)
    return read_table(tmp_path / "source.csv")


def test_a_table_in_many_pieces_is_the_same_as_in_one(tmp_path, monkeypatch):
    many = rows(
        *({"history": f"h{h}", "probe": f"p{n}", "reader": r, "correct": str(n % 2), "rank": "2"}
          for n in range(40) for r in "ABC" for h in range(5))
    )  # fmt: skip
    path = write(tmp_path, many)
    whole = read_cube(path)
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 700)
    assert len(list(table_files.batches(path))) > 20
    pieces = read_cube(path)
    assert (pieces.cells, pieces.histories, pieces.probe_keys) == (
        whole.cells, whole.histories, whole.probe_keys,
    )  # fmt: skip
    assert np.array_equal(pieces.correct, whole.correct)
    assert all(np.array_equal(pieces.rank[row], whole.rank[row]) for row in whole.rank)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"correct": "0"}, "line 2 and line 202 have the same key"),
        ({"reader": "C", "kind": "alias"}, "kind 'direct' on line 2 and 'alias' on line 202"),
        ({"reader": "C", "correct": "7"}, "line 202: '7' in column correct"),
    ],
)
def test_faults_are_found_across_pieces(tmp_path, monkeypatch, change, message):
    many = rows(*({"probe": f"p{n}"} for n in range(200)), {"probe": "p0"} | change)
    monkeypatch.setattr(table_files, "BLOCK_BYTES", 700)
    with pytest.raises(InvalidInputError, match=message):
        read_cube(write(tmp_path, many))
