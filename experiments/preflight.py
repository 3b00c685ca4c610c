"""What is checked before any model call counts: each check with what was expected and found.

Pure: everything it looks at is an argument. `experiments.services.launch` supplies it.
"""

from collections.abc import Mapping, Sequence

from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.plan.specs import Expansion
from experiments.preflight_models import check_embedder, check_model
from experiments.preflight_spaces import check_spaces
from experiments.surroundings import Check, Surroundings
from stores.counting import count_of
from stores.formats.base import MemoryFormat
from stores.workload.types import History

MEBIBYTE = 1024 * 1024
# Room that a study needs beside its stores: answers, calls, and what the database writes ahead.
BYTES_OF_AN_EVALUATION = 128 * 1024


def preflight(
    plan: StudyPlan,
    histories: Sequence[History],
    expansions: Mapping[str, Expansion],
    *,
    surroundings: Surroundings,
    formats: Mapping[str, MemoryFormat],
) -> list[Check]:
    """Return every check of a plan; nothing is raised for what the checks find."""
    checks = [*_prices(plan), *_keys(plan, surroundings.environ)]
    checks.append(_disk(plan, histories, expansions, surroundings.free_bytes))
    checks += _formats(plan, histories, expansions)
    for model in plan.models:
        checks += check_model(plan, model, histories, surroundings, formats)
    for embedder in plan.embedders if "rag" in plan.formats else ():
        checks += check_embedder(embedder, surroundings)
    return [*checks, *check_spaces(plan, histories, surroundings)]


def refusal(checks: Sequence[Check]) -> str:
    """Say in words which checks failed, with their numbers; '' where none did."""
    failed = [check for check in checks if not check.ok]
    return "; ".join(
        f"{check.name}{f' ({check.subject})' if check.subject else ''}: "
        f"expected {check.expected}, found {check.found}{f' ({check.hint})' if check.hint else ''}"
        for check in failed
    )


def _parts(plan: StudyPlan) -> list[Model | Embedder]:
    return [*plan.models, *plan.embedders]


def _prices(plan: StudyPlan) -> list[Check]:
    """Every price is written in the plan; zero is a price, silence is none."""
    checks = []
    for part in _parts(plan):
        price, stated = part.price, "price" in part.model_fields_set
        found = ", ".join(f"{name} {value:g}" for name, value in price if value) or "zero"
        ok = stated or part.engine == "scripted"
        checks.append(
            Check(
                "price",
                "stated in the plan",
                found if ok else "nothing",
                ok,
                part.key,
                "" if ok else "write price: {} for zero",
            )
        )
    return checks


def _keys(plan: StudyPlan, environ: Mapping[str, str]) -> list[Check]:
    return [
        Check(
            "API key",
            f"in the environment variable {part.api_key_env}",
            "a value" if environ.get(part.api_key_env) else "no value",
            bool(environ.get(part.api_key_env)),
            part.key,
        )
        for part in _parts(plan)
        if part.api_key_env is not None
    ]


def _disk(
    plan: StudyPlan,
    histories: Sequence[History],
    expansions: Mapping[str, Expansion],
    free_bytes: int,
) -> Check:
    """The most that all stores and answers can take."""
    texts = {h.key: sum(len(event.text.encode()) for event in h.events) for h in histories}
    needed = 0
    for expansion in expansions.values():
        for store in expansion.stores:
            # A store is its history's text with what belongs to it, or written text up to the cap.
            needed += 3 * texts[store.history] + (
                plan.budgets.notes_kib * 1024 if store.writer else 0
            )
        needed += BYTES_OF_AN_EVALUATION * len(expansion.evaluations)
    return Check(
        "free disk",
        f"at least {needed / MEBIBYTE:,.0f} MiB",
        f"{free_bytes / MEBIBYTE:,.0f} MiB",
        free_bytes >= needed,
    )


def _formats(
    plan: StudyPlan, histories: Sequence[History], expansions: Mapping[str, Expansion]
) -> list[Check]:
    """Which formats apply to how many histories: for information, never a refusal."""
    checks = []
    left_out = [left for expansion in expansions.values() for left in expansion.left_out]
    for name in plan.formats:
        reasons = {left.history: left.reason for left in left_out if left.format == name}
        kept = len(histories) - len(reasons)
        found = f"applies to {kept} of {count_of(len(histories), 'history')}"
        if reasons:
            found += f"; left out: {'; '.join(sorted(set(reasons.values())))}"
        checks.append(Check("format", "known which histories it applies to", found, True, name))
    return checks
