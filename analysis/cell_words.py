"""What a cell is called: who reads what, and under which condition, index, repair and repeat."""

from typing import Protocol

# Nobody writes the store; or no store is read at all, which holds for every writer.
NO_WRITER = ("", "*")


class CellLike(Protocol):
    """A cell of the database or of an answers table: both have these fields."""

    @property
    def writer(self) -> str:
        """Who wrote the store; of a repair the old model of its direction."""

    @property
    def reader(self) -> str:
        """Who answered; '' where the evidence was ranked alone."""

    @property
    def condition(self) -> str:
        """What the reader was shown."""

    @property
    def index(self) -> str:
        """The index of an embedding upgrade."""

    @property
    def repair(self) -> str:
        """The method of a repair."""

    @property
    def rung(self) -> int:
        """The rung of its allowance."""

    @property
    def repeat(self) -> int:
        """Which reading of the same cell."""


def extras_of(cell: CellLike) -> list[str]:
    """What sets a cell apart beside its format, writer and reader; nothing where all is usual."""
    extras = [cell.condition.replace("_", " ")] if cell.condition != "normal" else []
    extras += [f"index {cell.index}"] if cell.index else []
    if cell.repair == "fresh":
        extras += ["a fresh store"]
    elif cell.repair:
        extras += [f"repair {cell.repair}"]
    extras += [f"rung {cell.rung}"] if cell.rung else []
    return extras + ([f"repeat {cell.repeat}"] if cell.repeat else [])


def reads_inherited(cell: CellLike) -> bool:
    """Whether the reader reads what another model wrote, as it was left."""
    written = cell.writer not in NO_WRITER
    return written and cell.writer != cell.reader and cell.repair in ("", "none")


def title_of(cell: CellLike) -> str:
    """Who reads what, in words. The cell of a repair goes by its direction, old → new."""
    if not cell.reader:
        text = "ranked, nobody reads"
    elif cell.writer in NO_WRITER:
        text = f"{cell.reader} reads"
    elif cell.repair not in ("", "none"):
        text = f"{cell.reader} reads, {cell.writer} → {cell.reader}"
    elif cell.writer == cell.reader:
        text = f"{cell.reader} reads its own"
    else:
        text = f"{cell.reader} reads what {cell.writer} wrote"
    extras = extras_of(cell)
    return f"{text} ({', '.join(extras)})" if extras else text


def short_title_of(cell: CellLike) -> str:
    """The same for the head of a narrow column."""
    if not cell.reader:
        return " ".join(extras_of(cell))
    whose = ""
    if cell.repair in ("", "none") and cell.writer not in NO_WRITER:
        whose = "its own" if cell.writer == cell.reader else f"{cell.writer}’s"
    return " ".join(part for part in (f"{cell.reader} reads", whose, *extras_of(cell)) if part)
