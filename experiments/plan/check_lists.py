"""Checks of names in lists, which several parts of a plan share."""

from collections.abc import Iterator, Sequence

from experiments.plan.problems import Location, Problem
from experiments.plan.translate import nearest


def repeated(values: Sequence[object], at: Location, what: str, name: str) -> Iterator[Problem]:
    """One problem for each value that stands in a list a second time."""
    for n, value in enumerate(values):
        if value in values[:n]:
            place = (*at, n, name) if name else (*at, n)
            yield Problem(place, f"{what} {value!r} is given twice", hint="Keep one of them")


def unknown(key: str, known: Sequence[str], at: Location, what: str) -> Iterator[Problem]:
    """One problem where a key is none of those known, with the nearest one."""
    if key not in known:
        hint = nearest(key, known)
        yield Problem(at, f"{what} {key!r} is not in the plan", " or ".join(known), hint)
