"""Pages of a long list of answers, without sorting or carrying all of it for each page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from experiments.models import Answer

BATCH = 1000
Find = Callable[[Sequence[int]], QuerySet[Answer]]


class AnswersByHistory(Sequence[Answer]):
    """Answers sorted by history first: a page needs only the histories that it lies in.

    Attributes
    ----------
    find
        The answers of some attempts.
    attempts
        By the key of their history.
    counts
        One row per history, in the order of the answers, as `right_by_history` gives it.
    """

    def __init__(
        self, find: Find, attempts: Mapping[str, Sequence[int]], counts: Sequence[Mapping[str, Any]]
    ) -> None:
        self.find, self.attempts = find, attempts
        self.sizes = [
            (row["attempt__evaluation__history__key"], row["n_answers"]) for row in counts
        ]

    def __len__(self) -> int:
        return sum(size for _, size in self.sizes)

    def __iter__(self) -> Iterator[Answer]:
        for history, _ in self.sizes:
            yield from self.find(self.attempts[history])

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, slice):
            return self[at : at + 1][0]
        first, last, _ = at.indices(len(self))
        touched: list[int] = []
        begin = skipped = 0
        for history, size in self.sizes:
            if begin + size <= first:
                skipped += size
            elif begin < last:
                touched += self.attempts[history]
            begin += size
        return list(self.find(touched)[first - skipped : last - skipped])


class AnswersInOrder(Sequence[Answer]):
    """Answers in any other order: the database sorts their keys alone, a page reads its rows.

    `n_answers`: how many they are, known from their counts.
    """

    def __init__(self, query: QuerySet[Answer], n_answers: int) -> None:
        self.query, self.n_answers = query, n_answers

    def __len__(self) -> int:
        return self.n_answers

    def __iter__(self) -> Iterator[Answer]:
        return self.query.iterator(BATCH)

    def __getitem__(self, at: Any) -> Any:
        if not isinstance(at, slice):
            return self[at : at + 1][0]
        keys = list(self.query.values_list("pk", flat=True)[at])
        found = {answer.pk: answer for answer in self.query.filter(pk__in=keys).order_by()}
        return [found[key] for key in keys]
