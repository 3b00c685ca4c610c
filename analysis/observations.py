"""The answers of a study as rows, from the database or from a table: the one way in.

A row is an answer; its columns are those of the answers table, and beside them `answer_id` and
`evaluation_id`, which link a number to its pages and are never exported.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import QuerySet

from analysis.arrays import to_cube
from analysis.columns import COSTS
from analysis.pieces import categorical
from analysis.stats.coverage import Coverage
from analysis.tables import csv_bytes, read_table, write_csv, write_parquet
from experiments.models import Answer, Attempt, Repair, Run, StoreBuild, Study
from stores.models import Probe

__all__ = [
    "coverage_of", "csv_bytes", "from_run", "from_study", "headline_attempts", "read_table",
    "to_cube", "write_csv", "write_parquet",
]  # fmt: skip

EVALUATION_KEY = (
    "evaluation__history__key", "evaluation__format", "evaluation__embedder", "evaluation__writer",
    "evaluation__reader", "evaluation__condition", "evaluation__index", "evaluation__repair",
    "evaluation__rung", "evaluation__repeat",
)  # fmt: skip
COLUMNS = (
    "history", "format", "embedder", "writer", "reader", "condition", "index", "repair", "rung",
    "repeat",
)  # fmt: skip
TEXTS = COLUMNS[:8]


def from_study(study: Study) -> pd.DataFrame:
    """Return the rows of a study, from its runs or from its answers table.

    Of every evaluation the first complete attempt counts; where several runs hold the same
    evaluation, the earliest run that completed it. Rows of open and abandoned attempts are never
    seen. The order is that of the export.
    """
    if study.source == Study.Source.TABLE:
        return _from_table(study)
    return _from_attempts(Attempt.objects.filter(evaluation__run__study=study))


def from_run(run: Run) -> pd.DataFrame:
    """Return the rows of one run; see `from_study`."""
    return _from_attempts(Attempt.objects.filter(evaluation__run=run))


def headline_attempts(attempts: "QuerySet[Attempt]") -> list[dict[str, Any]]:
    """The first complete attempt of every evaluation key, with that key."""
    rows = (
        attempts.filter(state=Attempt.State.COMPLETE)
        .order_by("evaluation__run_id", "evaluation_id", "number")
        .values("id", "evaluation_id", "store_id", *EVALUATION_KEY)
    )
    first: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        first.setdefault(tuple(row[name] for name in EVALUATION_KEY), row)
    return list(first.values())


def coverage_of(builds: "QuerySet[StoreBuild]") -> list[Coverage]:
    """The evidence that the stores of these builds kept; derived and repaired ones do not count.

    A store names its writer as the catalogue does, because studies share it. Answers, and with them
    all figures, go by the plan's keys: those stand in the builds.
    """
    made = builds.filter(store__isnull=False, store__parent=None)
    rows = made.values_list("history__key", "format", "writer", "store", "store__coverage")
    return [
        Coverage(history, name, writer, found.get("spans_required", 0), found.get("spans_kept", 0))
        for history, name, writer, _, found in rows.distinct()
        if found
    ]


def _from_table(study: Study) -> pd.DataFrame:
    if study.table is None:
        raise ValueError(f"study {study.key} comes from a table and has none")
    name = Path(study.table_name).name or "answers.csv"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(bytes(study.table.data))
        frame = read_table(path)
    frame["answer_id"] = -1
    frame["evaluation_id"] = -1
    return frame


def _from_attempts(attempts: "QuerySet[Attempt]") -> pd.DataFrame:
    chosen = headline_attempts(attempts)
    position = {row["id"]: place for place, row in enumerate(chosen)}
    answers = [
        row
        for row in Answer.objects.filter(attempt__in=attempts.filter(state=Attempt.State.COMPLETE))
        .order_by()
        .values_list("attempt_id", "probe_id", "correct", "rank", "recall", "id")
        if row[0] in position
    ]
    if not answers:
        return _empty()
    attempt, probe, correct, rank, recall, answer = zip(*answers, strict=True)
    place = np.array([position[pk] for pk in attempt], dtype=np.int64)
    frame = pd.DataFrame(_evaluation_columns(chosen, place))
    frame = frame.assign(**_probe_columns(probe))
    for name, cost in _costs(chosen).items():
        frame[name] = cost[place]
    frame["correct"] = _integers(correct, np.int8)
    frame["rank"] = _integers(rank, np.int32)
    frame["recall"] = np.array([np.nan if r is None else r for r in recall], dtype=np.float64)
    frame["answer_id"] = np.array(answer, dtype=np.int64)
    frame["evaluation_id"] = np.array([row["evaluation_id"] for row in chosen])[place]
    return _sorted(frame)


def _empty() -> pd.DataFrame:
    nobody = np.array([], dtype=np.int64)
    texts = (*TEXTS, "probe", "kind", "memory_class")
    integers = ("rung", "repeat", "screening", "answer_id", "evaluation_id")
    columns: dict[str, Any] = {name: categorical(nobody, []) for name in texts}
    columns |= dict.fromkeys(integers, nobody)
    columns |= {"correct": _integers([], np.int8), "rank": _integers([], np.int32)}
    columns |= dict.fromkeys(("cost_usd", "recall"), nobody.astype(np.float64))
    return pd.DataFrame(columns)


def _evaluation_columns(chosen: Sequence[dict[str, Any]], place: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, key in zip(COLUMNS, EVALUATION_KEY, strict=True):
        values = [row[key] for row in chosen]
        if name in TEXTS:
            columns[name] = _categorical(values, place)
        else:
            columns[name] = np.array(values, dtype=np.int32)[place]
    return columns


def _categorical(values: Sequence[str], place: Any) -> Any:
    names = sorted(set(values))
    code = {name: number for number, name in enumerate(names)}
    codes = np.array([code[value] for value in values], dtype=np.int32)
    return categorical(codes[place], names)


def _probe_columns(probes: Sequence[int]) -> dict[str, Any]:
    ids = sorted(set(probes))
    found = Probe.objects.in_bulk(ids) if len(ids) < 500 else _all_probes(ids)
    order = {pk: number for number, pk in enumerate(ids)}
    place = np.array([order[pk] for pk in probes], dtype=np.int64)
    rows = [found[pk] for pk in ids]
    return {
        "probe": _categorical([row.key for row in rows], place),
        "kind": _categorical([row.kind for row in rows], place),
        "memory_class": _categorical([row.memory_class for row in rows], place),
        "screening": np.array([int(row.screening) for row in rows], dtype=np.int32)[place],
    }


def _all_probes(ids: Sequence[int]) -> dict[int, Probe]:
    """Probes by id, in slices that every database takes as parameters."""
    fields = Probe.objects.only("key", "kind", "memory_class", "screening")
    found: dict[int, Probe] = {}
    for start in range(0, len(ids), 500):
        found |= fields.in_bulk(list(ids[start : start + 500]))
    return found


def _costs(chosen: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a repair cost, by column, on its rows; blank for the methods that are no repair."""
    repaired = [
        (place, row)
        for place, row in enumerate(chosen)
        if row["evaluation__repair"] not in ("", "none", "fresh")
    ]
    repairs = Repair.objects.filter(store__in={row["store_id"] for _, row in repaired})
    by_store = {store: values for store, *values in repairs.values_list("store_id", *COSTS)}
    # Without a repair the two optional columns are left out: the table has no use for them.
    names = COSTS if by_store else COSTS[:1]
    costs = {name: np.full(len(chosen), np.nan) for name in names}
    for place, row in repaired:
        for name, value in zip(COSTS, by_store.get(row["store_id"], ()), strict=False):
            costs[name][place] = np.nan if value is None else value
    return costs


def _integers(values: Sequence[Any], kind: Any) -> Any:
    missing = np.array([value is None for value in values], dtype=np.bool_)
    numbers = np.array([0 if value is None else int(value) for value in values], dtype=kind)
    return pd.arrays.IntegerArray(numbers, missing)


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of the export; categories are sorted, so their codes order as texts do."""
    keys = [
        frame["probe"].cat.codes,
        *(
            frame[name].cat.codes if name in TEXTS else frame[name].astype(str)
            for name in reversed(COLUMNS)
        ),
    ]
    order = np.lexsort([np.asarray(key) for key in keys])
    return frame.iloc[order].reset_index(drop=True)
