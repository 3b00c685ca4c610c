"""The page of losses: stacked bars of the stages, by format, cell and kind; style rewrites."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES, KIND_NAMES
from analysis.loss_charts import NAMES, STACKED, stacked
from analysis.losses import STAGE_WORDS
from analysis.page_parts import Asked, Chart, PartPage, Section, is_unplanned
from analysis.page_tables import Column, PageTable, Value
from analysis.stats.stages import STAGES

Loss = Mapping[str, Any]
TITLE = "Loss by stage"
LEDE = (
    "Where memory is lost: while it is written (construction), while it is searched (retrieval), "
    "or by the reader. Each stage is the change when the next obstacle is taken away."
)
NOTES = (
    "Retrieval: accuracy with the store’s own items at hand, less the normal accuracy. "
    "Construction: accuracy with the original events at hand, less that with the store’s items. "
    "Reading: what is wrong even then. The three add up to the total, history by history. "
    "A negative part means that the help did harm; it is kept, and drawn left of zero.",
    "A diagnosis, not a complete causal account: it says what helps when it is supplied.",
)


def build(asked: Asked) -> PartPage:
    """Return the page."""
    losses = asked.report.get("loss_decomposition")
    if not losses:
        missing = "No cell of this study was read with its stored and with its raw evidence."
        return PartPage(TITLE, LEDE, missing=missing)
    kept = [loss for loss in losses if not loss["left_out_because"]]
    left = [loss for loss in losses if loss["left_out_because"]]
    sections = [
        _formats(asked, kept, left),
        _stages(asked, kept),
        _cells(asked, kept),
        _kinds(asked, kept),
        _style(asked),
    ]
    return PartPage(TITLE, LEDE, tuple(section for section in sections if section))


def probes_url(asked: Asked, name: str, part: str, **more: str) -> str:
    """The address of exactly the probes that a part counts."""
    query = {"format": name, "part": part, **{key: value for key, value in more.items() if value}}
    return f"{reverse('loss-probes', args=[asked.study.key])}?{urlencode(query)}"


def _name(loss: Loss) -> str:
    return str(FORMAT_NAMES.get(loss["format"], loss["format"]))


def _formats(asked: Asked, kept: Sequence[Loss], left: Sequence[Loss]) -> Section:
    rows = [_row(asked, loss, loss["format"], {"format": pt.text(_name(loss))}) for loss in kept]
    findings = tuple(_finding(loss) for loss in kept)
    warnings = [
        f"{_name(loss)} is left out of the picture: {loss['left_out_because']}." for loss in left
    ]
    warnings += [
        f"{_name(loss)}: {NAMES[part]} is negative; the help that was given did harm."
        for loss in kept
        for part in STACKED
        if (loss["components"][part]["value"] or 0) < 0
    ]
    chart = None
    if kept:
        figure = stacked(
            [(_name(loss), loss) for loss in kept],
            url_of=lambda loss, part: probes_url(asked, loss["format"], part),
            findings=findings,
        )
        about = (
            "Stacked bars of the loss in construction, retrieval and reading of each format, with "
            "95 % intervals; the table below holds the same numbers."
        )
        chart = Chart(figure, "loss", about)
    table = PageTable("loss", "Loss by format", _columns(Column("format", "Format")), tuple(rows))
    return Section(
        "Where each format loses", findings, chart, (table,), NOTES, tuple(warnings),
        unplanned=is_unplanned(asked.report, "loss_decomposition"),
    )  # fmt: skip


def _columns(*first: Column) -> tuple[Column, ...]:
    parts = [Column(part, f"{NAMES[part].capitalize()}, pp", True) for part in STACKED]
    shares = [Column(f"share_{part}", f"{NAMES[part].capitalize()}, share", True)
              for part in STACKED]  # fmt: skip
    return (*first, Column("total", "Total, pp", True), *parts, *shares)


def _row(
    asked: Asked, loss: Loss, name: str, first: Mapping[str, Value], **only: str
) -> Mapping[str, Value]:
    row = dict(first)
    row["total"] = pt.estimate(loss["total"], _pp)
    for part in STACKED:
        url = probes_url(asked, name, part, **only)
        row[part] = pt.estimate(loss["components"][part], _pp, url=url)
        row[f"share_{part}"] = pt.number(loss["shares"][part], pt.percent)
    return row


def _pp(value: float) -> str:
    """A fraction of accuracy as percentage points."""
    return f"{pt.plain(100 * value, 1)} pp"


def _finding(loss: Loss) -> str:
    total = loss["total"]["value"]
    if total is None:
        return f"{_name(loss)}: no loss can be computed, {loss['total']['reason']}"
    known = {
        part: loss["components"][part]["value"]
        for part in STACKED
        if loss["components"][part]["value"] is not None
    }
    most = max(known, key=lambda part: known[part])
    if known[most] <= 0:
        return f"{_name(loss)}: nothing is lost"
    return (
        f"{_name(loss)} loses {_pp(total)} in all, most of it in {NAMES[most]} ({_pp(known[most])})"
    )


def _stages(asked: Asked, kept: Sequence[Loss]) -> Section | None:
    """Probe by probe: at which stage each was lost, and those that fit none."""
    counted = [loss for loss in kept if "probes_by_stage" in loss]
    if not counted:
        return None
    rows = []
    for loss in counted:
        row = {"format": pt.text(_name(loss)), "all": pt.count(loss["probes_counted"])}
        for stage in STAGES:
            url = probes_url(asked, loss["format"], f"stage:{stage}")
            row[stage] = pt.count(loss["probes_by_stage"][stage], url=url)
        rows.append(row)
    titles = {"none": "Not lost", "no stage": "Fits no stage"}
    columns = [Column("format", "Format"), Column("all", "Answers followed", True)]
    columns += [Column(s, titles.get(s, f"Lost in {s}"), True) for s in STAGES]
    return Section(
        "Probe by probe", (), None,
        (PageTable("stages", "Stage of every probe in every cell", tuple(columns), tuple(rows)),),
        (f"Fits no stage: {STAGE_WORDS['no stage'].partition(': ')[2]}, such as a probe that is "
         "right normally and wrong with the raw evidence. These are shown, and they count in the "
         "bars with their signs.",),
        unplanned=is_unplanned(asked.report, "loss_decomposition"),
    )  # fmt: skip


def _cells(asked: Asked, kept: Sequence[Loss]) -> Section | None:
    rows = []
    for loss in kept:
        for one in loss["by_cell"]:
            cell = one["cells"][0]
            whose = f"{cell['reader']} reads " + (
                "" if not cell["writer"] else
                "its own" if cell["writer"] == cell["reader"] else f"{cell['writer']}’s"
            )  # fmt: skip
            first = {"format": pt.text(_name(loss)), "cell": pt.text(whose.strip())}
            rows.append(_row(asked, one, loss["format"], first,
                             writer=cell["writer"], reader=cell["reader"]))  # fmt: skip
    columns = _columns(Column("format", "Format"), Column("cell", "Cell"))
    return _more("By cell", "cells", columns, rows, asked)


def _kinds(asked: Asked, kept: Sequence[Loss]) -> Section | None:
    rows = [
        _row(asked, one, loss["format"],
             {"format": pt.text(_name(loss)),
              "kind": pt.text(KIND_NAMES.get(one["kind"], one["kind"]))},
             kind=one["kind"])
        for loss in kept
        for one in loss["by_kind"]
    ]  # fmt: skip
    columns = _columns(Column("format", "Format"), Column("kind", "Probe kind"))
    return _more("By probe kind", "kinds", columns, rows, asked)


def _more(
    title: str,
    key: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Value]],
    asked: Asked,
) -> Section | None:
    if not rows:
        return None
    table = PageTable(f"loss-{key}", f"Loss {title.lower()}", tuple(columns), tuple(rows))
    unplanned = is_unplanned(asked.report, "loss_decomposition")
    return Section(title, (), None, (table,), unplanned=unplanned)


def _style(asked: Asked) -> Section | None:
    """Does it help when the new model puts the old notes in its own words?"""
    rewrites = asked.report.get("style_rewrite")
    if not rewrites:
        return None
    rows, findings = [], []
    for one in rewrites:
        url = asked.answers(format=one["format"], writer=one["writer"], reader=one["rewriter"],
                            condition="style_rewrite")  # fmt: skip
        change = one["accuracy_change"]
        rows.append({
            "direction": pt.text(f"{one['writer']} → {one['rewriter']}"),
            "change": pt.estimate(change, _pp, url=url),
            "reached": _share(one.get("reached")),
            "drops": _share(one.get("drops_identifier")),
        })  # fmt: skip
        if change["value"] is not None:
            findings.append(f"{one['rewriter']} rewriting {one['writer']}’s notes changes accuracy "
                            f"by {_pp(change['value'])}")  # fmt: skip
    columns = (
        Column("direction", "Direction"), Column("change", "Change of accuracy, pp", True),
        Column("reached", "Notes reached", True),
        Column("drops", "Rewrites that drop an exact identifier", True),
    )  # fmt: skip
    return Section(
        "Style rewrite: the old notes in the new model’s words", tuple(findings), None,
        (PageTable("style", "Style rewrites", columns, tuple(rows)),),
        ("A note is one window’s notes. It is not reached where the rewriter’s reply was cut off, "
         "refused or empty; it then stays as it was.",),
        unplanned=is_unplanned(asked.report, "style_rewrite"),
    )  # fmt: skip


def _share(share: Mapping[str, Any] | None) -> Value:
    shown = pt.number(share, pt.percent)
    if share is None or share.get("value") is None:
        return shown
    return Value(shown.raw, shown.text, f"{share['n']} of {share['of']}", "", shown.more)
