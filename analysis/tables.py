"""Answers tables as files: read with every fault named, written byte for byte the same."""

import gzip
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from analysis.arrays import cube_of, to_cube
from analysis.columns import COLUMNS, NEVER_BLANK, SORT_KEY, Column
from analysis.pieces import categorical, codes
from analysis.stats.cells import Cube
from analysis.table_files import Place, batches, is_text
from stores.errors import InvalidInputError


def read_table(path: str | Path) -> pd.DataFrame:
    """Read an answers table: .csv, .csv.gz or .parquet.

    Returns
    -------
    pandas.DataFrame
        The known columns that the file has. Text columns are categorical, `correct` is Int8 with
        missing values where a row was never scored, `rank` is Int32, `recall` and the costs are
        float64; `rung` is 0 where it is empty. Unknown columns are left out.

    Raises
    ------
    InvalidInputError
        For a file that is none, a missing column, a value that its column cannot hold (with the
        line), and two rows with one key (with both lines).
    """
    path = Path(path)
    found = list(batches(path))
    if not found:
        raise InvalidInputError("the table has no rows", where=path.name)
    table = pa.Table.from_batches(found)
    frame = to_frame(table, Place(path))
    to_cube(frame, Place(path).words)
    return frame


def read_cube(path: str | Path) -> Cube:
    """Read an answers table straight into arrays, piece by piece.

    Takes one byte per answer beside the dictionaries: for tables too large to be held as rows.
    Raises as `read_table` does.
    """
    path = Path(path)
    return cube_of(lambda: _frames(path), Place(path).words)


def _frames(path: Path) -> Iterator[tuple[int, pd.DataFrame]]:
    """Pieces of a table: the number of their first row, and their rows."""
    first_row, place = 0, Place(path)
    for batch in batches(path):
        if batch.num_rows:
            yield first_row, to_frame(pa.Table.from_batches([batch]), place, first_row)
            first_row += batch.num_rows
    if not first_row:
        raise InvalidInputError("the table has no rows", where=path.name)


def to_frame(table: pa.Table, place: Place, first_row: int = 0) -> pd.DataFrame:
    """Parse every column by its few distinct values, and name the first row that does not fit."""
    if table.num_rows == 0:
        raise InvalidInputError("the table has no rows", where=place.path.name)
    frame = pd.DataFrame(
        {
            column.name: _parsed(table.column(column.name), column, place, first_row)
            for column in COLUMNS
            if column.name in table.column_names
        }
    )
    check_readers(frame, place)
    return frame


def check_readers(frame: pd.DataFrame, place: Place) -> None:
    """Refuse a row without a reader, but for one of an index of which no answer was asked."""
    missing = frame["reader"].isin([""])
    bad = missing & (frame["correct"].notna() | frame["index"].isin([""]))
    if not bad.any():
        return
    row = int(np.flatnonzero(bad.to_numpy())[0])
    raise InvalidInputError(
        "'' in column reader",
        where=f"{place.path.name}, {place.words(row)}",
        expected="a key; nothing stands only in rows of an index without a score, where answers "
        "were not asked",
    )


def _parsed(values: pa.ChunkedArray, column: Column, place: Place, first_row: int) -> Any:
    encoded = _encoded(values, column, place)
    texts = encoded.dictionary.to_pylist()
    positions = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    parsed, bad = [], {}
    for position, text in enumerate([*texts, ""]):
        try:
            parsed.append(_value(column, text))
        except ValueError as error:
            parsed.append(column.empty)
            bad[position] = (text, str(error))
    if bad:
        wrong = np.isin(positions, list(bad))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            text, expected = bad[int(positions[row])]
            raise InvalidInputError(
                f"{text!r} in column {column.name}",
                where=f"{place.path.name}, {place.words(first_row + row)}",
                expected=expected,
            )
    return _series(column, parsed, positions)


def _value(column: Column, text: str) -> Any:
    if text == "" and column.name not in NEVER_BLANK:
        return column.empty
    return column.parse(text)


def _series(column: Column, parsed: list[Any], positions: Any) -> Any:
    if column.kind == "text":
        names = sorted({str(value) for value in parsed if value is not None})
        at = {name: code for code, name in enumerate(names)}
        code_of = np.array([at.get(value, -1) for value in parsed], dtype=np.int32)
        return categorical(code_of[positions], names)
    missing = np.array([value is None for value in parsed], dtype=np.bool_)
    if column.kind == "number":
        numbers = np.array([np.nan if v is None else v for v in parsed], dtype=np.float64)
        return numbers[positions]
    dtype = {"integer": np.int32, "rank": np.int32, "score": np.int8}[column.kind]
    integers = np.array([0 if value is None else value for value in parsed], dtype=dtype)
    if column.kind == "integer":
        return integers[positions]
    return pd.arrays.IntegerArray(integers[positions], missing[positions])


def _encoded(values: pa.ChunkedArray, column: Column, place: Place) -> Any:
    """One dictionary array of texts, whatever the file held."""
    kind = values.type
    if pa.types.is_null(kind):
        return pa.nulls(len(values), pa.string()).dictionary_encode()
    if is_text(kind):
        encoded = values if pa.types.is_dictionary(kind) else values.dictionary_encode()
        return encoded.unify_dictionaries().combine_chunks()
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    if column.kind == "text" or not numeric:
        raise InvalidInputError(
            f"the column {column.name} holds {kind}",
            where=place.path.name,
            expected="text" if column.kind == "text" else "numbers or text",
        )
    encoded = values.dictionary_encode().unify_dictionaries().combine_chunks()
    texts = [_number_text(value) for value in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))


def _number_text(value: float | int | bool) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(int(value)) if float(value).is_integer() else repr(value)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The answers table of a frame as CSV: known columns, sorted by key, no times.

    Equal results are equal bytes: the order of columns is fixed, rows are sorted by key as text,
    numbers are written in their shortest form that reads back the same.
    """
    columns = [column for column in COLUMNS if column.name in frame]
    header = ",".join(column.name for column in columns)
    return "\n".join([header, *_lines(frame, columns), ""]).encode()


def _lines(frame: pd.DataFrame, columns: Sequence[Column]) -> list[str]:
    """The rows as lines in the order of the export."""
    if frame.empty:
        return []
    encoded = {column.name: _coded(frame[column.name], column) for column in columns}
    keys = [encoded[name][0] for name in SORT_KEY if name in encoded]
    order = np.lexsort(keys[::-1])
    texts = [
        pa.array([_quoted(text) for text in names], pa.string()).take(pa.array(positions[order]))
        for positions, names in encoded.values()
    ]
    lines: list[str] = pc.binary_join_element_wise(*texts, ",").to_pylist()
    return lines


def _quoted(text: str) -> str:
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _coded(values: Any, column: Column) -> tuple[Any, list[str]]:
    """Codes into the sorted texts of a column."""
    if column.kind == "text":
        return codes(values)
    found, uniques = pd.factorize(values, use_na_sentinel=True)
    texts = [_number_words(value, column) for value in np.asarray(uniques).tolist()]
    order = sorted(range(len(texts) + 1), key=[*texts, ""].__getitem__)
    rank = np.empty(len(texts) + 1, dtype=np.int64)
    rank[order] = np.arange(len(texts) + 1)  # the last one is code -1: no value
    return rank[found], sorted([*texts, ""])


def _number_words(value: float, column: Column) -> str:
    if column.name == "rung" and value == 0:
        return ""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value))


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the answers table of a frame; gzip without a time stamp where the name ends in .gz."""
    data = csv_bytes(frame)
    path = Path(path)
    if path.name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    path.write_bytes(data)


def write_parquet(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the answers table of a frame as Parquet, in the same order as the CSV."""
    with io.BytesIO(csv_bytes(frame)) as file:
        table = pa_csv.read_csv(
            file,
            convert_options=pa_csv.ConvertOptions(
                column_types={column.name: _parquet_type(column) for column in COLUMNS},
                strings_can_be_null=False,
            ),
        )
    pa_parquet.write_table(table, path)


def _parquet_type(column: Column) -> pa.DataType:
    if column.kind == "text":
        return pa.string()
    return pa.float64() if column.kind == "number" else pa.int32()
