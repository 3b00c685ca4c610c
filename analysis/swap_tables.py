"""The tables of the swap page: by probe kind, the average on request, history by history."""

from collections.abc import Iterator
from typing import Any

from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.labels import KIND_NAMES
from analysis.page_parts import Asked, Section, direction_words, is_unplanned, with_history
from analysis.page_tables import Column, PageTable, Row
from analysis.swap_words import ACCURACIES, Entry, finding_of, links, name_of, written_only

NOT_AFFECTED = "nobody writes it: not affected by a writer swap, 0 by construction"


DIRECTION = (Column("direction", "Direction"), Column("format", "Format"), pt.PLANNED)


def _first(direction: Entry, entry: Entry) -> dict[str, pt.Value]:
    return {
        "direction": pt.text(direction_words(direction)),
        "format": pt.text(name_of(entry)),
        "planned": pt.planned(entry),
    }


def swap(asked: Asked, pairs: Any) -> PageTable:
    """Return own, inherited, swap delta and retained performance of each direction and format."""
    columns = (
        *DIRECTION, *ACCURACIES, Column("delta", "Swap delta, pp", True),
        Column("retained", "Retained performance, ratio", True),
        Column("n", "Histories", True), Column("excluded", "Left out"),
    )  # fmt: skip
    rows = tuple(_swap_row(asked, d, e) for d, e in pairs)
    return PageTable("swap", "Swap delta and retained performance", columns, rows)


def _swap_row(asked: Asked, direction: Entry, entry: Entry) -> Row:
    own, inherited = links(asked, direction, entry)
    row = {
        **_first(direction, entry),
        "own": pt.estimate(entry["own"], pt.percent, url=own),
        "n": pt.count(entry["own"]["n_histories"]),
        "excluded": pt.text(left_out(entry)),
    }
    if not entry["written"]:
        return row | {"delta": pt.Value(None, "not affected", NOT_AFFECTED)}
    return row | {
        "inherited": pt.estimate(entry["inherited"], pt.percent, url=inherited),
        "delta": decided_delta(entry, inherited),
        "retained": pt.estimate(entry["retained_performance"], pt.ratio),
        "n": pt.count(entry["swap_delta_pp"]["n_histories"]),
    }


def decided_delta(entry: Entry, url: str) -> pt.Value:
    """The swap delta with the interval that its verdict rests on."""
    delta = entry["swap_delta_pp"]
    told = {name: delta[name] for name in ("value", "status", "reason")}
    return pt.estimate({**delta, **entry["verdict"]["interval"], **told}, pt.pp, url=url)


def left_out(entry: Entry) -> str:
    """The histories without a swap delta, a ratio or a service change, each reason once."""
    reasons: dict[str, list[str]] = {}
    for name in ("swap_delta_pp", "retained_performance", "service_change_pp"):
        for one in entry[name]["excluded"]:
            known = reasons.setdefault(one["history"], [])
            if one["reason"] not in known:
                known.append(one["reason"])
    return "; ".join(f"{history} ({', '.join(why)})" for history, why in sorted(reasons.items()))


def service(asked: Asked, pairs: Any) -> PageTable:
    """Return what users see on the day of the switch, of each direction and format."""
    columns = (
        *DIRECTION, Column("before", "Before: old model, old memory", True),
        Column("after", "After: new model, old memory", True),
        Column("change", "Service change, pp", True), Column("n", "Histories", True),
    )  # fmt: skip
    rows = []
    for direction, entry in pairs:
        own, inherited = links(asked, direction, entry)
        old = {"old": direction["old"], "new": direction["old"]}
        before = links(asked, old, entry)[0]
        after = ("inherited", inherited) if entry["written"] else ("own", own)
        rows.append({
            **_first(direction, entry),
            "before": pt.estimate(entry["before"], pt.percent, url=before),
            "after": pt.estimate(entry[after[0]], pt.percent, url=after[1]),
            "change": pt.estimate(entry["service_change_pp"], pt.pp),
            "n": pt.count(entry["service_change_pp"]["n_histories"]),
        })  # fmt: skip
    return PageTable("service", "Service change", columns, tuple(rows))


def kinds(asked: Asked, pairs: Any) -> Section | None:
    """Return accuracies and differences by probe kind and memory class: leads, not findings."""
    rows = [row for direction, entry in pairs for row in _kind_rows(asked, direction, entry)]
    if not rows:
        return None
    columns = (
        *DIRECTION[:2], Column("of", "Probes of"), Column("probes", "Probes", True),
        Column("before", "Before the swap", True), *ACCURACIES,
        Column("delta", "Swap delta, pp", True),
    )  # fmt: skip
    worst = min((r for r in rows if r["delta"].raw is not None),
                key=lambda r: float(r["delta"].raw or 0), default=None)  # fmt: skip
    finding: tuple[str, ...] = ()
    if worst is not None:
        where = f"{worst['direction'].text}, {worst['format'].text}, {worst['of'].text}"
        finding = (f"Lowest: {worst['delta'].text} at {where}. A lead to look at, not a finding",)
    return Section("By probe kind and memory class", finding, None,
                   (PageTable("kinds", "Accuracy and swap delta by probe kind and memory class",
                              columns, tuple(rows)),),
                   unplanned=is_unplanned(asked.report, "by_kind"))  # fmt: skip


def _kind_rows(asked: Asked, direction: Entry, entry: Entry) -> Iterator[Row]:
    own, inherited = links(asked, direction, entry)
    for what, field, parts in (
        ("kind", "kind", entry["by_kind"]),
        ("class", "memory_class", entry["by_memory_class"]),
    ):
        for part in parts:
            if not part["name"]:
                continue
            only = "&" + urlencode({field: part["name"]})
            row = {
                **_first(direction, entry),
                "of": pt.text(f"{what} {KIND_NAMES.get(part['name'], part['name'])}"),
                "probes": pt.count(part["probes"]),
                "before": pt.estimate(part["before"], pt.percent),
                "own": pt.estimate(part["own"], pt.percent, url=own + only),
                "delta": pt.Value(None, "not affected", ""),
            }
            if entry["written"]:
                row["inherited"] = pt.estimate(part["inherited"], pt.percent, url=inherited + only)
                row["delta"] = pt.estimate(part["swap_delta_pp"], pt.pp)
            yield row


def average(every: Any, form: str) -> Section | None:
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


def histories(asked: Asked, pairs: Any) -> Section | None:
    """History by history, where one format and direction is chosen: the page stays small."""
    written = written_only(pairs)
    if len(written) != 1:
        return None
    direction, entry = written[0]
    _, url = links(asked, direction, entry)
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
        {"history": pt.text(history, url=with_history(url, history)), **row}
        for history, row in values.items()
    )
    table = PageTable("histories", "Swap delta of every history", columns, rows)
    return Section(f"History by history: {finding_of(direction, entry)}", tables=(table,),
                   unplanned=not entry["planned"])  # fmt: skip
