"""The report of an answers table: the same parts as a study's, with no database at hand."""

import hashlib
from pathlib import Path
from typing import Any

from analysis.observations import read_table, to_cube
from analysis.report import SCHEMA, answers_report, software, unanswered
from analysis.table_plan import table_plan

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
    frame = read_table(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
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
            "answers": len(frame),
            **unanswered(frame),
            "histories": sorted(str(name) for name in frame["history"].unique()),
        },
        "coverage": [],
        "costs": [],
    }
    beside = (SIMULATED,) if SIMULATED in labels else ()
    return document | answers_report(to_cube(frame), settings, beside=beside)
