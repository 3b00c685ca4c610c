"""Tables of a page: sorted by the address, shown with few digits, downloaded with all of them."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from analysis.planning import UNPLANNED
from analysis.words import points

Raw = str | float | int | None
Write = Callable[[float], str]
MINUS = "−"
LONG = 24


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in the download, its title with the unit, and whether it holds numbers."""

    key: str
    title: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """What stands in a cell.

    Attributes
    ----------
    raw
        The full value, for sorting and for the download; None: there is none.
    text
        As people read it, with its unit.
    note
        A second line: the interval, or why there is no value.
    url
        Where it leads: the answers behind it.
    more
        Further columns of the download, by the end of their name.
    css
        The style of the text, where it is a label or a quotation.
    links
        Several links in place of the text, as text and address.
    """

    raw: Raw
    text: str
    note: str = ""
    url: str = ""
    more: Mapping[str, Raw] = field(default_factory=dict)
    css: str = ""
    links: tuple[tuple[str, str], ...] = ()

    @property
    def is_long(self) -> bool:
        """Whether its column should not be narrow."""
        return len(self.text) > LONG or len(self.note) > LONG


Row = Mapping[str, Value]
PLANNED = Column("planned", "Planned")
NOTHING = Value(None, "")


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of a page; `labels` go into every row of its download."""

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    sorted_by: str = ""
    descending: bool = False
    labels: str = ""

    @property
    def page_name(self) -> str:
        """What counts the pages of this table in an address."""
        return f"{self.key}_page"

    @property
    def cells(self) -> list[list[tuple[Column, Value]]]:
        """Row by row, each column with its value."""
        return cells_of(self.columns, self.rows)

    def in_order(self, sort: str) -> "PageTable":
        """Return the table as `table.column` or `-table.column` wants it; what is undefined last.

        An order for another table, or for a column that there is not, changes nothing.
        """
        asked = order_asked(sort, self.key, self.columns)
        if asked is None:
            return self
        key, descending = asked
        known = [row for row in self.rows if row.get(key, NOTHING).raw is not None]
        blank = [row for row in self.rows if row.get(key, NOTHING).raw is None]
        ordered = sorted(known, key=lambda row: _order(row[key].raw), reverse=descending)
        return replace(self, rows=(*ordered, *blank), sorted_by=key, descending=descending)

    def csv_text(self) -> str:
        """The table with full precision; intervals and reasons have columns of their own."""
        return "".join(csv_lines(self.columns, self.rows, self.rows, self.labels))


def order_asked(sort: str, key: str, columns: Iterable[Column]) -> tuple[str, bool] | None:
    """The column by which an address sorts the table `key`, and whether downwards.

    None: it sorts another table, or names a column that there is not.

    Examples
    --------
    >>> order_asked("-cells.n", "cells", [Column("n", "n")])
    ('n', True)
    """
    table, _, column = sort.removeprefix("-").partition(".")
    if table != key or column not in {one.key for one in columns}:
        return None
    return column, sort.startswith("-")


def cells_of(columns: Sequence[Column], rows: Iterable[Row]) -> list[list[tuple[Column, Value]]]:
    """Row by row, each column with its value."""
    return [[(c, row.get(c.key, NOTHING)) for c in columns] for row in rows]


def csv_lines(
    columns: Sequence[Column], like: Iterable[Row], rows: Iterable[Row], labels: str = ""
) -> Iterator[str]:
    """Write a download line by line, the names first; `like`: rows with every further column."""
    names = _names(columns, list(like))
    last = [labels] if labels else []
    head = [_harmless(f"{key}_{more}" if more else key) for key, more in names]
    yield _csv_line(head + ["labels"] * len(last))
    for row in rows:
        yield _csv_line([_csv(row.get(key, NOTHING), more) for key, more in names] + last)


def _names(columns: Sequence[Column], rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Every column of the download: (column, end of the name, or '')."""
    names = []
    for column in columns:
        names.append((column.key, ""))
        ends = dict.fromkeys(end for row in rows for end in row.get(column.key, NOTHING).more)
        names += [(column.key, end) for end in ends]
    return names


def _csv_line(values: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(values)
    return out.getvalue()


def _order(raw: Raw) -> tuple[int, float, str]:
    return (0, float(raw), "") if isinstance(raw, (int, float)) else (1, 0.0, str(raw).casefold())


# What a spreadsheet would take for a formula, at the beginning of a text.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def _csv(value: Value, more: str) -> str:
    raw = value.more.get(more) if more else value.raw
    if raw is None:
        return ""
    return _harmless(raw) if isinstance(raw, str) else repr(raw)


def _harmless(words: str) -> str:
    return f"'{words}" if words.startswith(FORMULA_SIGNS) else words


def text(value: str, *, note: str = "", url: str = "", raw: Raw = None) -> Value:
    """A text; `raw` where it stands for a number that decides the order."""
    return Value(value if raw is None else raw, value, note, url)


def label(raw: Raw, words: str, css: str = "", *, note: str = "") -> Value:
    """A short text in a frame: `css` is good, bad, warn, accent or nothing."""
    return Value(raw, words, note, css=f"label {css}".rstrip())


def shortened(words: str, chars: int) -> str:
    """A text as one of many on a page: its first `chars` characters."""
    return words if len(words) <= chars else f"{words[: chars - 1]}…"


def code(words: str, chars: int) -> Value:
    """A text as it was written, such as the right answer; a short one stays in one line."""
    css = "code" if len(words) > LONG else "code nowrap"
    return Value(words, shortened(words, chars), css=css)


def links(pairs: Sequence[tuple[str, str]]) -> Value:
    """Several links, as text and address; a dash where there is none."""
    joined = ", ".join(name for name, _ in pairs)
    return Value(joined or None, joined or "–", links=tuple(pairs))


def planned(entry: Mapping[str, Any]) -> Value:
    """Whether the plan named an entry of a report: `yes`, or the word that stays with it."""
    return text("yes" if entry.get("planned") else UNPLANNED)


def count(number: int, *, url: str = "", note: str = "") -> Value:
    """A whole number."""
    return Value(number, f"{number:,}", note, url)


def number(figure: Mapping[str, Any] | float | None, write: Write, *, url: str = "") -> Value:
    """A figure `{value, status, reason}`, or a plain number; ∞ where it cannot be reached."""
    if figure is None:
        return NOTHING
    if not isinstance(figure, Mapping):
        return Value(float(figure), write(float(figure)), "", url)
    if figure.get("value") is not None:
        return Value(figure["value"], write(figure["value"]), "", url, {"status": "ok"})
    status = str(figure.get("status") or "undefined")
    sign = "∞" if status == "unreachable" else status
    return Value(None, sign, str(figure.get("reason") or ""), url, {"status": status})


def estimate(entry: Mapping[str, Any], write: Write, *, url: str = "") -> Value:
    """An estimate with its 95 % interval below it, and n in the download."""
    shown = number(entry, write, url=url)
    interval = entry.get("interval") or {}
    low, high = entry.get("low", interval.get("low")), entry.get("high", interval.get("high"))
    note = shown.note
    if shown.raw is not None:
        note = f"{write(low)} to {write(high)}" if low is not None else "no interval"
    more = {**shown.more, "low": low, "high": high, "n_histories": entry.get("n_histories")}
    return Value(shown.raw, shown.text, note, url, more)


def plain(value: float, digits: int) -> str:
    """A number with a true minus, and none before a zero.

    Examples
    --------
    >>> plain(-1.25, 1), plain(-0.04, 1)
    ('−1.2', '0.0')
    """
    written = f"{value:.{digits}f}"
    return written.replace("-", "" if float(written) == 0 else MINUS)


def pp(value: float) -> str:
    """Percentage points with their sign."""
    return f"{points(value)} pp"


def percent(value: float) -> str:
    """A fraction as a percentage."""
    return f"{plain(100 * value, 1)} %"


def ratio(value: float) -> str:
    """A ratio."""
    return plain(value, 2)


def fraction(value: float) -> str:
    """A fraction with three digits."""
    return plain(value, 3)


def whole_percent(value: float) -> str:
    """A share without decimals."""
    return f"{100 * value:.0f} %".replace("-", MINUS)


def change(value: float) -> str:
    """A difference of two fractions, with its sign; a zero has none.

    Examples
    --------
    >>> change(-0.25), change(0.0004)
    ('−0.250', '0.000')
    """
    written = f"{value:+.3f}"
    return "0.000" if float(written) == 0 else written.replace("-", MINUS)


def p_value(value: float) -> str:
    """A p-value; a very small one as its bound."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def dollars(value: float) -> str:
    """US dollars; small amounts keep the digits that they have."""
    if value == 0:
        return "$0"
    if value >= 0.1:
        return f"${value:.2f}"
    return f"${value:.3f}" if value >= 0.001 else f"${value:.6f}".rstrip("0")
