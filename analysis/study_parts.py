"""The further pages of a study: their addresses, names and makers, in the order of the menu."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis import (
    gap_view,
    gates_view,
    loss_view,
    paper_view,
    planner_view,
    repair_view,
    screening_view,
    swap_view,
    tests_view,
)
from analysis.kept import Shelf, fingerprint, has_ended
from analysis.page_parts import Asked, PartPage, labelled

Make = Callable[[Asked], PartPage]


@dataclass(frozen=True, slots=True)
class Part:
    """One page: the end of its address, its name, who makes it, and when it has something to show.

    `needs` is the part of the report that it shows; '' where it always has something to say.
    `held`: made of the report alone and of so many rows that it is kept for the next request.
    """

    slug: str
    name: str
    make: Make
    needs: str = ""
    held: bool = False


PARTS = (
    Part("swap", "Swap deltas", swap_view.build, "directions"),
    Part("indexes", "Mixed-index gap", gap_view.build, "embedding_upgrade"),
    Part("loss", "Loss by stage", loss_view.build, "loss_decomposition"),
    Part("tests", "Tests", tests_view.build, "planned_tests"),
    Part("repair", "Repair", repair_view.build, "repair"),
    Part("screening", "Screening", screening_view.build, "screening", held=True),
    Part("gates", "Gates and noise", gates_view.build),
    Part("planner", "Planner", planner_view.build),
    Part("paper", "Beside the paper", paper_view.build),
)
BY_SLUG: Mapping[str, Part] = {part.slug: part for part in PARTS}


def offered(report: Mapping[str, Any]) -> list[Part]:
    """The pages that have something to show for this report."""
    return [part for part in PARTS if not part.needs or report.get(part.needs)]


# Names in an address that order or cut a page, and do not change what it is made of.
ARRANGING = ("sort", "csv")
MADE = Shelf(16, large=True)


def made(part: Part, asked: Asked) -> PartPage:
    """Return a page with its labels; a held one is made once for each choice of filters."""
    if not (part.held and has_ended(asked.study)):
        return labelled(part.make(asked), asked.report)
    query = {
        name: value
        for name, value in asked.query.items()
        if name not in ARRANGING and not name.endswith("_page")
    }
    page: PartPage = MADE.get(
        (asked.study.pk, part.slug, repr(sorted(query.items()))),
        fingerprint(asked.study),
        lambda: labelled(part.make(asked), asked.report),
    )
    return page
