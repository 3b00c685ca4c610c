"""The parts of a study's further pages: a section with its finding, picture and tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from analysis import planning
from analysis.page_tables import PageTable
from experiments.models import Study

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """A finished figure with the name of its file and what it shows, for who cannot see it."""

    figure: Mapping[str, Any]
    name: str
    about: str


@dataclass(frozen=True, slots=True)
class Section:
    """One section: what was found, the picture, the tables, and what must be read with them."""

    title: str
    findings: tuple[str, ...] = ()
    chart: Chart | None = None
    tables: tuple[PageTable, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unplanned: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter of a page: its name in the address, its label, and what it can be."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str = ""
    any_label: str = "all"


@dataclass(frozen=True, slots=True)
class Field:
    """A number that a page computes with, in the address like the filters."""

    name: str
    label: str
    value: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class PartPage:
    """A page of a study."""

    title: str
    lede: str
    sections: tuple[Section, ...] = ()
    filters: tuple[Filter, ...] = ()
    fields: tuple[Field, ...] = ()
    missing: str = ""

    @property
    def tables(self) -> Iterator[PageTable]:
        """Every table of the page."""
        for section in self.sections:
            yield from section.tables

    @property
    def has_charts(self) -> bool:
        """Whether there is anything to draw."""
        return any(section.chart for section in self.sections)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page is made from: the study, its report, and what the address says."""

    study: Study
    report: Report
    query: Mapping[str, str]

    def chosen(self, name: str, options: Sequence[str]) -> str:
        """The option that the address names; '' where it names none of them."""
        value = self.query.get(name, "")
        return value if value in options else ""

    def answers(self, **filters: Any) -> str:
        """The address of the answers behind a number."""
        return answers_of(self.study, **filters)


def answers_of(study: Study, **filters: Any) -> str:
    """The address of the answers of a cell; `condition` and `repeat` are the usual ones."""
    named = {key: str(value) for key, value in filters.items() if value not in ("", None)}
    named = {"condition": "normal", "repeat": "0", **named}
    return f"{reverse('answers', args=[study.key])}?{urlencode(named)}"


def direction_key(entry: Mapping[str, Any]) -> str:
    """A direction in an address: old→new, as `old..new`."""
    return f"{entry['old']}..{entry['new']}"


def direction_words(entry: Mapping[str, Any]) -> str:
    """A direction for people."""
    return f"{entry['old']} → {entry['new']}"


def is_unplanned(report: Report, part: str) -> bool:
    """Whether the plan did not name this part of the report."""
    return not planning.is_planned(report, part)


def with_history(url: str, history: str) -> str:
    """An address of answers, narrowed to one history."""
    return f"{url}&{urlencode({'history': history})}"


def labels_of(report: Report) -> list[str]:
    """The words that stay with the numbers everywhere: simulated, scripted, no plan."""
    return [str(label).partition(":")[0].split(" (")[0] for label in report["study"]["labels"]]


def labelled(page: PartPage, report: Report) -> PartPage:
    """Return the page with its labels in every picture's title and every table's download."""
    return replace(
        page, sections=tuple(section_labelled(one, labels_of(report)) for one in page.sections)
    )


def section_labelled(section: Section, labels: Sequence[str]) -> Section:
    """Return a section with labels, and its own, in its picture's title and its downloads."""
    own = list(dict.fromkeys([*labels, *([planning.UNPLANNED] if section.unplanned else [])]))
    if not own:
        return section
    words = "; ".join(own)
    chart = section.chart
    if chart is not None:
        layout = dict(chart.figure["layout"])
        layout["title"] = layout["title"] | {
            "text": f"<b>{words.upper()}</b><br>{layout['title']['text']}"
        }
        chart = replace(chart, figure={**chart.figure, "layout": layout})
    tables = tuple(replace(table, labels=words) for table in section.tables)
    return replace(section, chart=chart, tables=tables)
