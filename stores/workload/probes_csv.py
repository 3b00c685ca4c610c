"""Probes as CSV: one row a probe, lists joined by `;`."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from stores.errors import InvalidInputError
from stores.workload.jsonl import PROBE_FIELDS
from stores.workload.source_file import Limits, SourceFile, decode
from stores.workload.types import History

PROBES_CSV_FILE = "probes.csv"
COLUMNS = (
    "key", "history", "kind", "question", "answer", "evidence", "scoring", "threshold", "tags",
    "memory_class", "screening",
)  # fmt: skip
REQUIRED = PROBE_FIELDS[:6]
_LISTS = ("evidence", "tags")


def write_probes_csv(histories: Iterable[History]) -> bytes:
    """Return the bytes of `probes.csv`: UTF-8, a header row."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for history in histories:
        for p in history.probes:
            threshold = "" if p.scoring.threshold is None else repr(p.scoring.threshold)
            writer.writerow(
                [p.key, p.history, p.kind, p.question, p.answer, ";".join(p.evidence),
                 p.scoring.method, threshold, ";".join(p.tags), p.memory_class, int(p.screening)]
            )  # fmt: skip
    return file.getvalue().encode()


def read_rows(source: SourceFile, limits: Limits) -> list[tuple[int, dict[str, Any]]]:
    """Return each row, with the number of its last line, as a record of `probes.jsonl`.

    Raises
    ------
    InvalidInputError
        For a file without the required columns, or a row of another length.
    """
    csv.field_size_limit(limits.line_bytes)  # for the whole process: no reader may need a lower one
    reader = csv.reader(io.StringIO(decode(source), newline=""), strict=True)
    rows: list[tuple[int, dict[str, Any]]] = []
    header: list[str] = []
    try:
        for row in reader:
            where = f"{source.name} line {reader.line_num}"
            if not header:
                header = _header(row, where)
            elif row and len(row) != len(header):
                raise InvalidInputError(
                    f"the row has {len(row)} cells", where=where, expected=f"{len(header)} cells"
                )
            elif row:
                cells = dict(zip(header, row, strict=True))
                rows.append((reader.line_num, _record(cells, where)))
    except csv.Error as error:
        raise InvalidInputError(
            f"not CSV: {error}", where=f"{source.name} line {reader.line_num}"
        ) from error
    return rows


def _header(row: list[str], where: str) -> list[str]:
    for column in REQUIRED:
        if column not in row:
            raise InvalidInputError(
                f"the column {column!r} is missing", where=where, expected=", ".join(REQUIRED)
            )
    for column in row:
        if row.count(column) > 1:
            raise InvalidInputError(f"the column {column!r} occurs twice", where=where)
    return row


def _record(cells: dict[str, str], where: str) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for name, cell in cells.items():
        if name in _LISTS:
            record[name] = [part.strip() for part in cell.split(";") if part.strip()]
        elif name == "screening":
            record[name] = _flag(cell, where)
        elif name in REQUIRED or cell:
            record[name] = cell
    threshold = record.pop("threshold", "")
    if threshold:
        try:
            number = float(threshold)
        except ValueError as error:
            raise InvalidInputError(
                f"found {threshold!r}", where=f"{where}, field 'threshold'", expected="a number"
            ) from error
        record["scoring"] = {"method": record.get("scoring", "code"), "threshold": number}
    return record


def _flag(cell: str, where: str) -> bool:
    if cell.strip().lower() in ("", "0", "false"):
        return False
    if cell.strip().lower() in ("1", "true"):
        return True
    raise InvalidInputError(
        f"found {cell[:60]!r}", where=f"{where}, field 'screening'", expected="1 or 0"
    )
