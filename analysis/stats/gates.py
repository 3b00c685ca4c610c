"""Gates: what an evaluation must show before its results count. Decided on exact fractions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from analysis.stats.cells import READ_BY_TRAVERSAL, Cell, CellCounts, Cube
from analysis.stats.coverage import Coverage
from analysis.stats.figures import BoolArray, Figure
from analysis.stats.metrics import exact

GateStatus = Literal["passed", "failed", "not measured"]
FLOOR_ABOVE_CHANCE = Fraction(1, 20)
RANGE = Fraction(1, 2)
COVERAGE = Fraction(3, 5)
DOSES = ("normal", "corrupt_25", "corrupt_50", "corrupt_75")
NO_FIGURE = Figure.undefined("not measured")
GATES = ("floor", "ceiling", "dose", "range", "coverage")


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate, for one reader (or, for coverage, one writer), with its figure and its bound."""

    name: str
    status: GateStatus
    reader: str = ""
    writer: str = ""
    format: str = ""
    kind: str = ""
    figure: Figure = NO_FIGURE
    bound: str = ""
    reason: str = ""

    def concerns(self, *, format_name: str, reader: str, writers: frozenset[str]) -> bool:
        """Whether a verdict of this format, reader and these writers rests on the gate."""
        if self.format and self.format != format_name:
            return False
        if self.writer:
            return self.writer in writers
        return self.reader in ("", reader)

    def as_json(self) -> dict[str, Any]:
        """Return every part."""
        return {
            "gate": self.name,
            "status": self.status,
            "reader": self.reader,
            "writer": self.writer,
            "format": self.format,
            "kind": self.kind,
            "figure": self.figure.as_json(),
            "bound": self.bound,
            "reason": self.reason,
        }

    def sentence(self) -> str:
        """The gate in plain words."""
        about = " ".join(filter(None, (self.reader or self.writer, self.format, self.kind)))
        text = f"gate {self.name}{f' ({about})' if about else ''}: {self.status}"
        return f"{text}, {self.reason}" if self.reason else text


def exact_mean(counts: CellCounts) -> Fraction | None:
    """Mean over histories of the accuracy, exactly; None where no history has one.

    Examples
    --------
    >>> exact_mean(CellCounts.of(["a", "b"], [1, 3], [3, 3]))
    Fraction(2, 3)
    """
    kept = counts.defined
    if not kept.any():
        return None
    total = Fraction(0)
    asked = counts.probes[kept]
    for n in np.unique(asked).tolist():
        total += Fraction(int(counts.correct[kept][asked == n].sum()), n)
    return total / int(kept.sum())


def _verdict(name: str, passes: bool, figure: float, bound: str, **about: str) -> Gate:
    status: GateStatus = "passed" if passes else "failed"
    return Gate(name, status, figure=Figure.ok(figure), bound=bound, **about)


def _of_reader(cube: Cube, reader: str, condition: str) -> list[Cell]:
    return [
        cell
        for cell in cube.first_repeats()
        if cell.reader == reader and cell.condition == condition and not cell.repair
    ]


def _pooled(cube: Cube, cells: Sequence[Cell], mask: BoolArray | None = None) -> Fraction | None:
    """Mean over cells of their mean over histories."""
    means = [mean for cell in cells if (mean := exact_mean(cube.counts(cell, mask))) is not None]
    return sum(means, Fraction(0)) / len(means) if means else None


def _missing(name: str, reader: str, which: str) -> Gate:
    return Gate(name, "not measured", reader=reader, reason=f"there are no answers {which}")


def floor_gate(cube: Cube, reader: str, *, chance: float) -> Gate:
    """Without memory a reader guesses: ``a(no_memory) ≤ chance + 0.05``.

    `chance` and the figure are fractions: the mean over cells of their mean over histories, decided
    as exact fractions. Not measured where no fully scored `no_memory` cell exists.
    Source: protocol.md, "Gates, before any of the above counts".

    Examples
    --------
    >>> cube = Cube.of({Cell("*", "", "*", "R", "no_memory"): {"h": [1] + 19 * [0]}})
    >>> floor_gate(cube, "R", chance=0.0).status, floor_gate(cube, "S", chance=0.0).status
    ('passed', 'not measured')
    """
    mean = _pooled(cube, _of_reader(cube, reader, "no_memory"))
    if mean is None:
        return _missing("floor", reader, "without memory")
    bound = exact(chance) + FLOOR_ABOVE_CHANCE
    return _verdict("floor", mean <= bound, float(mean), f"at most {float(bound):g}", reader=reader)


def ceiling_gates(cube: Cube, reader: str) -> list[Gate]:
    """With the evidence at hand a reader does no worse: ``raw_evidence ≥ normal``, per format.

    Not for a format that is read by traversal: its read brings claims in order, which can serve a
    reader better than the raw events, as in the paper (kg_fixed .988, raw evidence below it).
    The figure is ``a(raw_evidence) − a(normal)``, a fraction. Not measured where either is missing
    or unscored. Source: protocol.md, "Gates, before any of the above counts".

    Examples
    --------
    >>> raw, normal = Cell("*", "", "*", "R", "raw_evidence"), Cell("lc_raw", reader="R")
    >>> cube = Cube.of({raw: {"h": [1, 0, 0, 0]}, normal: {"h": [1, 1, 0, 0]}})
    >>> [(gate.format, gate.status, gate.figure.value) for gate in ceiling_gates(cube, "R")]
    [('lc_raw', 'failed', -0.25)]
    """
    raw = _pooled(cube, _of_reader(cube, reader, "raw_evidence"))
    if raw is None:
        return [_missing("ceiling", reader, "with the raw evidence")]
    normal = [cell for cell in _of_reader(cube, reader, "normal") if not cell.index]
    gates = []
    for name in sorted({cell.format for cell in normal} - READ_BY_TRAVERSAL):
        mean = _pooled(cube, [cell for cell in normal if cell.format == name])
        if mean is not None:
            passes, gap = raw >= mean, float(raw - mean)
            about = {"reader": reader, "format": name}
            gates.append(_verdict("ceiling", passes, gap, "raw − normal at least 0", **about))
    return gates or [_missing("ceiling", reader, "that were read normally")]


def dose_gates(cube: Cube, reader: str, *, noise_floor: float) -> list[Gate]:
    """More corruption never helps by more than the noise floor, and the last dose hurts.

    For the doses normal, 25, 50, 75 %: ``a(next) − a(before) ≤ noise_floor`` for each step, and
    ``a(last) < a(normal)``. `noise_floor` and the figure ``a(last) − a(normal)`` are fractions. Not
    measured without the normal cell and one corrupted one of the same store.
    Source: protocol.md, "Gates, before any of the above counts".

    Examples
    --------
    >>> normal = Cell("notes", "", "W", "R")
    >>> worse = Cell("notes", "", "W", "R", "corrupt_50")
    >>> cube = Cube.of({normal: {"h": [1, 1, 0, 0]}, worse: {"h": [1, 0, 0, 0]}})
    >>> [(gate.status, gate.figure.value) for gate in dose_gates(cube, "R", noise_floor=0.0)]
    [('passed', -0.25)]
    """
    corrupt = [c for c in cube.first_repeats() if c.reader == reader and c.condition in DOSES[1:]]
    gates = []
    for name in sorted({cell.format for cell in corrupt}):
        makers = {(c.writer, c.embedder) for c in corrupt if c.format == name}
        means = []
        for dose in DOSES:
            cells = [
                c
                for c in _of_reader(cube, reader, dose)
                if c.format == name and (c.writer, c.embedder) in makers and not c.index
            ]
            if (mean := _pooled(cube, cells)) is not None:
                means.append((dose, mean))
        if len(means) > 1 and means[0][0] == "normal":
            gates.append(_dose_gate(means, noise_floor, reader=reader, format=name))
    return gates or [_missing("dose", reader, "from corrupted evidence")]


def _dose_gate(means: list[tuple[str, Fraction]], noise_floor: float, **about: str) -> Gate:
    rises = [later - earlier for (_, earlier), (_, later) in pairwise(means)]
    passes = max(rises) <= exact(noise_floor) and means[-1][1] < means[0][1]
    change = float(means[-1][1] - means[0][1])
    doses = ", ".join(f"{_dose_words(dose)} {float(mean):.3f}" for dose, mean in means)
    gate = _verdict(
        "dose", passes, change, "never rises beyond the noise floor, ends lower", **about
    )
    return Gate(**{**_fields(gate), "reason": doses})


def _dose_words(dose: str) -> str:
    return dose if dose == "normal" else f"{dose.rpartition('_')[2]} % corrupted"


def _fields(gate: Gate) -> dict[str, Any]:
    return {name: getattr(gate, name) for name in gate.__dataclass_fields__}


def range_gates(cube: Cube, reader: str) -> list[Gate]:
    """There is room to fall: ``a(raw_evidence) − a(no_memory) ≥ 0.50`` for every probe kind.

    One gate per kind; its figure is that difference, a fraction. Not measured where either
    condition is missing or unscored. Source: protocol.md, "Gates, before any of the above counts".

    Examples
    --------
    >>> raw, none = (Cell("*", "", "*", "R", c) for c in ("raw_evidence", "no_memory"))
    >>> cube = Cube.of({raw: {"h": [1, 1, 1, 0]}, none: {"h": [1, 0, 0, 0]}})
    >>> [(gate.status, gate.figure.value) for gate in range_gates(cube, "R")]
    [('passed', 0.5)]
    """
    raw, none = _of_reader(cube, reader, "raw_evidence"), _of_reader(cube, reader, "no_memory")
    if not raw or not none:
        return [_missing("range", reader, "with the raw evidence and without memory")]
    gates = []
    for kind in sorted(set(cube.kinds.tolist())):
        mask = np.asarray(cube.kinds == kind, dtype=np.bool_)
        top, bottom = _pooled(cube, raw, mask), _pooled(cube, none, mask)
        if top is not None and bottom is not None:
            room = top - bottom
            about = {"reader": reader, "kind": kind}
            gates.append(_verdict("range", room >= RANGE, float(room), "at least 0.5", **about))
    return gates or [
        _missing("range", reader, "with the raw evidence and without memory, fully scored")
    ]


def coverage_gates(coverage: Sequence[Coverage], writers: Sequence[str]) -> list[Gate]:
    """A writer's notes keep at least 60 % of the required evidence spans, mean over histories.

    ``mean over histories of kept / required ≥ 0.60``, decided as exact fractions. Not measured
    where no store of the writer has a span that can be looked for; an answers table has no stores.
    Source: protocol.md, "Gates, before any of the above counts" and "Evidence coverage".

    Examples
    --------
    >>> kept = [Coverage("a", "notes", "W", 10, 5), Coverage("b", "notes", "W", 10, 7)]
    >>> [(gate.status, gate.figure.value) for gate in coverage_gates(kept, ["W"])]
    [('passed', 0.6)]
    """
    gates = []
    for writer in writers:
        shares = [
            Fraction(c.kept, c.required)
            for c in coverage
            if c.format == "notes" and c.writer == writer and c.required
        ]
        if not shares:
            reason = "no coverage of its notes is known"
            gates.append(Gate("coverage", "not measured", writer=writer, reason=reason))
            continue
        mean = sum(shares, Fraction(0)) / len(shares)
        about = {"writer": writer, "format": "notes"}
        gates.append(_verdict("coverage", mean >= COVERAGE, float(mean), "at least 0.6", **about))
    return gates


def all_gates(
    cube: Cube,
    *,
    chance: float = 0.0,
    noise_floor: float = 0.0,
    coverage: Sequence[Coverage] = (),
) -> list[Gate]:
    """Every gate of every reader, and the coverage gate of every writer of notes.

    Parameters
    ----------
    cube
        All answers.
    chance
        Accuracy of guessing, a fraction.
    noise_floor
        A fraction; 0 where it was not measured.
    coverage
        What the stores kept; an answers table has none.

    Notes
    -----
    Source: protocol.md, "Gates, before any of the above counts". A failure withholds the verdicts
    of that reader (for coverage: those that rest on that writer's notes).

    Examples
    --------
    >>> cube = Cube.of(
    ...     {
    ...         Cell("lc_raw", reader="R"): {"h": [1, 1, 0, 0]},
    ...         Cell("*", "", "*", "R", "no_memory"): {"h": [0, 0, 0, 0]},
    ...         Cell("*", "", "*", "R", "raw_evidence"): {"h": [1, 1, 1, 1]},
    ...     }
    ... )
    >>> dict(summary(all_gates(cube)))["range"], dict(summary(all_gates(cube)))["dose"]
    ('passed', 'not measured')
    """
    gates: list[Gate] = []
    for reader in sorted({cell.reader for cell in cube.cells} - {""}):
        gates.append(floor_gate(cube, reader, chance=chance))
        gates += ceiling_gates(cube, reader)
        gates += dose_gates(cube, reader, noise_floor=noise_floor)
        gates += range_gates(cube, reader)
    notes_writers = {
        c.writer for c in cube.cells if c.format == "notes" and c.condition == "normal"
    }
    gates += coverage_gates(coverage, sorted(notes_writers - {"", "*"}))
    return gates


def summary(gates: Sequence[Gate]) -> Mapping[str, GateStatus]:
    """One status per gate: failed before not measured before passed.

    Examples
    --------
    >>> summary([Gate("floor", "passed"), Gate("floor", "not measured")])["floor"]
    'not measured'
    """
    order: tuple[GateStatus, ...] = ("failed", "not measured", "passed")
    found = {name: {gate.status for gate in gates if gate.name == name} for name in GATES}
    return {
        name: next((status for status in order if status in states), "not measured")
        for name, states in found.items()
    }
