"""The page of swap deltas: directions apart, histories as dots, own against inherited."""

from typing import Any

from analysis import one_store_view
from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES
from analysis.page_parts import (
    Asked,
    Chart,
    Filter,
    PartPage,
    Section,
    direction_key,
    direction_words,
    with_history,
)
from analysis.page_tables import Column, PageTable, Row
from analysis.part_charts import Dot, Mean, Strip, strips
from analysis.part_charts import points as draw
from analysis.swap_tables import (
    NOT_AFFECTED,
    average,
    decided_delta,
    histories,
    kinds,
    left_out,
)
from analysis.swap_words import (
    ACCURACIES,
    Entry,
    finding_of,
    links,
    name_of,
    none_planned,
    written_only,
)
from analysis.words import points
from stores.counting import count_of


def build(asked: Asked) -> PartPage:
    """Return the page; the address may narrow it to one direction or format."""
    every = asked.report["directions"]
    direction = asked.chosen("direction", [direction_key(d) for d in every])
    form = asked.chosen("format", [e["format"] for d in every for e in d["formats"]])
    pairs = [
        (d, e)
        for d in every
        if direction in ("", direction_key(d))
        for e in d["formats"]
        if form in ("", e["format"])
    ]
    sections = [one_store_view.section(asked), _deltas(asked, pairs), _accuracy(asked, pairs)]
    sections.append(kinds(asked, pairs))
    per_history = histories(asked, pairs)
    if asked.query.get("average") == "1":
        sections.insert(1, average(every, form))
    return PartPage(
        title="Swap deltas",
        lede="The inherited store against the store that the new model would have written itself, "
        "in percentage points: negative is a loss. Directions are never averaged unless you ask.",
        sections=tuple(section for section in (*sections, per_history) if section),
        filters=_filters(every, direction, form, asked),
        missing="" if every else "No direction is complete yet.",
    )


def _filters(every: Any, direction: str, form: str, asked: Asked) -> tuple[Filter, ...]:
    formats = dict.fromkeys(e["format"] for d in every for e in d["formats"])
    return (
        Filter("direction", "Direction",
               tuple((direction_key(d), direction_words(d)) for d in every), direction),
        Filter("format", "Format", tuple((f, FORMAT_NAMES.get(f, f)) for f in formats), form),
        Filter("average", "Average of the directions", (("1", "show it, labelled"),),
               asked.query.get("average", ""), any_label="no"),
    )  # fmt: skip


def _deltas(asked: Asked, pairs: Any) -> Section | None:
    written = written_only(pairs)
    if not written:
        return None
    margin = asked.report["settings"]["margin_pp"]
    findings = tuple(f"{finding_of(d, e)} ({_words(e)})" for d, e in written)
    rows = [_strip(asked, d, e) for d, e in written]
    figure = strips(rows, axis="swap delta, pp (left of 0: a loss)", findings=findings, band=margin)
    table = PageTable(
        "deltas",
        "Swap delta and retained performance",
        (
            Column("direction", "Direction"), Column("format", "Format"), pt.PLANNED,
            Column("delta", "Swap delta, pp", True),
            Column("retained", "Retained performance, ratio", True),
            Column("service", "Service change, pp", True), Column("verdict", "Verdict"),
            Column("n", "Histories", True), Column("excluded", "Left out"),
        ),
        tuple(_delta_row(asked, d, e) for d, e in pairs),
    )  # fmt: skip
    return Section(
        "Each history, and the mean", findings,
        Chart(figure, "swap-delta-histories",
              "Swap delta of every history as a dot, the mean with its 95 % interval, and the "
              "margin as a band; the table below holds the same numbers."),
        (table,),
        (f"Small dots: histories. Large marker: mean over histories with its 95 % interval. "
         f"Band: ±{margin:g} pp. Retained performance is the ratio above chance, undefined where "
         "the own store scores below 0.20 above chance.",),
        unplanned=none_planned(written),
    )  # fmt: skip


def _words(entry: Entry) -> str:
    delta, interval = entry["swap_delta_pp"], entry["verdict"]["interval"]
    if delta["value"] is None:
        return f"undefined: {delta['reason']}"
    span = (
        f", 95 % interval {points(interval['low'])} to {points(interval['high'])}"
        if interval["low"] is not None
        else ""
    )
    return f"{points(delta['value'])} pp{span}, {count_of(delta['n_histories'], 'history')}"


def _strip(asked: Asked, direction: Entry, entry: Entry) -> Strip:
    _, url = links(asked, direction, entry)
    delta, interval = entry["swap_delta_pp"], entry["verdict"]["interval"]
    mean = None
    if delta["value"] is not None:
        mean = Mean(delta["value"], interval["low"], interval["high"], _words(entry), url)
    dots = tuple(
        Dot(one["value"], f"{one['history']}: {points(one['value'])} pp",
            with_history(url, one["history"]))
        for one in delta.get("per_history", ())
        if one["value"] is not None
    )  # fmt: skip
    label = f"{name_of(entry)}<br>{direction_words(direction)}"
    return Strip(label, direction_words(direction), dots, mean)


def _delta_row(asked: Asked, direction: Entry, entry: Entry) -> Row:
    _, url = links(asked, direction, entry)
    row = {
        "direction": pt.text(direction_words(direction)),
        "format": pt.text(name_of(entry)),
        "planned": pt.planned(entry),
        "service": pt.estimate(entry["service_change_pp"], pt.pp),
        "verdict": pt.text(entry["verdict"]["heading"]),
    }
    if not entry["written"]:
        return row | {
            "delta": pt.Value(None, "not affected", NOT_AFFECTED),
            "n": pt.count(entry["service_change_pp"]["n_histories"]),
        }
    return row | {
        "delta": decided_delta(entry, url),
        "retained": pt.estimate(entry["retained_performance"], pt.ratio),
        "n": pt.count(entry["swap_delta_pp"]["n_histories"]),
        "excluded": pt.text(left_out(entry)),
    }


def _accuracy(asked: Asked, pairs: Any) -> Section | None:
    if not pairs:
        return None

    def row(direction: Entry, entry: Entry) -> Row:
        own, inherited = links(asked, direction, entry)
        values = {
            "direction": pt.text(direction_words(direction)),
            "format": pt.text(name_of(entry)),
            "planned": pt.planned(entry),
            "own": pt.estimate(entry["own"], pt.percent, url=own),
            "inherited": pt.Value(None, "the same", NOT_AFFECTED),
        }
        if entry["written"]:
            values["inherited"] = pt.estimate(entry["inherited"], pt.percent, url=inherited)
        return values

    columns = (Column("direction", "Direction"), Column("format", "Format"), pt.PLANNED,
               *ACCURACIES)  # fmt: skip
    table = PageTable("accuracy", "Accuracy on the own and on the inherited store", columns,
                      tuple(row(d, e) for d, e in pairs))  # fmt: skip
    series = []
    for direction, entry in written_only(pairs):
        own = {o["history"]: o["value"] for o in entry["own"].get("per_history", ())}
        _, url = links(asked, direction, entry)
        marks = [
            (round(own[i["history"]], 4), round(i["value"], 4), i["history"],
             with_history(url, i["history"]))
            for i in entry["inherited"].get("per_history", ())
            if i["value"] is not None and own.get(i["history"]) is not None
        ]  # fmt: skip
        series.append((f"{name_of(entry)}, {direction_words(direction)}", marks))
    chart = _scatter(series)
    return Section("Own against inherited", _below(series), chart, (table,),
                   ("One marker per history and format; below the diagonal the inherited store "
                    "does worse than the own one.",),
                   unplanned=none_planned(pairs))  # fmt: skip


def _scatter(series: Any) -> Chart | None:
    if not any(marks for _, marks in series):
        return None
    figure = draw(series, x="accuracy on the own store", y="accuracy on the inherited store",
                  findings=_below(series),
                  lines=[("equal", [(0.0, 0.0), (1.0, 1.0)])], height=460)  # fmt: skip
    return Chart(figure, "own-against-inherited",
                 "Accuracy of every history on the own store against the inherited one; the table "
                 "below holds the means.")  # fmt: skip


def _below(series: Any) -> tuple[str, ...]:
    return tuple(
        f"{name}: worse on the inherited store in {sum(y < x for x, y, *_ in marks)} of "
        f"{count_of(len(marks), 'history')}"
        for name, marks in series
    )
