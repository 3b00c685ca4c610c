"""The page of swap deltas: directions apart, histories as dots, own against inherited."""

from collections.abc import Mapping
from typing import Any

from analysis import page_tables as pt
from analysis.page_parts import (
    Asked,
    Chart,
    Filter,
    PartPage,
    Section,
    direction_key,
    direction_words,
    is_unplanned,
)
from analysis.page_tables import Column, PageTable, Row
from analysis.part_charts import Dot, Mean, Strip, strips
from analysis.part_charts import points as draw
from analysis.templatetags.memport import FORMAT_NAMES, KIND_NAMES
from analysis.words import points

Entry = Mapping[str, Any]
ACCURACIES = (Column("own", "Own store", True), Column("inherited", "Inherited store", True))
NOT_AFFECTED = "nobody writes it: not affected by a writer swap, 0 by construction"


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
    sections = [_deltas(asked, pairs), _accuracy(asked, pairs), _kinds(asked, pairs)]
    histories = _histories(asked, pairs)
    if asked.query.get("average") == "1":
        sections.insert(1, _average(every, form))
    return PartPage(
        title="Swap deltas",
        lede="The inherited store against the store that the new model would have written itself, "
        "in percentage points: negative is a loss. Directions are never averaged unless you ask.",
        sections=tuple(section for section in (*sections, histories) if section),
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


def _written(pairs: Any) -> list[tuple[Entry, Entry]]:
    return [(d, e) for d, e in pairs if e["written"]]


def name_of(entry: Entry) -> str:
    """A format for people, with its embedder where it has one."""
    name = FORMAT_NAMES.get(entry["format"], str(entry["format"]))
    return f"{name} · {entry['embedder']}" if entry.get("embedder") else name


def in_words(entry: Entry) -> str:
    """A format inside a sentence: its first letter small."""
    name = name_of(entry)
    return name[:1].lower() + name[1:]


def _links(asked: Asked, direction: Entry, entry: Entry) -> tuple[str, str]:
    """Where the own and the inherited accuracy lead."""
    fields = {"format": entry["format"], "reader": direction["new"], "index": "none"}
    fields |= {"embedder": entry["embedder"]} if entry.get("embedder") else {}
    own = fields | ({"writer": direction["new"]} if entry["written"] else {})
    return asked.answers(**own), asked.answers(**fields, writer=direction["old"])


def _finding(direction: Entry, entry: Entry) -> str:
    says = entry["verdict"]["heading"].lower()
    return f"{direction_words(direction)}, {in_words(entry)}: {says}"


def _deltas(asked: Asked, pairs: Any) -> Section | None:
    written = _written(pairs)
    if not written:
        return None
    margin = asked.report["settings"]["margin_pp"]
    findings = tuple(f"{_finding(d, e)} ({_words(e)})" for d, e in written)
    rows = [_strip(asked, d, e) for d, e in written]
    figure = strips(rows, axis="swap delta, pp (left of 0: a loss)", findings=findings, band=margin)
    table = PageTable(
        "deltas",
        "Swap delta and retained performance",
        (
            Column("direction", "Direction"), Column("format", "Format"),
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
        unplanned=all(not entry.get("planned", True) for _, entry in written),
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
    return f"{points(delta['value'])} pp{span}, {delta['n_histories']} histories"


def _strip(asked: Asked, direction: Entry, entry: Entry) -> Strip:
    _, url = _links(asked, direction, entry)
    delta, interval = entry["swap_delta_pp"], entry["verdict"]["interval"]
    mean = None
    if delta["value"] is not None:
        mean = Mean(delta["value"], interval["low"], interval["high"], _words(entry), url)
    dots = tuple(
        Dot(one["value"], f"{one['history']}: {points(one['value'])} pp",
            f"{url}&history={one['history']}")
        for one in delta.get("per_history", ())
        if one["value"] is not None
    )  # fmt: skip
    label = f"{name_of(entry)}<br>{direction_words(direction)}"
    return Strip(label, direction_words(direction), dots, mean)


def _delta_row(asked: Asked, direction: Entry, entry: Entry) -> Row:
    _, url = _links(asked, direction, entry)
    row = {
        "direction": pt.text(direction_words(direction)),
        "format": pt.text(name_of(entry)),
        "service": pt.estimate(entry["service_change_pp"], pt.pp),
        "verdict": pt.text(entry["verdict"]["heading"]),
    }
    if not entry["written"]:
        return row | {
            "delta": pt.Value(None, "not affected", NOT_AFFECTED),
            "n": pt.count(entry["service_change_pp"]["n_histories"]),
        }
    delta = entry["swap_delta_pp"]
    gone = entry["retained_performance"]["excluded"]
    return row | {
        "delta": pt.estimate(delta | dict(entry["verdict"]["interval"], value=delta["value"],
                             status=delta["status"], reason=delta["reason"]), pt.pp, url=url),
        "retained": pt.estimate(entry["retained_performance"], pt.ratio),
        "n": pt.count(delta["n_histories"]),
        "excluded": pt.text("; ".join(
            f"{one['history']} ({one['reason']})" for one in (*delta["excluded"], *gone)
        )),
    }  # fmt: skip


def _accuracy(asked: Asked, pairs: Any) -> Section | None:
    if not pairs:
        return None

    def row(direction: Entry, entry: Entry) -> Row:
        own, inherited = _links(asked, direction, entry)
        values = {
            "direction": pt.text(direction_words(direction)),
            "format": pt.text(name_of(entry)),
            "own": pt.estimate(entry["own"], pt.percent, url=own),
            "inherited": pt.Value(None, "the same", NOT_AFFECTED),
        }
        if entry["written"]:
            values["inherited"] = pt.estimate(entry["inherited"], pt.percent, url=inherited)
        return values

    columns = (Column("direction", "Direction"), Column("format", "Format"), *ACCURACIES)
    table = PageTable("accuracy", "Accuracy on the own and on the inherited store", columns,
                      tuple(row(d, e) for d, e in pairs))  # fmt: skip
    series = []
    for direction, entry in _written(pairs):
        own = {o["history"]: o["value"] for o in entry["own"].get("per_history", ())}
        _, url = _links(asked, direction, entry)
        marks = [
            (round(own[i["history"]], 4), round(i["value"], 4), i["history"],
             f"{url}&history={i['history']}")
            for i in entry["inherited"].get("per_history", ())
            if i["value"] is not None and own.get(i["history"]) is not None
        ]  # fmt: skip
        series.append((f"{name_of(entry)}, {direction_words(direction)}", marks))
    chart = _scatter(series)
    return Section("Own against inherited", _below(series), chart, (table,),
                   ("One marker per history and format; below the diagonal the inherited store "
                    "does worse than the own one.",))  # fmt: skip


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
        f"{len(marks)} histories"
        for name, marks in series
    )


def _kinds(asked: Asked, pairs: Any) -> Section | None:
    rows: list[Row] = []
    for direction, entry in _written(pairs):
        _, url = _links(asked, direction, entry)
        groups = (
            ("kind", "kind", entry["by_kind"]),
            ("class", "memory_class", entry["by_memory_class"]),
        )
        for what, field, parts in groups:
            rows += [
                {
                    "direction": pt.text(direction_words(direction)),
                    "format": pt.text(name_of(entry)),
                    "of": pt.text(f"{what} {KIND_NAMES.get(part['name'], part['name'])}"),
                    "probes": pt.count(part["probes"]),
                    "own": pt.estimate(part["own"], pt.percent),
                    "inherited": pt.estimate(part["inherited"], pt.percent,
                                             url=f"{url}&{field}={part['name']}"),
                    "delta": pt.estimate(part["swap_delta_pp"], pt.pp),
                }
                for part in parts
                if part["name"]
            ]  # fmt: skip
    if not rows:
        return None
    columns = (
        Column("direction", "Direction"), Column("format", "Format"), Column("of", "Probes of"),
        Column("probes", "Probes", True), *ACCURACIES, Column("delta", "Swap delta, pp", True),
    )  # fmt: skip
    worst = min((r for r in rows if r["delta"].raw is not None),
                key=lambda r: float(r["delta"].raw or 0), default=None)  # fmt: skip
    finding: tuple[str, ...] = ()
    if worst is not None:
        where = f"{worst['direction'].text}, {worst['format'].text}, {worst['of'].text}"
        finding = (f"Lowest: {worst['delta'].text} at {where}. A lead to look at, not a finding",)
    return Section("By probe kind and memory class", finding, None,
                   (PageTable("kinds", "Swap delta by probe kind and memory class", columns,
                              tuple(rows)),),
                   unplanned=is_unplanned(asked.report, "by_kind"))  # fmt: skip


def _average(every: Any, form: str) -> Section | None:
    """The mean over the directions of each format: asked for, and labelled."""
    by_format: dict[str, list[Entry]] = {}
    for direction in every:
        for entry in direction["formats"]:
            if entry["written"] and form in ("", entry["format"]):
                by_format.setdefault(name_of(entry), []).append(entry)
    rows = []
    for name, entries in by_format.items():
        values = [entry["swap_delta_pp"]["value"] for entry in entries]
        if len(values) < len(every) or any(value is None for value in values):
            continue
        rows.append({
            "format": pt.text(name),
            "average": pt.number(sum(values) / len(values), pt.pp),
            "of": pt.text(", ".join(pt.pp(value) for value in values)),
        })  # fmt: skip
    columns = (Column("format", "Format"), Column("average", "Average of the directions, pp", True),
               Column("of", "Each direction"))  # fmt: skip
    return Section(
        "Average over the directions: an extra", (), None,
        (PageTable("average", "Average over the directions", columns, tuple(rows)),),
        warnings=("Two directions that cancel average to nearly nothing. This number decides "
                  "nothing; no interval is given with it.",), unplanned=True,
    )  # fmt: skip


def _histories(asked: Asked, pairs: Any) -> Section | None:
    """History by history, where one format and direction is chosen: the page stays small."""
    written = _written(pairs)
    if len(written) != 1:
        return None
    direction, entry = written[0]
    _, url = _links(asked, direction, entry)
    columns = (Column("history", "History"), *ACCURACIES, Column("delta", "Swap delta, pp", True),
               Column("retained", "Retained performance, ratio", True))  # fmt: skip
    by_column = {
        "own": (entry["own"], pt.percent), "inherited": (entry["inherited"], pt.percent),
        "delta": (entry["swap_delta_pp"], pt.pp),
        "retained": (entry["retained_performance"], pt.ratio),
    }  # fmt: skip
    values: dict[str, dict[str, Any]] = {}
    for name, (estimate, write) in by_column.items():
        for one in estimate.get("per_history", ()):
            row = values.setdefault(one["history"], {})
            row[name] = pt.number(one, write)
    rows = tuple(
        {"history": pt.text(history, url=f"{url}&history={history}"), **row}
        for history, row in values.items()
    )
    table = PageTable("histories", "Swap delta of every history", columns, rows)
    return Section(f"History by history: {_finding(direction, entry)}", tables=(table,))
