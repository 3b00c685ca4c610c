"""A study whose answers came in a table: its report, and the arrays behind its pages."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from analysis.cube_store import pack
from analysis.observations import read_table, to_cube
from analysis.stats.cells import Cube
from analysis.table_report import table_report
from experiments.models import Study


@contextmanager
def table_file(study: Study) -> Iterator[Path]:
    """The answers table of a study as a file, for as long as it is read."""
    if study.table is None:
        raise ValueError(f"study {study.key} comes from a table and has none")
    with tempfile.TemporaryDirectory(prefix="memport-table-") as folder:
        path = Path(folder) / (Path(study.table_name).name or "answers.csv")
        path.write_bytes(bytes(study.table.data))
        yield path


def table_study_report(study: Study) -> dict[str, Any]:
    """Return what the table of a study says; the same as `memport analyze` on that file."""
    with table_file(study) as path:
        plan = None
        if study.plan:
            plan = path.with_name("plan.json")
            plan.write_text(json.dumps(study.plan), encoding="utf-8")
        report = table_report(path, plan=plan, simulated=study.simulated)
    return report | {"study": {**report["study"], "key": study.key, "title": study.title}}


def packed_cube(study: Study) -> dict[str, Any]:
    """Return the arrays of a study's table, to be kept."""
    return pack(read_cube_of(study))


def read_cube_of(study: Study) -> Cube:
    """Read the table of a study into arrays."""
    with table_file(study) as path:
        return to_cube(read_table(path))
