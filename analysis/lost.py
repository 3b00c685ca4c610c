"""Where one probe was lost, cell by cell, in words: from its answers under the conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.evidence import CellPath
from analysis.losses import STAGE_WORDS
from analysis.stats.decomposition import raw_cell_keys
from analysis.stats.stages import stage_of
from experiments.models import Evaluation

CSS = {"none": "good", "no stage": "warn"}
SIGNS = {"none": "✓", "no stage": "?"}
NAMES = {"none": "not lost", "no stage": "fits no stage"}
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LostIn:
    """One matched cell: the stage where this probe was lost in it, and the three answers."""

    path: CellPath
    stage: str
    words: str
    answers: tuple[tuple[str, CellPath | None], ...]

    @property
    def css(self) -> str:
        """The style of its label."""
        return CSS.get(self.stage, "bad" if self.stage else "")

    @property
    def label(self) -> str:
        """The stage as a label, with a sign that does not rest on colour."""
        if not self.stage:
            return "· not known"
        name = NAMES.get(self.stage, f"lost in {self.stage}")
        return f"{SIGNS.get(self.stage, '✗')} {name}"


def lost_in(paths: Sequence[CellPath]) -> list[LostIn]:
    """Return the stage of a probe in every cell that was also read with its stored evidence."""
    by_key = {_key(path.cell.evaluation): path for path in paths}
    found = []
    for path in paths:
        evaluation = path.cell.evaluation
        stored = by_key.get(_key(evaluation, condition="stored_evidence"))
        if evaluation.condition != "normal" or evaluation.repeat or stored is None:
            continue
        raw = _raw(evaluation, by_key)
        answers = (("normally", path), ("with the stored evidence", stored),
                   ("with the raw evidence", raw))  # fmt: skip
        stage, words = _stage(path, stored, raw)
        found.append(LostIn(path, stage, words, answers))
    return found


def _stage(normal: CellPath, stored: CellPath, raw: CellPath | None) -> tuple[str, str]:
    scores = [None if p is None or p.answer is None else p.answer.correct
              for p in (normal, stored, raw)]  # fmt: skip
    if any(score is None for score in scores):
        return "", "not all of its three answers were given and scored"
    stage = stage_of(normal=bool(scores[0]), stored=bool(scores[1]), raw=bool(scores[2]))
    return stage, STAGE_WORDS[stage]


def _key(evaluation: Evaluation, *, condition: str = "") -> Key:
    e = evaluation
    return (e.format, e.embedder, e.writer, e.reader, condition or e.condition, e.index, e.repair,
            str(e.rung), str(e.repeat))  # fmt: skip


def _raw(evaluation: Evaluation, by_key: Mapping[Key, CellPath]) -> CellPath | None:
    """The raw evidence of this format, or that which all formats of the reader share."""
    for name, writer in raw_cell_keys(evaluation.format, evaluation.writer):
        key = (name, "", writer, evaluation.reader, "raw_evidence", "", "", "0", "0")
        if key in by_key:
            return by_key[key]
    return None
