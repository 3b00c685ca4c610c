"""The report of an answers table: the same parts as a study's, with no database at hand."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from analysis.report import SCHEMA, answers_report, software
from analysis.sections import probe_set_words
from analysis.settings import Settings
from analysis.stats.cells import ABSENT, BLANK, Cube
from analysis.table_plan import table_plan
from analysis.tables import read_cube
from stores.errors import InvalidInputError

# Tables that are known to be simulated: the label stays with them everywhere.
SIMULATED_SHA256 = frozenset(
    {"1c37c89cfe38905da7cc0c299501ace49ed41a69193225ee34c70fda0f6cd272"}  # the paper-scale example
)
SIMULATED = "simulated: no model gave these answers"
BROUGHT_IN = "from an answers table: the models were not watched while they answered"


def table_report(
    path: Path, *, plan: Path | None = None, simulated: bool = False
) -> dict[str, Any]:
    """Return everything that an answers table says, JSON-ready.

    Parameters
    ----------
    path
        .csv, .csv.gz or .parquet.
    plan
        The study plan, or the folder of its lock; without one the defaults apply and everything is
        labelled unplanned.
    simulated
        Whether the answers are simulated; known simulated tables are recognised by their checksum.

    Raises
    ------
    InvalidInputError
        For a table or plan that cannot be taken.
    """
    judged = table_plan(plan)
    settings = judged.settings
    cube = read_cube(path)
    _check_models(settings, cube, path)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    labels = [BROUGHT_IN]
    if simulated or digest in SIMULATED_SHA256:
        labels.insert(0, SIMULATED)
    labels.append(judged.label)
    document = {
        "schema": SCHEMA,
        "study": {
            "key": path.name,
            "title": path.name,
            "source": "table",
            "simulated": SIMULATED in labels,
            "scripted": list(settings.scripted),
            "labels": labels,
            "plan_sha256": judged.sha256,
        },
        "settings": settings.as_json(),
        "software": software(),
        "data": {
            "file": path.name,
            "file_sha256": digest,
            "answers": int((cube.correct != ABSENT).sum()),
            **_unanswered(cube),
            "histories": list(cube.histories),
        },
        "coverage": [],
        "costs": [],
    }
    beside = (SIMULATED,) if SIMULATED in labels else ()
    report = document | answers_report(cube, settings, beside=beside)
    return report | {"notices": probe_set_words(report["probe_sets"])}


def _unanswered(cube: Cube) -> dict[str, int]:
    """Count the rows without a score: never scored, or never asked because nobody reads them."""
    blank = (cube.correct == BLANK).sum(axis=1)
    asked = np.array([bool(cell.reader) for cell in cube.cells], dtype=np.bool_)
    return {"unscored": int(blank[asked].sum()), "not_asked": int(blank[~asked].sum())}


def _check_models(settings: Settings, cube: Cube, path: Path) -> None:
    """Refuse a plan whose models are not those of the table."""
    readers = {cell.reader for cell in cube.cells}
    unknown = sorted(set(settings.readers) - readers)
    if unknown:
        raise InvalidInputError(
            f"no answer in the table is by {', '.join(unknown)}, which the plan names",
            where=path.name,
            expected=f"the plan's models among {', '.join(sorted(readers))}",
            hint="Give the models the same keys in the plan and in the table",
        )
