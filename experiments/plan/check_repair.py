"""What a repair asks of the rest of its plan."""

from collections.abc import Iterator

from experiments.plan.check_lists import repeated, unknown
from experiments.plan.problems import Location, Problem
from experiments.plan.repair import RAG, embedders_of, repaired_formats
from experiments.plan.schema import StudyPlan
from stores.formats.repairing import METHODS, NOTES_RAW, NOTES_STORE

AT: Location = ("tests", "repair")


def check_repair(plan: StudyPlan) -> Iterator[Problem]:
    """Return what is wrong with the settings of a repair; nothing without one."""
    settings = plan.tests.repair
    if settings is None:
        return
    if len(plan.models) < 2:
        yield Problem(("models",), "a repair needs two models, an old one and a new one")
    yield from repeated(settings.methods, (*AT, "methods"), "the method", "")
    if not repaired_formats(plan):
        needed = " or ".join(dict.fromkeys(METHODS[method] for method in settings.methods))
        yield Problem(("formats",), "the repair's methods repair none of the formats", needed)
    if list(settings.rungs) != sorted(set(settings.rungs)):
        yield Problem((*AT, "rungs"), "the allowances do not rise", "such as [256, 512, 1024]")
    if settings.repairer is not None:
        known = [model.key for model in plan.models]
        yield from unknown(settings.repairer, known, (*AT, "repairer"), "the model")
    if RAG in repaired_formats(plan):
        yield from _embedders(plan)


def _embedders(plan: StudyPlan) -> Iterator[Problem]:
    known = [embedder.key for embedder in plan.embedders]
    for name, key in zip(("old_embedder", "new_embedder"), embedders_of(plan), strict=True):
        if not key:
            yield Problem(
                (*AT, name),
                "rag_reembed does not know this embedder",
                "a key of embedders, or the test embedding_upgrade",
                "Or name the other methods alone under methods",
            )
        else:
            yield from unknown(key, known, (*AT, name), "the embedder")
    old, new = embedders_of(plan)
    if old and old == new:
        yield Problem((*AT, "new_embedder"), f"rag_reembed leads from {old!r} to itself")


def misses_methods(plan: StudyPlan) -> str:
    """Say what H7a lacks in this plan; '' if nothing.

    Examples
    --------
    The sentence goes on from "the contrast H7a …".
    """
    settings = plan.tests.repair
    if settings is None:
        return "needs the test repair"
    missing = [name for name in (NOTES_RAW, NOTES_STORE) if name not in settings.methods]
    return f"needs the method {missing[0]!r}" if missing else ""
