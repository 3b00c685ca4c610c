"""The tables about one probe: where it was lost, and every cell with what became of it."""

from collections.abc import Sequence

from analysis import page_tables as pt
from analysis.evidence import CellPath
from analysis.lost import LostIn
from analysis.page_tables import Column, PageTable, Row, Value
from analysis.templatetags.memport import format_name, reason_words

RESULTS = {"right": "✓ right", "wrong": "✗ wrong", "never": "· no score"}


def stages(lost: Sequence[LostIn], *, labels: str = "") -> PageTable:
    """The stage where the probe was lost in each cell, with the three answers that say so."""
    columns = (Column("cell", "Cell"), Column("stage", "Stage"), Column("words", "In words"),
               Column("answers", "Its answers"))  # fmt: skip
    rows = tuple(_stage(one) for one in lost)
    return PageTable("stages", "Where it was lost", columns, rows, labels=labels)


def _stage(one: LostIn) -> Row:
    cell = one.path.cell
    name = format_name(cell.evaluation.format)
    answers = [_answer(condition, path) for condition, path in one.answers]
    return {
        "cell": Value(name, name, cell.title, more={"title": cell.title}),
        "stage": pt.label(one.stage or None, one.label, one.css),
        "words": pt.text(one.words),
        "answers": pt.links(answers),
    }


def _answer(condition: str, path: CellPath | None) -> tuple[str, str]:
    """One of the three answers in words, and the cell on the same page that gave it."""
    if path is None:
        return f"{condition} · not asked", ""
    return f"{condition} {RESULTS[path.css]}", f"#cell-{path.cell.evaluation.pk}"


def cells(paths: Sequence[CellPath], *, labels: str = "") -> PageTable:
    """Every cell with what its store kept, what was retrieved, and what was answered.

    The page shows the same as cards; only the download has this form.
    """
    columns = (
        Column("format", "Format"), Column("cell", "Cell"), Column("result", "Result"),
        Column("reason", "Reason"), Column("answer", "Answer"),
        Column("spans_kept", "Evidence kept", True), Column("spans_required", "of", True),
        Column("ranks", "Ranks of the evidence"), Column("shown", "Retrieved", True),
    )  # fmt: skip
    rows = tuple(_cell(path) for path in paths)
    return PageTable("cells", "What became of it, in every cell", columns, rows, labels=labels)


def _cell(path: CellPath) -> Row:
    evaluation, answer = path.cell.evaluation, path.answer
    kept = sum(span.get("state") == "kept" for span in path.spans)
    known = bool(path.spans)
    ranks = [f"{one.event}: {'none' if one.rank is None else one.rank}" for one in path.ranks or ()]
    asked = answer is not None and bool(evaluation.reader)
    return {
        "format": pt.text(evaluation.format),
        "cell": pt.text(path.cell.title),
        "result": pt.text(_result(path, asked)),
        "reason": pt.text(reason_words(answer.reason) if answer and answer.reason else ""),
        "answer": Value(answer.text if answer and asked else None, ""),
        "spans_kept": Value(kept if known else None, ""),
        "spans_required": Value(len(path.spans) if known else None, ""),
        "ranks": Value(", ".join(ranks) or None, ""),
        "shown": Value(None if path.ranks is None else path.n_retrieved, ""),
    }


def _result(path: CellPath, asked: bool) -> str:
    if path.answer is None:
        return "no answer yet"
    if not asked:
        return "not asked"
    return {"right": "right", "wrong": "wrong"}.get(path.css, "never scored")
