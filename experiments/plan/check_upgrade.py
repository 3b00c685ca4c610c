"""What an embedding upgrade asks of the rest of its plan."""

from collections.abc import Iterator

from experiments.plan.check_lists import repeated, unknown
from experiments.plan.problems import Location, Problem
from experiments.plan.schema import EmbeddingUpgrade, StudyPlan

AT: Location = ("tests", "embedding_upgrade")


def check_upgrade(plan: StudyPlan) -> Iterator[Problem]:
    """Return what is wrong with the settings of an embedding upgrade; nothing without one."""
    upgrade = plan.tests.embedding_upgrade
    if upgrade is None:
        return
    known = [embedder.key for embedder in plan.embedders]
    for side in ("old", "new"):
        yield from unknown(getattr(upgrade, side), known, (*AT, side), "the embedder")
    if upgrade.old == upgrade.new:
        yield Problem((*AT, "new"), f"the upgrade leads from {upgrade.old!r} to itself")
    if "rag" not in plan.formats:
        what = "an embedding upgrade needs the format 'rag', which alone has vectors"
        yield Problem(("formats",), what, hint="Add it under formats")
    yield from repeated(upgrade.indexes, (*AT, "indexes"), "the index", "")
    yield from repeated(upgrade.dial, (*AT, "dial"), "the share", "")
    if not upgrade.indexes and not upgrade.dial:
        yield Problem((*AT, "indexes"), "no index is named", "old, full, mixed, router")
    yield from _readers(plan, upgrade)


def _readers(plan: StudyPlan, upgrade: EmbeddingUpgrade) -> Iterator[Problem]:
    if upgrade.retrieval_only and upgrade.noise_repeats:
        what = "ranks do not vary from repeat to repeat: a retrieval-only test has no noise repeats"
        yield Problem((*AT, "noise_repeats"), what)
    if not upgrade.retrieval_only and not plan.models:
        what = "an embedding upgrade needs at least one model that reads"
        yield Problem(("models",), what, hint="Or set tests.embedding_upgrade.retrieval_only")


def misses_cells(plan: StudyPlan) -> str:
    """Say what H2 lacks in this plan: it compares answers from `full` and `mixed`; '' if nothing.

    Examples
    --------
    The sentence goes on from "the contrast H2 …".
    """
    upgrade = plan.tests.embedding_upgrade
    if upgrade is None:
        return "needs the test embedding_upgrade"
    named = {*upgrade.indexes, *("mixed" for p in upgrade.dial if p == 50)}
    named |= {"full" for p in upgrade.dial if p == 100}
    if missing := [name for name in ("full", "mixed") if name not in named]:
        return f"needs the index {missing[0]!r}"
    if upgrade.retrieval_only:
        return "compares answers, and this upgrade is retrieval-only"
    return ""
