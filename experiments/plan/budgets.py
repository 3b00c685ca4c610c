"""A plan's budgets in the form in which the memory formats take them."""

from experiments.plan.schema import StudyPlan
from stores.formats.base import WriteBudget


def write_budget(plan: StudyPlan) -> WriteBudget:
    """Return the allowances that every writer of this study gets, and the plan's seed."""
    budgets = plan.budgets
    return WriteBudget(
        writer_output_tokens=budgets.writer_output_tokens,
        notes_kib=budgets.notes_kib,
        events_per_window=budgets.events_per_window,
        events_per_claim_window=budgets.events_per_claim_window,
        chunk_chars=budgets.chunk_chars,
        top_k=budgets.top_k,
        temperature=budgets.writer_temperature,
        seed=plan.seed,
    )
