"""Tables of many rows: put in order where the rows lie, looked up page by page, downloaded whole.

They look like a `PageTable` to a page: the same columns, addresses and downloads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from django.db.models import Case, F, QuerySet, Value, When
from django.db.models.functions import Lower, NullIf

from analysis.page_tables import Column, Row, cells_of, csv_lines, order_asked
from analysis.page_tables import Value as Shown

PAGE_SIZE, BATCH = 100, 1000
# Rows as they lie: a query, or a sequence that looks its parts up.
Rows = QuerySet[Any] | Sequence[Any]
# Puts rows in the order of a column, downwards or not; what is undefined last.
Sort = Callable[[str, bool], Rows]
# The rows of a table, made of some objects at once: no query for each of them.
Write = Callable[[Sequence[Any]], Iterable[Row]]
Keys = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class LongTable:
    """A table of many rows.

    Attributes
    ----------
    found
        What its rows are made of.
    sort
        Puts `found` in another order.
    write
        Makes rows of some of `found`; all rows have the same further columns in a download.
    page_name
        What counts its pages in an address.
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    found: Rows
    sort: Sort
    write: Write
    page_name: str = "page"
    page_size: int = PAGE_SIZE
    sorted_by: str = ""
    descending: bool = False
    labels: str = ""

    def in_order(self, sort: str) -> "LongTable":
        """Return the table as `table.column` or `-table.column` wants it; what is undefined last.

        An order for another table, or for a column that there is not, changes nothing.
        """
        asked = order_asked(sort, self.key, self.columns)
        if asked is None:
            return self
        key, descending = asked
        found = self.sort(key, descending)
        return replace(self, found=found, sorted_by=key, descending=descending)

    def cells_of(self, found: Sequence[Any]) -> list[list[tuple[Column, Shown]]]:
        """Row by row, each column with its value, of some of what was found."""
        return cells_of(self.columns, self.write(found))

    def csv_lines(self) -> Iterator[str]:
        """Write every row with full precision, a batch at a time."""
        batches = self._batches()
        first = list(self.write(next(batches, [])))
        yield from csv_lines(self.columns, first, self._rows(first, batches), self.labels)

    def _rows(self, first: Sequence[Row], batches: Iterator[list[Any]]) -> Iterator[Row]:
        yield from first
        for batch in batches:
            yield from self.write(batch)

    def _batches(self) -> Iterator[list[Any]]:
        found = self.found
        each = iter(found.iterator(BATCH) if isinstance(found, QuerySet) else found)
        while batch := list(islice(each, BATCH)):
            yield batch


def sort_query(found: QuerySet[Any], keys: Keys, *, then: Sequence[str]) -> Sort:
    """Sort in the database, by nothing but `keys`: column → what it is sorted by; ties by `then`.

    A name stands for a column of the database, an expression for itself. Only named columns are
    ever asked for: `LongTable` knows no others.
    """

    def sort(key: str, descending: bool) -> QuerySet[Any]:
        by = [F(one) if isinstance(one, str) else one for one in keys[key]]
        ends = [one.desc(nulls_last=True) if descending else one.asc(nulls_last=True) for one in by]
        return found.order_by(*ends, *then)

    return sort


def text_of(name: str) -> Any:
    """A text without regard to capitals; an empty one counts as undefined."""
    return NullIf(Lower(name), Value(""))


def words_for(name: str, words: Mapping[str, str]) -> Any:
    """What people call the value of a column, as the page shows it."""
    cases = [When(**{name: value}, then=Value(shown.casefold())) for value, shown in words.items()]
    return Case(*cases, default=text_of(name))
