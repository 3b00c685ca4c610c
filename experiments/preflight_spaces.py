"""Whether the two embedders of an upgrade or a repair make two spaces: on the study's own texts."""

from collections.abc import Sequence

from experiments.plan.budgets import write_budget
from experiments.plan.repair import RAG, embedders_of, repaired_formats
from experiments.plan.schema import StudyPlan
from experiments.surroundings import Check, Surroundings
from stores.errors import InvalidInputError
from stores.formats.rag import cut_chunks
from stores.roles import EngineError
from stores.vectors.spaces import SAME_SPACE, compare_spaces, spread_out
from stores.workload.types import History

NAME = "embedding spaces"
VECTOR_SIZE = "vector size"
# Enough to tell one space from two, in a second or two; the study's page compares all texts.
COMPARED_TEXTS = 32


def check_spaces(
    plan: StudyPlan, histories: Sequence[History], surroundings: Surroundings
) -> list[Check]:
    """Compare the embedders of an upgrade, or of a repair that embeds anew, on the same texts.

    One space of vectors refuses the study. Vectors of different sizes are no reason to refuse: what
    would mix them is left out.
    """
    return [_check(plan, pair, histories, surroundings) for pair in _pairs(plan)]


def _pairs(plan: StudyPlan) -> list[tuple[str, str]]:
    """Every pair of an old and a new embedder that the plan names, each once."""
    upgrade, pairs = plan.tests.embedding_upgrade, []
    if upgrade is not None:
        pairs.append((upgrade.old, upgrade.new))
    if RAG in repaired_formats(plan):
        pairs.append(embedders_of(plan))
    return list(dict.fromkeys(pairs))


def _check(
    plan: StudyPlan,
    pair: tuple[str, str],
    histories: Sequence[History],
    surroundings: Surroundings,
) -> Check:
    subject = f"{pair[0]} → {pair[1]}"
    expected = f"two spaces: a mean cosine below {SAME_SPACE}"
    budget = write_budget(plan)
    chunks = [chunk["text"] for history in histories for chunk in cut_chunks(history, budget)]
    texts = spread_out(chunks, COMPARED_TEXTS)
    try:
        old, new = (surroundings.embedder(plan.embedder(key)) for key in pair)
        if old is None or new is None:
            return Check(NAME, expected, _not_here(plan, pair), True, subject)
        if not texts:
            return Check(NAME, expected, "no text to compare", False, subject)
        compared = compare_spaces(old.embed_passages(texts), new.embed_passages(texts))
    except (EngineError, InvalidInputError) as error:
        return Check(NAME, expected, str(error).rstrip("."), False, subject)
    hint = "there is nothing to migrate; name another embedder" if compared.one_space else ""
    return Check(NAME, expected, compared.sentence(), not compared.one_space, subject, hint)


def _not_here(plan: StudyPlan, pair: tuple[str, str]) -> str:
    upgrade = plan.tests.embedding_upgrade
    if upgrade is not None and pair == (upgrade.old, upgrade.new):
        return "to be compared by the worker, before it builds the first index of both"
    return "not compared: another process loads the embedders"


def vector_sizes(checks: Sequence[Check]) -> dict[str, int]:
    """Return the dimension of each embedder that was opened by the checks, by its key."""
    return {
        check.subject: int(check.found)
        for check in checks
        if check.name == VECTOR_SIZE and check.found.isdecimal()
    }
