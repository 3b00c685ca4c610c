"""Evaluations under a condition: whether a store is read, and what is shown in its place."""

from collections.abc import Sequence

from experiments.models import Evaluation
from experiments.plan.schema import StudyPlan
from stores.errors import InvalidInputError
from stores.formats.base import Reading
from stores.formats.conditions import no_memory, raw_evidence, stored_evidence
from stores.formats.corruption import dose_of
from stores.formats.formats import FORMATS
from stores.workload.types import History, Probe

# Nothing is read from a store: what is shown follows from the history alone.
WITHOUT_STORE = ("raw_evidence", "no_memory")
# A store is read as its format reads it; what differs is the store.
READ_NORMALLY = ("normal", "style_rewrite")


def check_condition(condition: str) -> None:
    """Raise InvalidInputError for a condition that nobody defined."""
    known = (*WITHOUT_STORE, *READ_NORMALLY, "stored_evidence")
    if condition not in known and dose_of(condition) is None:
        raise InvalidInputError(f"condition {condition!r} is not known to this version")


def reads_normally(evaluation: Evaluation) -> bool:
    """Whether the store is read as its format reads it, retrieval included."""
    return evaluation.condition in READ_NORMALLY or dose_of(evaluation.condition) is not None


def readings_without_store(
    evaluation: Evaluation, plan: StudyPlan, history: History, probes: Sequence[Probe]
) -> list[Reading]:
    """Return the readings of a cell that all formats and writers of its reader share."""
    if evaluation.condition == "raw_evidence":
        return raw_evidence(history, probes, prompts=plan.prompts)
    return no_memory(probes, prompts=plan.prompts)


def stored_readings(
    evaluation: Evaluation,
    plan: StudyPlan,
    content: bytes,
    history: History,
    probes: Sequence[Probe],
) -> list[Reading]:
    """Return the readings that show the exact stored items of each probe's evidence."""
    return stored_evidence(
        FORMATS[evaluation.format],
        content,
        history,
        probes,
        prompts=plan.prompts,
        code_pattern=plan.scoring.code_pattern,
    )
