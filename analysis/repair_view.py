"""The page of repairs: method × rung × target, and what a recovered share costs."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES, METHOD_NAMES
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
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.part_charts import points

Entry = Mapping[str, Any]
UNITS = {
    "usd": ("US dollars", pt.dollars),
    "tokens": ("tokens", lambda value: f"{value:,.0f}"),
    "gpu_hours": ("GPU-hours", lambda value: f"{value:.3g} h"),
}


def build(asked: Asked) -> PartPage:
    """Return the page; the address may choose a direction, a unit, and histories of one method."""
    repair = asked.report.get("repair")
    title, lede = "Repair success", (
        "Which repair brings the inherited store back to a share of what a fresh store scores, in "
        "how many histories, and at what cost."
    )  # fmt: skip
    if not repair:
        return PartPage(title, lede, missing="Nothing was repaired in this study.")
    units = [name for name in UNITS if name in repair]
    unit = asked.chosen("unit", units) or telling_unit(repair)
    directions = list(dict.fromkeys(direction_key(row) for row in repair[unit]))
    direction = asked.chosen("direction", directions)
    methods = list(dict.fromkeys(row["method"] for row in repair[unit]))
    method = asked.chosen("method", methods)
    rows = [
        row
        for row in repair[unit]
        if direction in ("", direction_key(row)) and method in ("", row["method"])
    ]
    # Where the inherited store's answers come from decides where its numbers lead.
    sources = {
        _whose(row): row.get("source", "") for row in repair[unit] if row["method"] == "none"
    }
    rungs = [
        {**row, "source": sources.get(_whose(row), "")}
        for row in repair.get("by_rung", {}).get(unit, ())
        if direction in ("", direction_key(row)) and method in ("", row["method"])
    ]
    sections = [
        _targets(asked, rows, unit, repair["note"]),
        _rungs(asked, rungs, unit),
        _per_history(asked, rows, unit) if direction and method else None,
    ]
    return PartPage(
        title, lede, tuple(section for section in sections if section),
        filters=(
            Filter("direction", "Direction",
                   tuple((name, name.replace("..", " → ")) for name in directions), direction),
            Filter("method", "Method",
                   tuple((name, METHOD_NAMES.get(name, name)) for name in methods), method),
            *((Filter("unit", "Cost in", tuple((u, UNITS[u][0]) for u in units), unit,
                      any_label=""),) if len(units) > 1 else ()),
        ),
    )  # fmt: skip


def telling_unit(repair: Mapping[str, Any]) -> str:
    """The first unit in which a repair cost something: models without a price cost tokens alone."""
    units = [name for name in UNITS if name in repair]
    for name in units:
        if any(row["median_cost"]["value"] for row in repair[name]):
            return name
    return units[0]


def _whose(row: Entry) -> tuple[str, str, str]:
    return row["format"], row["old"], row["new"]


def _format(row: Entry) -> str:
    return FORMAT_NAMES.get(row["format"], str(row["format"]))


def _method(row: Entry) -> str:
    return METHOD_NAMES.get(row["method"], str(row["method"]))


def _at_rung(row: Entry) -> str:
    return f"{_method(row)}, rung {row['rung']}" if row["rung"] else _method(row)


def _url(asked: Asked, row: Entry, **more: Any) -> str:
    """The answers of a repaired store; of the inherited one where there was no repair."""
    cell = {"format": row["format"], "writer": row["old"], "reader": row["new"]}
    if row["method"] == "none":
        if "old index" in row.get("source", ""):
            return asked.answers(format=row["format"], reader=row["new"], index="old", **more)
        return asked.answers(**cell, index="none", **more)
    if row["method"] == "any":
        return asked.answers(**cell, repair="any", **more)
    return asked.answers(**cell, repair=row["method"], **more)


def _median(row: Entry, unit: str) -> Value:
    """The conditional median, never without its n/N."""
    shown = pt.number(row["median_cost"], UNITS[unit][1])
    n = f"median of {row['n_success']} of {row['n_histories']}"
    note = n if shown.raw is not None else f"{shown.note} (0 of {row['n_histories']})"
    counts = {name: row[name] for name in ("n_success", "n_histories")}
    return Value(shown.raw, shown.text, note, "", {**shown.more, **counts})


def _success(row: Entry, url: str = "") -> Value:
    return Value(row["n_success"], f"{row['n_success']} of {row['n_histories']}", "", url,
                 {"n_histories": row["n_histories"]})  # fmt: skip


def _targets(asked: Asked, rows: Sequence[Entry], unit: str, note: str) -> Section:
    targets = sorted({row["target"] for row in rows})
    grouped: dict[tuple[str, ...], dict[float, Entry]] = {}
    for row in rows:
        key = (direction_words(row), _format(row), row["method"])
        grouped.setdefault(key, {})[row["target"]] = row
    lines: list[Row] = []
    for (direction, form, method), by_target in grouped.items():
        line = {
            "direction": pt.text(direction), "format": pt.text(form),
            "method": pt.text(METHOD_NAMES.get(method, method),
                              note=next(iter(by_target.values())).get("source", "")),
        }  # fmt: skip
        for target, row in by_target.items():
            line[f"success_{target:.0%}"] = _success(row, _url(asked, row))
            line[f"median_{target:.0%}"] = _median(row, unit)
        lines.append(line)
    columns = [Column("direction", "Direction"), Column("format", "Format"),
               Column("method", "Method")]  # fmt: skip
    for target in targets:
        columns += [
            Column(f"success_{target:.0%}", f"Reach {target:.0%}, histories", True),
            Column(f"median_{target:.0%}", f"Median cost at {target:.0%}, {UNITS[unit][0]}", True),
        ]
    table = PageTable("success", "Success and cost to recover", tuple(columns), tuple(lines))
    return Section(
        "How often, and at what cost", _success_findings(rows), None, (table,),
        ("Target: a share of what the fresh store of the same run scores, decided on whole "
         "counts. The median is over the successes alone: read it beside its n of N. ∞: no "
         "repair reached the target. “none” keeps the inherited store, at no cost; “any” is the "
         "cheapest repair, without none.", note[:1].upper() + note[1:] + "."),
        unplanned=is_unplanned(asked.report, "repair"),
    )  # fmt: skip


def _success_findings(rows: Sequence[Entry]) -> tuple[str, ...]:
    """At the highest target: what is needed in each direction and format."""
    if not rows:
        return ()
    target = max(row["target"] for row in rows)
    found: dict[tuple[str, str], dict[str, Entry]] = {}
    for row in rows:
        if row["target"] == target and row["method"] in ("any", "none"):
            found.setdefault((direction_words(row), _format(row)), {})[row["method"]] = row
    lines = []
    for (direction, form), by in found.items():
        parts = [
            f"{by[name]['n_success']} of {by[name]['n_histories']} {words}"
            for name, words in (("none", "need no repair"), ("any", "are brought back by one"))
            if name in by
        ]
        what = f"{direction}, {form[:1].lower()}{form[1:]}, at {target:.0%} of fresh"
        lines.append(f"{what}: {'; '.join(parts)}")
    return tuple(lines)


def _rungs(asked: Asked, rungs: Sequence[Entry], unit: str) -> Section | None:
    if not rungs:
        return None
    lines: list[Row] = []
    series: dict[str, list[tuple[float, float, str, str]]] = {}
    for row in rungs:
        url = _url(asked, row) + (f"&rung={row['rung']}" if row["rung"] else "")
        line = {
            "direction": pt.text(direction_words(row)), "format": pt.text(_format(row)),
            "method": pt.text(_method(row)),
            "rung": pt.text(f"{row['rung']}" if row["rung"] else "–", raw=row["rung"]),
            "accuracy": pt.estimate(row["accuracy"], pt.percent, url=url),
            "recovered": pt.estimate(row["recovered"], pt.percent),
            "cost": pt.number(row["mean_cost"], UNITS[unit][1]),
        }  # fmt: skip
        for at in row["at_targets"]:
            line[f"at_{at['target']:.0%}"] = _success(at)
        lines.append(line)
        cost, share = row["mean_cost"]["value"], row["recovered"]["value"]
        if cost is not None and share is not None:
            hover = (f"<b>{_at_rung(row)}</b>"
                     f"<br>{direction_words(row)}<br>{UNITS[unit][1](cost)}, {pt.percent(share)}"
                     " of the fresh store")  # fmt: skip
            name = f"{_format(row)}, {direction_words(row)}"
            series.setdefault(name, []).append((cost, round(share, 4), hover, url))
    targets = sorted({at["target"] for row in rungs for at in row["at_targets"]})
    columns = (
        Column("direction", "Direction"), Column("format", "Format"), Column("method", "Method"),
        Column("rung", "Rung", True), Column("accuracy", "Accuracy after", True),
        Column("recovered", "Share of the fresh store’s accuracy", True),
        *(Column(f"at_{t:.0%}", f"Reach {t:.0%}, histories", True) for t in targets),
        Column("cost", f"Mean cost, {UNITS[unit][0]}", True),
    )  # fmt: skip
    findings = _rung_findings(rungs, unit)
    figure = points(list(series.items()), x=f"mean cost of a history’s repair, {UNITS[unit][0]}",
                    y="accuracy as a share of the fresh store’s", findings=findings, size=9,
                    lines=[("as good as fresh", _level(series))])  # fmt: skip
    return Section(
        "Method by rung, and what a recovered share costs", findings,
        Chart(figure, "repair-cost", "Mean cost of each method and rung against the share of the "
              "fresh store’s accuracy that it brings back; the table below holds the numbers."),
        (PageTable("rungs", "Every method at every rung", columns, tuple(lines)),),
        ("Share: accuracy after the repair over that of the fresh store, history by history. The "
         "mean cost counts failed repairs as well.",),
        unplanned=is_unplanned(asked.report, "repair"),
    )  # fmt: skip


def _level(series: Mapping[str, Sequence[Any]]) -> list[tuple[float, float]]:
    costs = [mark[0] for marks in series.values() for mark in marks] or [0.0]
    return [(0.0, 1.0), (max(costs), 1.0)]


def _rung_findings(rungs: Sequence[Entry], unit: str) -> tuple[str, ...]:
    """In each direction and format, the repair that brings back most."""
    best: dict[tuple[str, str], Entry] = {}
    for row in rungs:
        if row["recovered"]["value"] is None:
            continue
        key = (direction_words(row), _format(row))
        if key not in best or row["recovered"]["value"] > best[key]["recovered"]["value"]:
            best[key] = row
    return tuple(
        f"{direction}, {form[:1].lower()}{form[1:]}: most comes back with {_at_rung(row)}: "
        f"{pt.percent(row['recovered']['value'])} of fresh"
        + (f" at {UNITS[unit][1](row['mean_cost']['value'])}"
           if row["mean_cost"]["value"] is not None else "")
        for (direction, form), row in best.items()
    )  # fmt: skip


def _per_history(asked: Asked, rows: Sequence[Entry], unit: str) -> Section | None:
    """The cost to recover of every history: on demand, for one method and direction."""
    lines: dict[str, dict[str, Value]] = {}
    for row in rows:
        for one in row["per_history"]:
            url = _url(asked, row, history=one["history"])
            line = lines.setdefault(one["history"], {
                "history": pt.text(one["history"], url=url)})  # fmt: skip
            shown = pt.number(one, UNITS[unit][1])
            line[f"{row['format']}_{row['target']:.0%}"] = shown
    if not lines:
        return None
    columns = (Column("history", "History"), *(
        Column(f"{row['format']}_{row['target']:.0%}",
               f"{_format(row)}: cost to reach {row['target']:.0%}", True) for row in rows
    ))  # fmt: skip
    words = METHOD_NAMES.get(rows[0]["method"], rows[0]["method"])
    return Section(
        f"History by history: {words}, {direction_words(rows[0])}", (), None,
        (PageTable("ctr", "Cost to recover of every history", tuple(dict.fromkeys(columns)),
                   tuple(lines.values())),),
    )  # fmt: skip
