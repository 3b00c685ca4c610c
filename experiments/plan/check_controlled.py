"""What controlled evidence and the gates ask of the rest of their plan."""

from collections.abc import Iterator

from experiments.plan.check_lists import repeated
from experiments.plan.controlled_evidence import DECOMPOSED
from experiments.plan.problems import Location, Problem
from experiments.plan.schema import StudyPlan


def check_controlled(plan: StudyPlan) -> Iterator[Problem]:
    """Return what is wrong with controlled evidence or the gates; nothing without them."""
    at: Location = ("tests", "controlled_evidence")
    if plan.tests.controlled_evidence is not None:
        if not any(name in plan.formats for name in DECOMPOSED):
            what = "controlled evidence decomposes the loss of notes and rag, and neither is named"
            yield Problem(("formats",), what, " or ".join(DECOMPOSED), "Add one under formats")
        if not plan.models:
            yield Problem(("models",), "controlled evidence needs a model that reads")
        if plan.tests.controlled_evidence.style_rewrite and len(plan.models) == 1:
            what = "a style rewrite needs two models: the new one rewrites the old one's notes"
            yield Problem((*at, "style_rewrite"), what, "false")
    if plan.tests.gates is not None:
        yield from repeated(plan.tests.gates.doses, ("tests", "gates", "doses"), "the dose", "")
        if not plan.models:
            yield Problem(("models",), "the gates are those of a reader, and no model is named")
