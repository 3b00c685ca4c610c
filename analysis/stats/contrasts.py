"""The contrasts of the protocol, one value per history in pp: positive favours the claim.

Nothing here knows a model's name: directions, readers and rungs are arguments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.cells import Cell, CellCounts, Cube
from analysis.stats.figures import PerHistory
from analysis.stats.metrics import difference, mean_of, retained_performance, writer_swap_penalty_pp

Direction = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Contrast:
    """A contrast per history, and the parts (directions, readers) that it averages.

    Attributes
    ----------
    key, definition
        Its name and what it is, in words.
    values
        One value per history, pp, undefined where one of its parts is.
    parts
        Each direction or reader on its own: (label, values).
    """

    key: str
    definition: str
    values: PerHistory
    parts: tuple[tuple[str, PerHistory], ...]


@dataclass(frozen=True, slots=True)
class Design:
    """Over what the contrasts average, and the accuracy of guessing."""

    directions: tuple[Direction, ...] = ()
    readers: tuple[str, ...] = ()
    repair_directions: tuple[Direction, ...] = ()
    rungs: tuple[int, ...] = ()
    chance: float = 0.0


def design_of(
    cube: Cube,
    *,
    chance: float = 0.0,
    directions: Sequence[Direction] = (),
    readers: Sequence[str] = (),
) -> Design:
    """Return the design of a plan, or of the cells there are where the plan is silent.

    Parameters
    ----------
    directions, readers
        What the plan names; a named one without cells makes its contrast undefined.

    Examples
    --------
    >>> cube = Cube.of({Cell("notes", "", w, "B"): {"h": [1]} for w in "AB"})
    >>> design_of(cube).directions
    (('A', 'B'),)
    >>> design_of(cube, directions=[("B", "A")]).directions
    (('B', 'A'),)
    """
    found = sorted(
        {
            (c.writer, c.reader)
            for c in cube.cells
            if c.writer and c.writer != c.reader and c.condition == "normal" and not c.repair
        }
    )
    repairs = [c for c in cube.cells if c.repair in ("notes_raw", "notes_store")]
    indexed = sorted({c.reader for c in cube.cells if c.index == "mixed"} - {""})
    return Design(
        directions=tuple(directions) or tuple(found),
        readers=tuple(readers) or tuple(indexed),
        repair_directions=tuple(directions)
        or tuple(sorted({(c.writer, c.reader) for c in repairs})),
        rungs=tuple(sorted({c.rung for c in repairs})),
        chance=chance,
    )


def ratios(cube: Cube, name: str, design: Design) -> list[tuple[str, PerHistory]]:
    """Retained performance of a written format, by direction.

    Each part has shape (n_histories,); undefined where `retained_performance` is.

    Examples
    --------
    >>> scores = {"A": [1, 0, 0, 0], "B": [1, 1, 0, 0]}  # writer, read by B
    >>> cube = Cube.of({Cell("notes", "", w, "B"): {"h": found} for w, found in scores.items()})
    >>> [(name, part.values.tolist()) for name, part in ratios(cube, "notes", design_of(cube))]
    [('A → B', [0.5])]
    """
    found = []
    for old, new in design.directions:
        own, inherited = Cell(name, "", new, new), Cell(name, "", old, new)
        ratio = retained_performance(cube.counts(own), cube.counts(inherited), chance=design.chance)
        found.append((f"{old} → {new}", ratio))
    return found


def _loss_pp(ratio: PerHistory) -> PerHistory:
    return mean_of([ratio], transform_scale=-100.0, transform_shift=100.0)


def h1(cube: Cube, design: Design) -> Contrast | None:
    """H1: writer-swap penalty of the notes, ``P_notes``.

    ``100 · mean over directions of (1 − r(d))``. None where no direction has its cells. Undefined
    in a history where a planned direction is.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, row "H1".

    Examples
    --------
    >>> right = {"AA": 5, "BB": 10, "AB": 6, "BA": 4}  # writer, reader; of ten probes
    >>> scores = {pair: {"h": [1] * k + [0] * (10 - k)} for pair, k in right.items()}
    >>> cube = Cube.of({Cell("notes", "", w, r): found for (w, r), found in scores.items()})
    >>> contrast = h1(cube, design_of(cube))
    >>> contrast.values.values.round(6), [label for label, _ in contrast.parts]
    (array([30.]), ['A → B', 'B → A'])
    """
    by_direction = ratios(cube, "notes", design)
    if not by_direction or not _any_defined(by_direction):
        return None
    values = writer_swap_penalty_pp([ratio for _, ratio in by_direction])
    parts = tuple((label, _loss_pp(ratio)) for label, ratio in by_direction)
    return Contrast("H1", "notes lose retained performance after a writer swap", values, parts)


def h4a(cube: Cube, design: Design) -> Contrast | None:
    """H4a: ``P_notes − P_kg_fixed``: compares the formats and their way of reading.

    None where a format has no direction with its cells; undefined in a history where a part is.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, row "H4a".

    Examples
    --------
    >>> def cells(name, k):
    ...     scores = {True: [1] * 10, False: [1] * k + [0] * (10 - k)}
    ...     return {Cell(name, "", w, r): {"h": scores[w == r]} for w in "AB" for r in "AB"}
    >>> cube = Cube.of(cells("notes", 7) | cells("kg_fixed", 9))
    >>> h4a(cube, design_of(cube)).values.values.round(6)
    array([20.])
    """
    notes, graph = ratios(cube, "notes", design), ratios(cube, "kg_fixed", design)
    if not notes or not _any_defined(notes) or not _any_defined(graph):
        return None
    parts = [
        (label, subtract(_loss_pp(of_notes), _loss_pp(of_graph)))
        for (label, of_notes), (_, of_graph) in zip(notes, graph, strict=True)
    ]
    values = mean_of([part for _, part in parts])
    words = "the writer-swap penalty of notes exceeds that of the fixed-schema graph"
    return Contrast("H4a", words, values, tuple(parts))


def h2(cube: Cube, design: Design) -> Contrast | None:
    """H2: ``100 · mean over readers of (a_full − a_mixed)``.

    None where no reader has a mixed index; undefined in a history where a planned reader is.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, row "H2".

    Examples
    --------
    >>> cube = Cube.of(
    ...     {
    ...         Cell("rag", reader="A", index="full"): {"h": [1, 1, 1, 0]},
    ...         Cell("rag", reader="A", index="mixed"): {"h": [1, 1, 0, 0]},
    ...     }
    ... )
    >>> h2(cube, design_of(cube)).values.values
    array([25.])
    """
    parts = [
        (
            reader,
            difference(index_counts(cube, reader, "full"), index_counts(cube, reader, "mixed")),
        )
        for reader in design.readers
    ]
    return _mean_contrast("H2", "a mixed index is less accurate than a full one", parts)


def h7a(cube: Cube, design: Design) -> Contrast | None:
    """H7a: ``100 · mean over direction × rung of (a_raw − a_store)``, notes repaired both ways.

    None where no direction and rung has both; undefined in a history where one of the cells is.

    Notes
    -----
    Source: the paper, section 3.5; statistics.md, row "H7a".

    Examples
    --------
    >>> cube = Cube.of(
    ...     {
    ...         Cell("notes", "", "A", "B", repair="notes_raw", rung=1): {"h": [1, 1, 1, 0]},
    ...         Cell("notes", "", "A", "B", repair="notes_store", rung=1): {"h": [1, 0, 0, 0]},
    ...     }
    ... )
    >>> h7a(cube, design_of(cube)).values.values
    array([50.])
    """
    parts = []
    for old, new in design.repair_directions:
        by_rung = [
            difference(
                _repair(cube, old, new, "notes_raw", r), _repair(cube, old, new, "notes_store", r)
            )
            for r in design.rungs
        ]
        if by_rung:
            parts.append((f"{old} → {new}", mean_of(by_rung)))
    words = "repair from the raw history is more accurate than from the store, at equal budgets"
    return _mean_contrast("H7a", words, parts)


def _mean_contrast(
    key: str, words: str, parts: Sequence[tuple[str, PerHistory]]
) -> Contrast | None:
    if not parts or not _any_defined(parts):
        return None
    in_pp = tuple((label, part.scaled(100)) for label, part in parts)
    return Contrast(key, words, mean_of([part for _, part in in_pp]), in_pp)


def _any_defined(parts: Sequence[tuple[str, PerHistory]]) -> bool:
    return any(part.defined.any() or _cells_exist(part) for _, part in parts)


def _cells_exist(part: PerHistory) -> bool:
    return any(reason != "the cell is missing" for reason in part.reasons)


def _repair(cube: Cube, old: str, new: str, method: str, rung: int) -> CellCounts:
    return cube.first(Cell("notes", "", old, new, "normal", "", method, rung))


def index_counts(cube: Cube, reader: str, index: str, name: str = "rag") -> CellCounts:
    """Counts of an index cell; missing where several embedders have one: it cannot be told.

    Examples
    --------
    >>> cells = [Cell("rag", embedder, "", "B", index="full") for embedder in ("new", "other")]
    >>> cube = Cube.of({cell: {"h": [1, 0]} for cell in cells})
    >>> index_counts(cube, "B", "full").probes  # which of the two?
    array([0])
    >>> index_counts(Cube.of({cells[0]: {"h": [1, 0]}}), "B", "full").probes
    array([2])
    """
    cells = [
        cell
        for cell in cube.first_repeats()
        if (cell.format, cell.reader, cell.index) == (name, reader, index)
        and cell.condition == "normal"
        and not cell.repair
    ]
    missing = Cell(name, "", "", reader, index=index, repeat=-1)
    return cube.counts(cells[0] if len(cells) == 1 else missing)


def subtract(minuend: PerHistory, subtrahend: PerHistory) -> PerHistory:
    """Difference of two values within each history; undefined where one of them is.

    Parameters
    ----------
    minuend, subtrahend
        Shape (n_histories,), over the same histories.

    Examples
    --------
    >>> one = CellCounts.of(["a", "b"], [4, 5], [5, 5]).accuracy()
    >>> other = CellCounts.of(["a", "b"], [3, 0], [5, 0]).accuracy()
    >>> left = subtract(one, other)
    >>> round(float(left.values[0]), 6), left.defined.tolist(), left.reasons[1]
    (0.2, [True, False], 'the cell is missing')
    """
    reasons = tuple(
        "; ".join(dict.fromkeys(filter(None, pair)))
        for pair in zip(minuend.reasons, subtrahend.reasons, strict=True)
    )
    return replace(
        minuend,
        values=minuend.values - subtrahend.values,
        defined=np.asarray(minuend.defined & subtrahend.defined),
        reasons=reasons,
    )


CONTRASTS: dict[str, Callable[[Cube, Design], Contrast | None]] = {
    "H1": h1,
    "H2": h2,
    "H4a": h4a,
    "H7a": h7a,
}
