"""A study of one history: its probes compared pair by pair, and nothing said of other histories."""

from typing import Any

from analysis import page_tables as pt
from analysis.page_parts import Asked, Section, direction_words
from analysis.page_tables import Column, PageTable, Row
from analysis.swap_words import Entry, in_words, links
from analysis.words import points

COLUMNS = (
    Column("direction", "Direction"), Column("format", "Format"),
    Column("probes", "Probes", True),
    Column("gained", "Right with the inherited store alone", True),
    Column("lost", "Right with the own store alone", True),
    Column("difference", "Inherited − own, pp", True), Column("p", "Exact McNemar p", True),
)  # fmt: skip


def section(asked: Asked) -> Section | None:
    """Return the paired comparisons of the only history; None where there are more."""
    only = asked.report.get("this_store_only")
    if not only or not only["comparisons"]:
        return None
    rows = [(one, _entry(asked, one)) for one in only["comparisons"]]
    table = PageTable("this_store", "Probe by probe, own against inherited store", COLUMNS,
                      tuple(_row(asked, one, entry) for one, entry in rows))  # fmt: skip
    return Section(
        "This store only",
        tuple(_finding(one, entry) for one, entry in rows),
        None,
        (table,),
        ("One history says nothing about other histories; this is never pooled with results "
         "across histories. The interval is Newcombe’s paired score interval.",),
        unplanned=True,
    )  # fmt: skip


def _entry(asked: Asked, one: Entry) -> Entry:
    direction = next(d for d in asked.report["directions"]
                     if (d["old"], d["new"]) == (one["old"], one["new"]))  # fmt: skip
    return next(entry for entry in direction["formats"] if entry["format"] == one["format"])


def _finding(one: Entry, entry: Entry) -> str:
    where = f"{direction_words(one)}, {in_words(entry)}"
    if one["status"] != "ok":
        return f"{where}: undefined, {one['reason']}"
    interval = one["interval_pp"]
    span = f"{points(interval['low'])} to {points(interval['high'])}"
    return (
        f"{where}: {points(one['difference_pp']['value'])} pp, 95 % interval {span}, over "
        f"{one['probes']} probes of one history; exact McNemar p {one['mcnemar_p']['value']:.2g}"
    )


def _row(asked: Asked, one: Entry, entry: Entry) -> Row:
    row: dict[str, Any] = {
        "direction": pt.text(direction_words(one)),
        "format": pt.text(in_words(entry)),
    }
    if one["status"] != "ok":
        return row | {"difference": pt.Value(None, "undefined", one["reason"])}
    _, url = links(asked, one, entry)
    difference = {**one["interval_pp"], **one["difference_pp"], "n_histories": 1}
    return row | {
        "probes": pt.count(one["probes"]),
        "gained": pt.count(one["gained"]),
        "lost": pt.count(one["lost"]),
        "difference": pt.estimate(difference, pt.pp, url=url),
        "p": pt.number(one["mcnemar_p"], pt.p_value),
    }
