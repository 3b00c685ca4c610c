"""The page of the mixed-index gap: every index, the dial of migrated shares, history by history."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from analysis import index_charts
from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES
from analysis.page_parts import Asked, Chart, Filter, PartPage, Section, is_unplanned
from analysis.page_tables import Column, PageTable, Row
from experiments.models import Study
from stores.models import History

Index = Mapping[str, Any]
TITLE = "Mixed-index gap"
LEDE = (
    "What an embedding upgrade costs while it is half done: every index against the old one and "
    "against the full one."
)
# Measure: its name, how it is written, and the same for a difference between two indexes.
MEASURES = {
    "accuracy": ("accuracy", pt.percent, "accuracy_pp", pt.pp),
    "recall_at_8": ("recall@8", pt.fraction, "recall_at_8", pt.change),
    "mrr": ("MRR", pt.fraction, "mrr", pt.change),
}
FORFEITED = {
    "accuracy": "share_of_gain_forfeited",
    "recall_at_8": "share_of_recall_gain_forfeited",
    "mrr": "share_of_mrr_gain_forfeited",
}
MAIN = ("old", "mixed", "full")
FEWEST_STEPS_OF_A_CURVE = 3
# Words that stand beside each index.
INDEX_HELP = {
    "old": "old vectors, old query: the service before the upgrade",
    "full": "new vectors, new query: everything embedded anew",
    "router": "oracle: for each probe it searches only the part that holds the evidence",
    "dual_query": "each part in its own space, the two lists merged by reciprocal rank",
    "version_filter": "only the migrated part is searched",
}


def build(asked: Asked) -> PartPage:
    """Return the page; the address may choose one reader, otherwise readers are averaged."""
    parts = asked.report.get("embedding_upgrade")
    if not parts:
        return PartPage(TITLE, LEDE, missing="No answer or ranking of this study names an index.")
    readers = list(dict.fromkeys(reader for part in parts for reader in part["readers"]))
    reader = asked.chosen("reader", readers)
    sections: list[Section | None] = []
    for part in parts:
        rows = part["by_reader"].get(reader, ()) if reader else part["indexes"]
        if rows:
            sections += [
                indexes(asked, part, rows, reader),
                _dial(asked, part, rows, reader),
                _histories(asked, part, rows, reader),
            ]
    sections.append(_spaces(asked))
    filters = (
        (Filter("reader", "Read by", tuple((name, name) for name in readers), reader,
                any_label="all, averaged in each history"),)
        if len(readers) > 1 else ()
    )  # fmt: skip
    return PartPage(TITLE, LEDE, tuple(one for one in sections if one), filters=filters)


def _measures(part: Index) -> list[str]:
    return [name for name in MEASURES if part["asked"] or name != "accuracy"]


def _url(asked: Asked, part: Index, index: str, reader: str, **more: str) -> str:
    return asked.answers(format=part["format"], index=index, reader=reader, **more)


def indexes(asked: Asked, part: Index, rows: Sequence[Index], reader: str = "") -> Section:
    """Every index of a format: the picture, what can be deployed, and the oracle apart."""
    measures = _measures(part)
    findings = tuple(part["finding"]) or (
        "Mixed and full were not both measured, so that the gap is not known",
    )
    if reader:
        findings = (f"Read by {reader} alone; the finding over all readers stands without filter",)
    figure = index_charts.index_forest(
        rows, measure=measures[0], finding=findings,
        url_of=lambda index: _url(asked, part, index, reader),
    )  # fmt: skip
    columns = _columns(measures)
    name = part["format"]
    tables = [
        PageTable(f"{key}-{name}", title, columns,
                  tuple(_row(asked, part, row, measures, reader) for row in shown))
        for key, title, shown in (
            ("indexes", "What a service can deploy", [r for r in rows if r["deployable"]]),
            ("oracle", "Oracle: an upper bound that nobody can deploy",
             [r for r in rows if not r["deployable"]]),
        )
        if shown
    ]  # fmt: skip
    return Section(
        f"Every index: {FORMAT_NAMES.get(name, name)}", findings,
        Chart(figure, f"indexes-{name}", "Every index with its 95 % interval, the oracle with its "
              "own marker; the tables below hold the same numbers."),
        tuple(tables),
        ("recall@8: the share of a probe’s evidence chunks among the first 8. MRR: 1 / rank of "
         "the first one, 0 beyond 8. Forfeited: 1 − gain / gain of the full index, a ratio of "
         "means over histories; above 100 % the index is below the old one.",),
        _warnings(asked.study, part),
        unplanned=is_unplanned(asked.report, "embedding_upgrade"),
    )  # fmt: skip


def _warnings(study: Study, part: Index) -> tuple[str, ...]:
    """That answers were not asked, and what was left out of the runs."""
    left = [] if study.source == Study.Source.TABLE else [
        one["reason"] for run in study.runs.filter(test="embedding_upgrade") for one in run.left_out
    ]  # fmt: skip
    lines = [*filter(None, [part["note"]]), *(f"left out: {why}" for why in dict.fromkeys(left))]
    return tuple(f"{line[:1].upper()}{line[1:]}." for line in lines)


def _columns(measures: Sequence[str]) -> tuple[Column, ...]:
    columns = [Column("index", "Index"), Column("share", "Migrated, %", True)]
    for measure in measures:
        name, unit = MEASURES[measure][0], ", pp" if measure == "accuracy" else ""
        title = f"{name[0].upper()}{name[1:]}"
        columns += [
            Column(measure, title, True),
            Column(f"{measure}_gain", f"{title}: gain over old{unit}", True),
            Column(f"{measure}_behind", f"{title}: against full{unit}", True),
            Column(f"{measure}_forfeited", f"{title}: gain forfeited", True),
        ]
    return (*columns, Column("n", "Histories", True))


def _row(asked: Asked, part: Index, row: Index, measures: Sequence[str], reader: str) -> Row:
    share, index = row["migrated_share_percent"], row["index"]
    url = _url(asked, part, index, reader)
    values = {
        "index": pt.text(index, note=help_of(row), url=url),
        "share": pt.number(share, lambda value: f"{value:g} %"),
        "n": pt.count(row[measures[0]]["n_histories"]),
    }
    for measure in measures:
        _, write, key, change = MEASURES[measure]
        values[measure] = pt.estimate(row[measure], write, url=url)
        if index != "old":
            values[f"{measure}_gain"] = pt.estimate(row["gain_over_old"][key], change)
        if index != "full":
            values[f"{measure}_behind"] = pt.estimate(row["behind_full"][key], change)
        if row["deployable"] and index not in ("old", "full"):
            forfeited = pt.number(row[FORFEITED[measure]], pt.whole_percent)
            values[f"{measure}_forfeited"] = forfeited
    return values


def help_of(row: Index) -> str:
    """What an index is, in words."""
    share = row["migrated_share_percent"]
    words = INDEX_HELP.get(row["index"], "")
    if not words and share is not None:
        words = f"{share:g} % of the chunks migrated, new query over all of them"
    return words


def _dial(asked: Asked, part: Index, rows: Sequence[Index], reader: str) -> Section | None:
    """The share of migrated chunks as a curve, where it was measured at several steps."""
    steps = sorted((row for row in rows if row["migrated_share_percent"] is not None),
                   key=lambda row: float(row["migrated_share_percent"]))  # fmt: skip
    if len(steps) < FEWEST_STEPS_OF_A_CURVE:
        return None
    measures = _measures(part)
    figure = index_charts.dial(rows, measures=measures,
                               url_of=lambda index: _url(asked, part, index, reader))  # fmt: skip
    columns = (Column("share", "Migrated, %", True),
               *(Column(m, MEASURES[m][0], True) for m in measures))  # fmt: skip
    lines = tuple(
        {
            "share": pt.number(row["migrated_share_percent"], lambda value: f"{value:g} %"),
            **{m: pt.estimate(row[m], MEASURES[m][1],
                              url=_url(asked, part, row["index"], reader)) for m in measures},
        }
        for row in steps
    )  # fmt: skip
    return Section(
        "The dial: how much is migrated", (index_charts.dial_finding(rows, measures[0]),),
        Chart(figure, f"dial-{part['format']}", "Each measure against the share of migrated "
              "chunks, with 95 % intervals; the table below holds the same numbers."),
        (PageTable(f"dial-{part['format']}", "Measures by migrated share", columns, lines),),
        unplanned=is_unplanned(asked.report, "embedding_upgrade"),
    )  # fmt: skip


def _histories(asked: Asked, part: Index, rows: Sequence[Index], reader: str) -> Section | None:
    """Old, mixed and full in every history; each number leads to its probes."""
    measures = _measures(part)
    lines: dict[str, dict[str, pt.Value]] = {}
    pages = _history_pages(asked.study, part, rows)
    for row in rows:
        if row["index"] not in MAIN:
            continue
        for measure in measures:
            for one in row[measure].get("per_history", ()):
                name = one["history"]
                first = {"history": pt.text(name, url=pages.get(name, ""))}
                line = lines.setdefault(name, first)
                url = _url(asked, part, row["index"], reader, history=name)
                line[f"{row['index']}_{measure}"] = pt.number(one, MEASURES[measure][1], url=url)
    if not lines:
        return None
    columns = [Column("history", "History")]
    columns += [
        Column(f"{index}_{m}", f"{MEASURES[m][0]}, {index}", True)
        for m in measures
        for index in MAIN
    ]
    table = PageTable(f"histories-{part['format']}", "Indexes by history", tuple(columns),
                      tuple(lines[name] for name in sorted(lines)))  # fmt: skip
    return Section("History by history", (), None, (table,),
                   unplanned=is_unplanned(asked.report, "embedding_upgrade"))  # fmt: skip


def _history_pages(study: Study, part: Index, rows: Sequence[Index]) -> dict[str, str]:
    """The page of each history with its ranks; histories of an answers table have none."""
    if study.source == Study.Source.TABLE:
        return {}
    query = urlencode({"study": study.key, "format": part["format"], "index": "mixed"})
    keys = {one["history"] for row in rows for one in row["mrr"].get("per_history", ())}
    found = History.objects.filter(workspace=study.workspace, key__in=keys)
    return {
        key: f"{reverse('history', args=[pk])}?{query}"
        for key, pk in found.values_list("key", "pk")
    }


def _spaces(asked: Asked) -> Section | None:
    """Whether the two embedders make two spaces at all."""
    check = asked.report.get("space_check")
    if not check:
        return None
    title = "Are there two spaces at all?"
    if check["status"] != "ok":
        return Section(title, (f"Undefined: {check['reason']}",))

    def line(name: str, value: pt.Value) -> Row:
        return {"what": pt.text(name), "value": value}

    no_cosine = pt.Value(None, "none", "the dimensions differ, so that no mixing is possible")
    cosine = check["mean_cosine"]
    overlap = check["neighbour_overlap"]
    rows = (
        line(f"dimensions of {check['old']}", pt.count(check["old_dimension"])),
        line(f"dimensions of {check['new']}", pt.count(check["new_dimension"])),
        line("mean cosine between the two vectors of a text",
             no_cosine if cosine is None else pt.number(cosine, _four)),
        line("its spread across texts",
             no_cosine if cosine is None else pt.number(check["sd_cosine"], _four)),
        line(f"share of the {check['neighbours']} nearest neighbours that are the same",
             pt.Value(None, "undefined", "too few texts")
             if overlap is None else pt.number(overlap, pt.whole_percent)),
        line("chunks compared", pt.count(check["texts"])),
        line("histories", pt.count(check["n_histories"])),
    )  # fmt: skip
    columns = (Column("what", "What"), Column("value", "Value", True))
    return Section(
        title, (check["sentence"],), None,
        (PageTable("spaces", "The two embedders on the same texts", columns, rows),),
        (f"A mean cosine of {check['bound']} or more would be one space.",),
        unplanned=is_unplanned(asked.report, "embedding_upgrade"),
    )  # fmt: skip


def _four(value: float) -> str:
    return f"{value:.4f}".replace("-", pt.MINUS)
