"""Pages of a long list of answers, without sorting all of it for each page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from experiments.models import Answer


class AnswersByHistory(Sequence[Answer]):
    """Answers sorted by history first: a page needs only the histories that it lies in.

    `counts` has one row per history, in the order of the answers, as `right_by_history` gives it.
    """

    def __init__(self, found: QuerySet[Answer], counts: Sequence[Mapping[str, Any]]) -> None:
        self.found = found
        self.sizes = [(row["attempt__evaluation__history"], row["n_answers"]) for row in counts]

    def __len__(self) -> int:
        return sum(size for _, size in self.sizes)

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, slice):
            return self[at : at + 1][0]
        first, last, _ = at.indices(len(self))
        touched, begin, skipped = [], 0, 0
        for history, size in self.sizes:
            if begin + size <= first:
                skipped += size
            elif begin < last:
                touched.append(history)
            begin += size
        chosen = self.found.filter(attempt__evaluation__history__in=touched)
        return list(chosen[first - skipped : last - skipped])

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.found)
