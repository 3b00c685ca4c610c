"""What the study pages show: the report, arranged for people. The numbers are the report's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis import charts
from analysis.index_view import IndexPart, index_parts
from analysis.kept import at_hand
from analysis.labels import FORMAT_NAMES
from analysis.results import kept_report
from analysis.templatetags.memport import answers_url
from experiments.models import Run, Study

# Written formats first: they are what a writer swap can break.
FORMAT_ORDER = ("notes", "kg_fixed", "rag", "lc_raw")
UNDECIDED = ("undecided", "too_few_histories", "withheld")


@dataclass(frozen=True, slots=True)
class StudyPage:
    """A study's report with its pictures and what to say first."""

    study: Study
    report: Mapping[str, Any]
    figures: Mapping[str, Any]
    findings: Mapping[str, list[str]]
    undecided: list[str]
    decided: bool
    models: tuple[str, ...]
    index_parts: list[IndexPart]


def report_of(study: Study) -> dict[str, Any]:
    """Return the kept report, the formats that a model writes first."""
    report = kept_report(study)
    directions = [
        {**direction, "formats": sorted(direction["formats"], key=_rank)}
        for direction in report["directions"]
    ]
    return {**report, "directions": directions}


def study_page(study: Study) -> StudyPage:
    """Return what the page of one study shows."""
    report = report_of(study)
    figures: dict[str, Any] = {}
    findings: dict[str, list[str]] = {}
    if report["directions"]:

        def url_of(direction: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
            return answers_url(study.key, entry, direction["old"], direction["new"])

        figures["swap"] = charts.swap_delta(report, FORMAT_NAMES, url_of=url_of)
        figures["service"] = charts.service_change(report, FORMAT_NAMES, url_of=url_of)
        findings["swap"] = charts.swap_delta_finding(report, FORMAT_NAMES)
        findings["service"] = charts.service_finding(report, FORMAT_NAMES)
    written = [e for d in report["directions"] for e in d["formats"] if e["written"]]
    undecided = [e for e in written if e["verdict"]["outcome"] in UNDECIDED]
    return StudyPage(
        study, report, figures, findings,
        [entry["verdict"]["sentence"] for entry in undecided],
        decided=len(undecided) < len(written),
        models=tuple(dict.fromkeys(d[end] for d in report["directions"] for end in ("old", "new"))),
        index_parts=index_parts(study, report),
    )  # fmt: skip


def summary(study: Study) -> tuple[list[dict[str, Any]], list[str]]:
    """What the list shows of a study: its verdicts, and what its mixed indexes do."""
    found: tuple[list[dict[str, Any]], list[str]] = at_hand(
        study, "summary", lambda: (headlines(study), index_findings(study))
    )
    return found


def headlines(study: Study) -> list[dict[str, Any]]:
    """The verdict of each written format, direction by direction; empty without answers."""
    return [
        {
            "old": direction["old"],
            "new": direction["new"],
            "verdicts": [
                {"format": e["format"], "verdict": e["verdict"], "delta": e["swap_delta_pp"]}
                for e in direction["formats"]
                if e["written"]
            ],
        }
        for direction in report_of(study)["directions"]
    ]


def index_findings(study: Study) -> list[str]:
    """Whether mixed indexes are measurably below full ones; empty without an embedding upgrade."""
    parts = kept_report(study).get("embedding_upgrade") or ()
    return [line for part in parts for line in part["finding"]]


def state_of(study: Study) -> str:
    """A study's state in words, from its runs."""
    if study.source == Study.Source.TABLE:
        return "imported"
    states = {run.state for run in study.runs.all()}
    for state in (Run.State.RUNNING, Run.State.QUEUED, Run.State.STOPPING, Run.State.BARRED,
                  Run.State.HELD, Run.State.STOPPED, Run.State.INCOMPLETE,
                  Run.State.COMPLETE):  # fmt: skip
        if state in states:
            return str(state)
    return "not launched"


def _rank(entry: Mapping[str, Any]) -> tuple[int, str]:
    name = entry["format"]
    known = FORMAT_ORDER.index(name) if name in FORMAT_ORDER else len(FORMAT_ORDER)
    return known, name
