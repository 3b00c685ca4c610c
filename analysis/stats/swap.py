"""The writer swap of one format in one direction: everything that a verdict stands on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.cells import ABSENT, RIGHT, Cell, CellCounts, Cube
from analysis.stats.figures import BoolArray, Estimate, Figure, Interval
from analysis.stats.inference import LEVEL, T_METHOD, estimate
from analysis.stats.metrics import (
    BELOW_FLOOR,
    FLOOR,
    difference,
    direct_gap,
    exact,
    retained_performance,
    service_change_pp,
    swap_delta_pp,
)
from analysis.stats.verdicts import Discordant

NOT_AFFECTED = "not affected by a writer swap: nobody writes this store (0 by construction)"


@dataclass(frozen=True, slots=True)
class Format:
    """A memory format with the embedder of its index; `written`: a model makes its stores."""

    name: str
    embedder: str
    written: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """One format in one direction old→new.

    Attributes
    ----------
    before
        The old model on its own store: what the service was.
    own
        The new model on the store that it wrote (nobody wrote: on the one store there is).
    inherited
        The new model on the old model's store.
    swap_delta_pp, direct_gap, retained_performance
        See `analysis.stats.metrics`; undefined for a format that nobody writes.
    retained_of_means
        The ratio of the pooled means: another estimand, never the headline.
    service_change_pp
        What the users of the service feel on the day of the switch.
    discordant
        Answers that differ between own and inherited, pooled over the histories compared.
    unscored
        How many answers of the three cells were never scored.
    """

    format: Format
    old: str
    new: str
    before: Estimate
    own: Estimate
    inherited: Estimate
    swap_delta_pp: Estimate
    direct_gap: Estimate
    retained_performance: Estimate
    retained_of_means: Figure
    service_change_pp: Estimate
    discordant: Discordant | None
    unscored: int

    def figures(self) -> dict[str, Any]:
        """Return the numbers, JSON-ready."""
        return {
            "before": self.before.as_json(),
            "own": self.own.as_json(),
            "inherited": self.inherited.as_json(),
            "swap_delta_pp": self.swap_delta_pp.as_json(),
            "direct_gap": self.direct_gap.as_json(),
            "retained_performance": self.retained_performance.as_json(),
            "retained_of_means": self.retained_of_means.as_json(),
            "service_change_pp": self.service_change_pp.as_json(),
            "unscored": self.unscored,
        }


def formats_of(cube: Cube) -> list[Format]:
    """The formats that were read under the normal condition, without index or repair.

    A format is written where a cell of it names a writer.

    Examples
    --------
    >>> cells = [Cell("notes", "", "A", "B"), Cell("rag", "e", "", "B")]
    >>> found = formats_of(Cube.of({cell: {"h": [1]} for cell in cells}))
    >>> [(form.name, form.embedder, form.written) for form in found]
    [('notes', '', True), ('rag', 'e', False)]
    """
    normal = cube.select(lambda c: c.condition == "normal" and not c.index and not c.repair)
    written = {cell.format for cell in normal if cell.writer}
    pairs = sorted({(cell.format, cell.embedder) for cell in normal})
    return [Format(name, embedder, name in written) for name, embedder in pairs]


def directions_of(cube: Cube) -> list[tuple[str, str]]:
    """Every ordered pair (old, new) of models that read under the normal condition.

    Examples
    --------
    >>> directions_of(Cube.of({Cell("lc_raw", reader=reader): {"h": [1]} for reader in "BA"}))
    [('A', 'B'), ('B', 'A')]
    """
    normal = cube.select(lambda c: c.condition == "normal" and not c.index and not c.repair)
    readers = sorted({cell.reader for cell in normal})
    return [(old, new) for old in readers for new in readers if old != new]


def normal_cell(form: Format, *, writer: str, reader: str) -> Cell:
    """The cell of the writer swap, first repeat.

    Examples
    --------
    >>> normal_cell(Format("rag", "e", written=False), writer="A", reader="B").label()
    'rag, e, nobody → B'
    """
    return Cell(form.name, form.embedder, writer if form.written else "", reader)


def pooled_discordant(cube: Cube, own: Cell, inherited: Cell) -> Discordant | None:
    """Answers right in one cell alone, over the histories in which the two can be compared.

    None where the study lacks one of the cells.

    Examples
    --------
    >>> own, inherited = Cell("notes", "", "B", "B"), Cell("notes", "", "A", "B")
    >>> cube = Cube.of({own: {"h": [1, 1, 0, 0]}, inherited: {"h": [1, 0, 1, 0]}})
    >>> pooled_discordant(cube, own, inherited)
    Discordant(gained=1, lost=1, answers=4)
    """
    if own not in cube.row or inherited not in cube.row:
        return None
    compared = difference(cube.counts(inherited), cube.counts(own)).defined
    a, b = cube.correct[cube.row[own]], cube.correct[cube.row[inherited]]
    used = compared[cube.history_of_probe] & (a != ABSENT)
    gained = int(np.sum(used & (b == RIGHT) & (a != RIGHT)))
    lost = int(np.sum(used & (a == RIGHT) & (b != RIGHT)))
    return Discordant(gained, lost, int(used.sum()))


def writer_swap(
    cube: Cube,
    form: Format,
    *,
    old: str,
    new: str,
    chance: float = 0.0,
    mask: BoolArray | None = None,
    planned: bool = False,
    keep_values: bool = True,
) -> Swap:
    """All figures of one format and direction.

    Parameters
    ----------
    cube
        All answers.
    form
        The format.
    old, new
        The model that is replaced, and the one that replaces it.
    chance
        Accuracy of guessing, a fraction.
    mask
        Shape (n_probes,): only these probes (a kind, a memory class).
    planned
        Whether the locked plan names the direction.
    keep_values
        Whether the estimates carry the values of the single histories.

    Notes
    -----
    Source: statistics.md, table of quantities; the paper, sections 2.3 and 4.2.

    Examples
    --------
    >>> right = {"AA": 4, "BB": 8, "AB": 6}  # writer, reader; of ten probes
    >>> scores = {pair: {"h": [1] * k + [0] * (10 - k)} for pair, k in right.items()}
    >>> cube = Cube.of({Cell("notes", "", w, r): found for (w, r), found in scores.items()})
    >>> swap = writer_swap(cube, Format("notes", "", True), old="A", new="B")
    >>> round(swap.swap_delta_pp.value, 6), round(swap.service_change_pp.value, 6)
    (-20.0, 20.0)
    >>> round(swap.retained_performance.value, 6)
    0.75
    """
    own_cell = normal_cell(form, writer=new, reader=new)
    old_cell = normal_cell(form, writer=old, reader=new)
    own, before = cube.first(own_cell, mask), normal_cell(form, writer=old, reader=old)
    was = cube.first(before, mask)
    inherited = cube.first(old_cell, mask)

    def mean(values: Any, unit: str) -> Estimate:
        return estimate(values, unit=unit, planned=planned, keep_values=keep_values)

    unscored = [was, own, inherited] if form.written else [was, own]
    common: dict[str, Any] = {
        "format": form,
        "old": old,
        "new": new,
        "before": mean(was.accuracy(), "accuracy"),
        "own": mean(own.accuracy(), "accuracy"),
        "service_change_pp": mean(service_change_pp(was, inherited), "pp"),
        "unscored": sum(int(counts.blank.sum()) for counts in unscored),
    }
    if not form.written:
        return Swap(**common, **_not_affected(planned))
    return Swap(
        **common,
        inherited=mean(inherited.accuracy(), "accuracy"),
        swap_delta_pp=mean(swap_delta_pp(own, inherited), "pp"),
        direct_gap=mean(direct_gap(own, inherited), "accuracy"),
        retained_performance=mean(retained_performance(own, inherited, chance=chance), "ratio"),
        retained_of_means=_ratio_of_means(own, inherited, chance),
        discordant=pooled_discordant(cube, own_cell, old_cell) if mask is None else None,
    )


def _not_affected(planned: bool) -> dict[str, Any]:
    def none(unit: str) -> Estimate:
        figure = Figure.undefined(NOT_AFFECTED)
        interval = Interval(None, None, LEVEL, T_METHOD, NOT_AFFECTED)
        return Estimate(figure, interval, figure, 0, unit, planned=planned)

    return {
        "inherited": none("accuracy"),
        "swap_delta_pp": none("pp"),
        "direct_gap": none("accuracy"),
        "retained_performance": none("ratio"),
        "retained_of_means": Figure.undefined(NOT_AFFECTED),
        "discordant": None,
    }


def _ratio_of_means(own: CellCounts, inherited: CellCounts, chance: float) -> Figure:
    """``(mean a_inherited − c) / (mean a_own − c)`` over the histories that can be compared."""
    compared = difference(inherited, own)
    if not compared.defined.any():
        return Figure.undefined("no history has both cells")
    a_own = float(own.accuracy().values[compared.defined].mean())
    a_inherited = float(inherited.accuracy().values[compared.defined].mean())
    if a_own - chance < float(FLOOR) - 1e-12:
        return Figure.undefined(BELOW_FLOOR)
    c = float(exact(chance))
    return Figure.ok((a_inherited - c) / (a_own - c))


def masks_by(names: "np.typing.NDArray[np.object_]") -> Sequence[tuple[str, BoolArray]]:
    """One mask per value of a probe attribute, sorted by value; empty values are left out.

    Parameters
    ----------
    names
        Shape (n_probes,): the attribute of each probe.

    Examples
    --------
    >>> kinds = np.array(["direct", "alias", "", "direct"], dtype=object)
    >>> [(value, mask.tolist()) for value, mask in masks_by(kinds)]
    [('alias', [False, True, False, False]), ('direct', [True, False, False, True])]
    """
    values = sorted({str(name) for name in names.tolist()} - {""})
    return [(value, np.asarray(names == value, dtype=np.bool_)) for value in values]
