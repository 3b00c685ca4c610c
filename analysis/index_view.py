"""What the study page shows of an embedding upgrade: the report's own numbers, arranged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from analysis import index_charts
from experiments.models import Study
from stores.models import History

FEWEST_STEPS_OF_A_CURVE = 3
# Words that stand beside each index.
INDEX_HELP = {
    "old": "old vectors, old query: the service before the upgrade",
    "full": "new vectors, new query: everything embedded anew",
    "router": "oracle: for each probe it searches only the part that holds the evidence",
    "dual_query": "each part in its own space, the two lists merged by reciprocal rank",
    "version_filter": "only the migrated part is searched",
}


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One history: its own page, and mixed and full side by side."""

    history: History
    figures: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class IndexPart:
    """One format with its indexes, as rows, pictures and histories."""

    part: Mapping[str, Any]
    deployable: list[Mapping[str, Any]]
    oracles: list[Mapping[str, Any]]
    readers: list[tuple[str, list[Mapping[str, Any]]]]
    forest: Mapping[str, Any]
    dial: Mapping[str, Any] | None
    dial_finding: str
    histories: list[HistoryRow]
    left_out: list[str]


def index_parts(study: Study, report: Mapping[str, Any]) -> list[IndexPart]:
    """Return what to show of every format that has several indexes; empty without any."""
    return [_part(study, part) for part in report.get("embedding_upgrade") or ()]


def answers_of(study: Study, name: str, index: str, reader: str = "") -> str:
    """The address of the answers behind one index, of all readers or of one."""
    filters = {"format": name, "index": index, "condition": "normal", "repeat": "0"}
    if reader:
        filters["reader"] = reader
    return f"{reverse('answers', args=[study.key])}?{urlencode(filters)}"


def _part(study: Study, part: Mapping[str, Any]) -> IndexPart:
    name, asked = part["format"], part["asked"]
    rows = [_row(study, name, row) for row in part["indexes"]]
    measure = "accuracy" if asked else "recall_at_8"

    def url_of(index: str) -> str:
        return answers_of(study, name, index)

    steps = [row for row in rows if row["migrated_share_percent"] is not None]
    curve = None
    if len(steps) >= FEWEST_STEPS_OF_A_CURVE:
        measures = [measure, "mrr"] if not asked else ["accuracy", "recall_at_8", "mrr"]
        curve = index_charts.dial(rows, measures=measures, url_of=url_of)
    return IndexPart(
        part=part,
        deployable=[row for row in rows if row["deployable"]],
        oracles=[row for row in rows if not row["deployable"]],
        readers=[
            (reader, [_row(study, name, row, reader) for row in of_reader])
            for reader, of_reader in part["by_reader"].items()
        ],
        forest=index_charts.index_forest(
            rows, measure=measure, finding=part["finding"], url_of=url_of
        ),
        dial=curve,
        dial_finding=index_charts.dial_finding(rows, measure) if curve else "",
        histories=_histories(study, rows),
        left_out=_left_out(study),
    )


def _row(study: Study, name: str, row: Mapping[str, Any], reader: str = "") -> dict[str, Any]:
    share = row["migrated_share_percent"]
    words = INDEX_HELP.get(row["index"], "")
    if not words and share is not None:
        words = f"{share:g} % of the chunks migrated, new query over all of them"
    return {**row, "help": words, "url": answers_of(study, name, row["index"], reader)}


def _histories(study: Study, rows: list[dict[str, Any]]) -> list[HistoryRow]:
    """The history-by-history values of the main indexes, for the way down."""
    shown = {row["index"]: row for row in rows if row["index"] in ("old", "full", "mixed")}
    values: dict[str, dict[str, Mapping[str, Any]]] = {}
    for index, row in shown.items():
        for measure in ("accuracy", "recall_at_8", "mrr"):
            for entry in row[measure].get("per_history", ()):
                values.setdefault(entry["history"], {})[f"{index}_{measure}"] = entry
    found = History.objects.filter(workspace=study.workspace, key__in=values).order_by("key")
    return [HistoryRow(history, values[history.key]) for history in found]


def _left_out(study: Study) -> list[str]:
    runs = study.runs.filter(test="embedding_upgrade")
    return list(dict.fromkeys(left["reason"] for run in runs for left in run.left_out))
