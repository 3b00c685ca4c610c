"""The tables behind a number of a study that came in a table, and the probes of a loss."""

from collections.abc import Iterable, Mapping, Sequence

from django.urls import reverse
from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.addresses import query_with
from analysis.answer_tables import COUNTS, Query, verdict
from analysis.cell_words import title_of
from analysis.long_tables import LongTable, Rows
from analysis.losses import STAGE_WORDS, sign_of
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.stats.stages import Followed, FollowedProbes
from analysis.table_answers import Found, HistoryCount, TableAnswer
from analysis.templatetags.memport import format_name, kind_name
from experiments.models import Study
from stores.models import Probe

RESULTS = {"right": "right", "never": "never scored"}
ANSWERS = (("normally", "Normally"), ("stored", "Stored evidence"), ("raw", "Raw evidence"))


def by_history(counts: Iterable[HistoryCount], query: Query) -> PageTable:
    """Right, scored and unscored answers of each history; `query`: the address of the page."""
    columns = (Column("history", "History"), *COUNTS)
    rows = tuple(
        {
            "history": pt.text(one.key, url=_narrowed(query, one.key)),
            "right": pt.count(one.n_right),
            "scored": pt.count(one.n_scored),
            "never_scored": pt.count(one.n_unscored),
        }
        for one in counts
    )
    return PageTable("histories", "Right answers by history", columns, rows)


def _narrowed(query: Query, history: str) -> str:
    gone = {"page": None, "histories_page": None}
    return query_with(query, {"history": history, **gone})


def answers(found: Found, query: Query) -> LongTable:
    """Every answer, probe by probe."""
    columns = (
        Column("probe", "Probe"), Column("history", "History"), Column("kind", "Kind"),
        Column("cell", "Cell"), Column("rank", "Rank of the evidence", True),
        Column("verdict", "Verdict"),
    )  # fmt: skip

    def write(shown: Sequence[TableAnswer]) -> list[Row]:
        return [_answer(one, query) for one in shown]

    return LongTable("answers", "One by one", columns, found, found.in_order, write)


def _answer(one: TableAnswer, query: Query) -> Row:
    name, title = format_name(one.cell.format), title_of(one.cell)
    everywhere = urlencode({"history": one.history, "probe": one.probe})
    rank = Value(None, "–") if one.rank is None else Value(one.rank, pt.plain(one.rank, 0))
    return {
        "probe": pt.text(one.probe, url=f"?{everywhere}"),
        "history": Value(one.history, one.history, url=_narrowed(query, one.history), css="nowrap"),
        "kind": pt.text(kind_name(one.kind), raw=one.kind),
        "cell": Value(name, name, title, more={"title": title}),
        "rank": rank,
        "verdict": verdict(RESULTS.get(one.css, "wrong")),
    }


def loss_probes(study: Study, found: FollowedProbes, part: str, *, labels: str = "") -> LongTable:
    """The probes that one part of the losses counts, each with its three answers and its stage."""
    columns = (
        Column("probe", "Probe"), Column("kind", "Kind"), Column("cell", "Cell"),
        *(Column(key, title) for key, title in ANSWERS),
        *(() if part.startswith("stage:") else (Column("counts_as", "Counts as"),)),
        Column("words", "In words"),
    )  # fmt: skip

    def write(shown: Sequence[Followed]) -> list[Row]:
        ids = _ids({one.history for one in shown}, study.workspace_id)
        return [_lost(one, ids.get((one.history, one.probe)), study, part) for one in shown]

    def sort(key: str, descending: bool) -> Rows:
        keys = {
            "probe": lambda one: (one.history.casefold(), one.probe.casefold()),
            "kind": lambda one: one.kind.casefold(),
            "cell": lambda one: title_of(one.cell).casefold(),
            "normally": lambda one: not one.normal,
            "stored": lambda one: not one.stored,
            "raw": lambda one: not one.raw,
            "counts_as": lambda one: sign_of(part, one),
            "words": lambda one: STAGE_WORDS[one.stage].casefold(),
        }
        return sorted(found, key=keys[key], reverse=descending)

    return LongTable("probes", "One by one", columns, found, sort, write, labels=labels)


def _lost(one: Followed, probe_id: int | None, study: Study, part: str) -> Row:
    name = f"{one.history} {one.probe}"
    page = reverse("probe", args=[probe_id]) if probe_id else ""
    url = f"{page}?{urlencode({'study': study.key})}#stages" if page else ""
    sign, words = sign_of(part, one), STAGE_WORDS[one.stage]
    return {
        "probe": Value(name, name, url=url, more={"history": one.history, "key": one.probe}),
        "kind": pt.text(kind_name(one.kind), raw=one.kind),
        "cell": pt.text(title_of(one.cell)),
        "normally": _right(one.normal),
        "stored": _right(one.stored),
        "raw": _right(one.raw),
        "counts_as": Value(sign, "+1 lost" if sign > 0 else "−1 the other way"),
        "words": pt.text(words),
    }


def _right(right: bool) -> Value:
    return pt.label("right", "✓ right", "good") if right else pt.label("wrong", "✗ wrong", "bad")


def _ids(histories: set[str], workspace_id: int) -> Mapping[tuple[str, str], int]:
    """The probes' own pages; a study from an answers table has none."""
    rows = Probe.objects.filter(
        history__workspace=workspace_id, history__key__in=histories
    ).values_list("history__key", "key", "pk")
    return {(history, probe): pk for history, probe, pk in rows}
