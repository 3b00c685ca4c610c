"""What the study pages show: the report, arranged for people. The numbers are the report's own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from analysis import run_view, study_sections
from analysis.kept import at_hand
from analysis.page_parts import Asked, Section, labels_of, section_labelled
from analysis.page_tables import PageTable
from analysis.results import kept_report
from experiments.models import Run, Study

# Written formats first: they are what a writer swap can break.
FORMAT_ORDER = ("notes", "kg_fixed", "rag", "lc_raw")
UNDECIDED = ("undecided", "too_few_histories", "withheld")


@dataclass(frozen=True, slots=True)
class StudyPage:
    """A study's first page: what to say first, then its sections with pictures and tables."""

    report: Mapping[str, Any]
    decided: bool
    models: tuple[str, ...]
    found: tuple[Section, ...]
    trust: Section | None
    coverage: Section
    costs: Section
    left_out: Section | None

    @property
    def tables(self) -> Iterator[PageTable]:
        """Every table of the page."""
        for section in (*self.found, self.trust, self.coverage, self.costs, self.left_out):
            yield from section.tables if section else ()

    @property
    def has_charts(self) -> bool:
        """Whether there is anything to draw."""
        return any(section.chart for section in self.found)


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
    asked = Asked(study, report, {})
    runs = list(study.runs.all())
    spent = at_hand(study, "costs", lambda: run_view.study_costs(runs))
    left_out = study_sections.left_out(runs, study.deviations.order_by("at")) if runs else None
    written = [e for d in report["directions"] for e in d["formats"] if e["written"]]
    undecided = [e for e in written if e["verdict"]["outcome"] in UNDECIDED]
    own = labels_of(report)

    def said(section: Section) -> Section:
        return section_labelled(section, own)

    trust = study_sections.trust(asked)
    return StudyPage(
        report=report,
        decided=len(undecided) < len(written),
        models=tuple(dict.fromkeys(d[end] for d in report["directions"] for end in ("old", "new"))),
        found=tuple(said(section) for section in study_sections.found(asked)),
        trust=said(trust) if trust else None,
        coverage=said(study_sections.coverage(asked)),
        costs=said(study_sections.costs(spent)),
        left_out=said(left_out) if left_out else None,
    )


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
