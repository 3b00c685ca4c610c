"""Answers tables as files: read with every fault named, written byte for byte the same."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from analysis.arrays import categorical, check_frame
from analysis.columns import BY_NAME, COLUMNS, NEVER_BLANK, SORT_KEY, Column
from stores.errors import InvalidInputError

BLOCK_BYTES = 8 * 1024 * 1024


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
    if not path.is_file():
        raise InvalidInputError("there is no such file", where=str(path))
    name = path.name.lower()
    if name.endswith(".parquet"):
        table = _read_parquet(path)
    elif name.endswith((".csv", ".csv.gz")):
        table = _read_csv(path)
    else:
        raise InvalidInputError(
            "the kind of file is not known", where=path.name, expected=".csv, .csv.gz or .parquet"
        )
    frame = to_frame(table, _Place(path))
    check_frame(frame, _Place(path).words)
    return frame


class _Place:
    """Where a row is: its line in a CSV, its number in a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_csv = not path.name.lower().endswith(".parquet")

    def words(self, row: int) -> str:
        if not self.is_csv:
            return f"row {row + 1}"
        return f"line {self._line(row)}"

    def _line(self, row: int) -> int:
        """Read up to the row again: a quoted text may hold line ends of its own."""
        with _text(self.path) as file:
            reader = csv.reader(file)
            next(reader, None)
            line = reader.line_num + 1
            seen = 0
            for fields in reader:
                if fields:
                    if seen == row:
                        return line
                    seen += 1
                line = reader.line_num + 1
        return row + 2


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield unpacked  # type: ignore[misc]
        else:
            yield file


@contextmanager
def _text(path: Path) -> Iterator[IO[str]]:
    with _open(path) as file:
        yield io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def _header(path: Path) -> list[str]:
    with _open(path) as file:
        start = file.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InvalidInputError("the file is UTF-16", where=path.name, expected="UTF-8")
    with _text(path) as text:
        line = text.readline()
    if not line.strip():
        raise InvalidInputError("the file is empty", where=path.name, expected="a header row")
    names = next(csv.reader([line]))
    for separator, word in ((";", "semicolons"), ("\t", "tabs")):
        if len(names) < 3 and line.count(separator) > 2:
            raise InvalidInputError(
                f"columns are separated by {word}", where=f"{path.name}, line 1", expected="commas"
            )
    return names


def check_header(names: list[str], where: str) -> None:
    """Refuse a table that lacks a required column, or has one twice."""
    missing = [c.name for c in COLUMNS if not c.optional and c.name not in names]
    if missing:
        raise InvalidInputError(
            f"the column{'s' if len(missing) > 1 else ''} {', '.join(missing)} "
            f"{'are' if len(missing) > 1 else 'is'} missing",
            where=where,
            hint="An empty column is enough where nothing applies; the header must be there",
        )
    twice = sorted({name for name in names if name in BY_NAME and names.count(name) > 1})
    if twice:
        raise InvalidInputError(f"the column {twice[0]} is there twice", where=where)


def _read_csv(path: Path) -> pa.Table:
    try:
        names = _header(path)
        check_header(names, f"{path.name}, line 1")
        known = [name for name in names if name in BY_NAME]
        with _open(path) as file:
            return pa_csv.read_csv(
                file,
                read_options=pa_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
                parse_options=pa_csv.ParseOptions(newlines_in_values=True),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=known,
                    column_types={name: pa.dictionary(pa.int32(), pa.string()) for name in known},
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInputError(
            f"the gzip file cannot be unpacked ({error})",
            where=path.name,
            hint="It is cut off or damaged: copy it again",
        ) from None
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"byte {error.start} is not UTF-8", where=path.name, expected="UTF-8"
        ) from None
    except pa.ArrowInvalid as error:
        raise _csv_error(path, str(error)) from None


def _csv_error(path: Path, message: str) -> InvalidInputError:
    if "UTF8" in message or "UTF-8" in message:
        return InvalidInputError("the text is not UTF-8", where=path.name, expected="UTF-8")
    return InvalidInputError(
        f"the table cannot be read: {message.splitlines()[0]}",
        where=path.name,
        expected="one value per column in every row",
    )


def _read_parquet(path: Path) -> pa.Table:
    try:
        schema = pa_parquet.read_schema(path)
        check_header(list(schema.names), path.name)
        known = [name for name in schema.names if name in BY_NAME]
        texts = [n for n in known if _is_text(schema.field(n).type)]
        return pa_parquet.read_table(path, columns=known, read_dictionary=texts)
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInputError(
            f"the Parquet file cannot be read: {str(error).splitlines()[0]}", where=path.name
        ) from None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def to_frame(table: pa.Table, place: "_Place") -> pd.DataFrame:
    """Parse every column by its few distinct values, and name the first row that does not fit."""
    if table.num_rows == 0:
        raise InvalidInputError("the table has no rows", where=place.path.name)
    return pd.DataFrame(
        {
            column.name: _parsed(table.column(column.name), column, place)
            for column in COLUMNS
            if column.name in table.column_names
        }
    )


def _parsed(values: pa.ChunkedArray, column: Column, place: "_Place") -> Any:
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
                where=f"{place.path.name}, {place.words(row)}",
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


def _encoded(values: pa.ChunkedArray, column: Column, place: "_Place") -> Any:
    """One dictionary array of texts, whatever the file held."""
    kind = values.type
    if pa.types.is_null(kind):
        return pa.nulls(len(values), pa.string()).dictionary_encode()
    if _is_text(kind):
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
    texts = {column.name: _texts(frame[column.name], column) for column in columns}
    keys = [texts[name] for name in SORT_KEY if name in texts]
    order = sorted(range(len(frame)), key=lambda row: tuple(key[row] for key in keys))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(texts)
    lists = list(texts.values())
    writer.writerows([values[row] for values in lists] for row in order)
    return out.getvalue().encode()


def _texts(values: "pd.Series[Any]", column: Column) -> list[str]:
    if column.kind == "text":
        return [str(value) for value in values]
    if column.kind == "number":
        return ["" if np.isnan(v) else _shortest(float(v)) for v in values.astype("float64")]
    if column.name == "rung":
        return ["" if value == 0 else str(value) for value in values]
    return ["" if pd.isna(value) else str(int(value)) for value in values]


def _shortest(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


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
