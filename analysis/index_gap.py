"""The embedding-upgrade section of a report: every index, and what was found, in words."""

from collections.abc import Mapping
from typing import Any

from analysis.page_tables import change as signed
from analysis.stats.cells import Cube
from analysis.stats.figures import Estimate
from analysis.stats.indexes import IndexResult, index_cells, indexes, migrated_share
from analysis.words import points
from stores.counting import count_of

NOT_ASKED = "answers were not asked: the evidence was ranked and no model read it"
MIXED = "mixed"


def section(cube: Cube) -> list[dict[str, Any]] | None:
    """Return every index of every format that has several: pooled over readers, and by reader."""
    names = sorted({cell.format for cell in cube.cells if cell.index})
    return [_part(cube, name) for name in names] or None


def _part(cube: Cube, name: str) -> dict[str, Any]:
    cells = index_cells(cube, name=name)
    readers = sorted({key[1] for by_key in cells.values() for key in by_key} - {""})
    results = indexes(cube, name=name)
    return {
        "format": name,
        "readers": readers,
        "asked": bool(readers),
        "note": "" if readers else NOT_ASKED,
        "finding": findings(results, asked=bool(readers)),
        "indexes": [_index(result, cells[result.index]) for result in results],
        "by_reader": {
            reader: [_index(r, cells[r.index]) for r in indexes(cube, name=name, reader=reader)]
            for reader in readers
        },
    }


def _index(result: IndexResult, cells: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    return {
        **result.as_json(),
        "migrated_share_percent": migrated_share(result.index),
        "embedders": sorted({embedder for embedder, _ in cells} - {""}),
    }


def findings(results: list[IndexResult], *, asked: bool) -> list[str]:
    """Say whether the half-migrated index is below the full one, with the interval.

    Measurably: the whole 95 % interval across histories lies below 0.
    """
    mixed = next((result for result in results if result.index == MIXED), None)
    if mixed is None or not any(result.index == "full" for result in results):
        return []
    behind = mixed.behind_full
    lines = [_line("accuracy", behind.accuracy_pp, pp=True)] if asked else []
    return [*lines, _line("recall@8", behind.recall), _line("MRR", behind.mrr)]


def _line(measure: str, change: Estimate, *, pp: bool = False) -> str:
    def write(value: float | None) -> str:
        if pp:
            return points(value)
        return "undefined" if value is None else signed(value)

    if change.value is None:
        return f"Mixed against full, {measure}: undefined, because {change.figure.reason}"
    unit = " pp" if pp else ""
    head = f"Mixed against full, {measure}: {write(change.value)}{unit}"
    n = count_of(change.n_histories, "history")
    if change.low is None or change.high is None:
        return f"{head} ({n}); no interval: {change.interval.reason}"
    span = f"95 % interval {write(change.low)} to {write(change.high)}, {n}"
    if change.high < 0:
        return f"{head} ({span}): measurably below"
    if change.low > 0:
        return f"{head} ({span}): measurably above"
    return f"{head} ({span}): not measurably below"
