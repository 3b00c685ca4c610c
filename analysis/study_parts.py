"""The further pages of a study: their addresses, names and makers, in the order of the menu."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from analysis import (
    gates_view,
    loss_view,
    paper_view,
    planner_view,
    repair_view,
    screening_view,
    swap_view,
    tests_view,
)
from analysis.page_parts import Asked, PartPage

Make = Callable[[Asked], PartPage]


@dataclass(frozen=True, slots=True)
class Part:
    """One page: the end of its address, its name, who makes it, and when it has something to show.

    `needs` is the part of the report that it shows; '' where it always has something to say.
    """

    slug: str
    name: str
    make: Make
    needs: str = ""


PARTS = (
    Part("swap", "Swap deltas", swap_view.build, "directions"),
    Part("loss", "Loss by stage", loss_view.build, "loss_decomposition"),
    Part("tests", "Tests", tests_view.build, "planned_tests"),
    Part("repair", "Repair", repair_view.build, "repair"),
    Part("screening", "Screening", screening_view.build, "screening"),
    Part("gates", "Gates and noise", gates_view.build),
    Part("planner", "Planner", planner_view.build),
    Part("paper", "Beside the paper", paper_view.build),
)
BY_SLUG: Mapping[str, Part] = {part.slug: part for part in PARTS}


def offered(report: Mapping[str, Any]) -> list[Part]:
    """The pages that have something to show for this report."""
    return [part for part in PARTS if not part.needs or report.get(part.needs)]
