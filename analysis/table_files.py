"""Answers tables as files: from bytes to columns, with the place of every fault."""

import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from analysis.columns import BY_NAME, COLUMNS
from stores.errors import InvalidInputError

BLOCK_BYTES = 16 * 1024 * 1024
BATCH_ROWS = 250_000
HEADER_CHARS = 65_536


class Place:
    """Where a row is: its line in a CSV, its number in a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_csv = not path.name.lower().endswith(".parquet")

    def words(self, row: int) -> str:
        """Name a row, counted from 0."""
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
    if start[:2] == b"\x1f\x8b" or start == b"PAR1":
        kind, ending = ("Parquet", ".parquet") if start == b"PAR1" else ("gzip", ".csv.gz")
        raise InvalidInputError(
            f"the file is {kind} under another name",
            where=path.name,
            hint=f"Give it a name that ends in {ending}",
        )
    with _text(path) as text:
        line = text.readline(HEADER_CHARS + 1)
    if len(line) > HEADER_CHARS:
        raise _csv_error(path, f"the first line has more than {HEADER_CHARS:,} characters")
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


@contextmanager
def _told_plainly(path: Path) -> Iterator[None]:
    """Turn what a reader raises into words for the person who gave the file."""
    try:
        yield
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
    except csv.Error as error:
        raise _csv_error(path, str(error)) from None
    except (pa.ArrowInvalid, OSError) as error:
        if path.name.lower().endswith(".parquet"):
            raise InvalidInputError(
                f"the Parquet file cannot be read: {str(error).splitlines()[0]}", where=path.name
            ) from None
        raise _csv_error(path, str(error)) from None


def batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Read the known columns of a table piece by piece, text as dictionaries.

    Raises
    ------
    InvalidInputError
        For a file that is none, that is no table, or that lacks a column.
    """
    if not path.is_file():
        raise InvalidInputError("there is no such file", where=str(path))
    name = path.name.lower()
    if name.endswith(".parquet"):
        yield from _parquet_batches(path)
    elif name.endswith((".csv", ".csv.gz")):
        yield from _csv_batches(path)
    else:
        raise InvalidInputError(
            "the kind of file is not known", where=path.name, expected=".csv, .csv.gz or .parquet"
        )


def _csv_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with _told_plainly(path):
        names = _header(path)
        check_header(names, f"{path.name}, line 1")
        known = [name for name in names if name in BY_NAME]
        with _open(path) as file:
            yield from pa_csv.open_csv(
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


def _csv_error(path: Path, message: str) -> InvalidInputError:
    if "UTF8" in message or "UTF-8" in message:
        return InvalidInputError("the text is not UTF-8", where=path.name, expected="UTF-8")
    return InvalidInputError(
        f"the table cannot be read: {message.splitlines()[0]}",
        where=path.name,
        expected="one value per column in every row",
    )


def _parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with _told_plainly(path):
        schema = pa_parquet.read_schema(path)
        check_header(list(schema.names), path.name)
        known = [name for name in schema.names if name in BY_NAME]
        texts = [n for n in known if is_text(schema.field(n).type)]
        file = pa_parquet.ParquetFile(path, read_dictionary=texts)
        yield from file.iter_batches(batch_size=BATCH_ROWS, columns=known, use_threads=False)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
