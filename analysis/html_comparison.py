"""Two reports side by side as one self-contained page."""

from collections.abc import Callable, Mapping
from typing import Any

from django.template.loader import render_to_string

from analysis import page_tables as pt
from analysis.html_report import accuracy_words, pp_words, sorting_script
from analysis.page_tables import Column, PageTable, Value
from analysis.planning import UNPLANNED

Document = Mapping[str, Any]
FIGURES = ("own", "inherited", "swap_delta_pp", "service_change_pp")
PARTS = {
    "embedding_upgrade": "Embedding upgrade",
    "loss_decomposition": "Loss by stage",
    "style_rewrite": "Style rewrite",
    "repair": "Repair",
    "planned_tests": "Test",
    "screening": "Screening",
    "noise_floor": "Noise floor",
}
WRITERS: Mapping[str, Callable[[float], str]] = {
    "pp": pt.pp,
    "accuracy": pt.percent,
    "median_cost_usd": pt.dollars,
}


def html_comparison(document: Document) -> str:
    """Return the page of two reports side by side; as self-contained as that of one."""
    titles = [one["title"] for one in document["reports"]]
    said = dict.fromkeys(label for one in document["reports"] for label in one["labels"])
    labels = "; ".join([f"first: {titles[0]}", f"second: {titles[1]}", *said])
    tables = (_swaps(document, titles, labels), _others(document, titles, labels),
              _gates(document, titles, labels))  # fmt: skip
    return render_to_string(
        "analyze/comparison.html",
        {
            "report": document,
            "tables": [table for table in tables if table.rows],
            "script": sorting_script(),
        },
    )


def _sides(titles: list[str]) -> tuple[Column, Column]:
    return Column("first", titles[0]), Column("second", titles[1])


def _swaps(document: Document, titles: list[str], labels: str) -> PageTable:
    columns = (Column("direction", "Direction"), Column("format", "Format"), *_sides(titles))
    rows = tuple(
        {
            "direction": pt.text(f"{row['old']} → {row['new']}"),
            "format": pt.text(" ".join(filter(None, (row["format"], row["embedder"])))),
            "first": _verdict(row["first"]),
            "second": _verdict(row["second"]),
        }
        for row in document["rows"]
    )
    return PageTable("comparison", "Writer swap", columns, rows, labels=labels)


def _verdict(figures: Document | None) -> Value:
    if figures is None:
        return Value(None, "not there", more=dict.fromkeys(FIGURES))
    own, inherited = accuracy_words(figures["own"]), accuracy_words(figures["inherited"])
    delta, service = pp_words(figures["swap_delta_pp"]), pp_words(figures["service_change_pp"])
    sentence = figures["verdict"]["sentence"]
    return Value(
        sentence,
        f"{sentence}{'' if figures['planned'] else f' ({UNPLANNED})'}",
        f"Own {own}; inherited {inherited}; swap delta {delta}; service change {service}",
        more={name: figures[name]["value"] for name in FIGURES}
        | {"planned": "yes" if figures["planned"] else UNPLANNED},
    )


def _others(document: Document, titles: list[str], labels: str) -> PageTable:
    columns = (Column("part", "Part"), Column("of", "Of"), Column("figure", "Figure"),
               *(Column(side.key, side.title, True) for side in _sides(titles)))  # fmt: skip
    rows = tuple(
        {
            "part": pt.text(PARTS[row["part"]]),
            "of": pt.text(row["of"]),
            "figure": pt.text(row["figure"].replace("_", " ")),
            "first": _figure(row["figure"], row["first"]),
            "second": _figure(row["figure"], row["second"]),
        }
        for row in document["figures"]
    )
    return PageTable("figures", "Every other part", columns, rows, labels=labels)


def _figure(name: str, figure: Document | None) -> Value:
    if figure is None:
        return Value(None, "not there")
    write = WRITERS.get(name) or WRITERS.get(figure.get("unit", "")) or (lambda v: f"{v:.3g}")
    if "n_success" not in figure:
        return pt.estimate(figure, write) if "low" in figure else pt.number(figure, write)
    reached = f"{figure['n_success']} of {figure['n_histories']} histories reach it"
    shown = pt.number(figure, write)
    more = {**shown.more, **{name: figure[name] for name in ("n_success", "n_histories")}}
    return Value(shown.raw, shown.text, reached, more=more)


def _gates(document: Document, titles: list[str], labels: str) -> PageTable:
    columns = (Column("gate", "Gate"), *_sides(titles))
    rows = tuple(
        {"gate": pt.text(gate), **{side: pt.text(found[side] or "not there") for side in found}}
        for gate, found in document["gates"].items()
    )
    return PageTable("gates", "Gates", columns, rows, labels=labels)
