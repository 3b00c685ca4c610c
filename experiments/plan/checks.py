"""What one part of a plan asks of another: names that must be known, things that need others."""

import re
from collections.abc import Callable, Iterator

from experiments.plan.check_controlled import check_controlled
from experiments.plan.check_lists import repeated, unknown
from experiments.plan.check_repair import check_repair, misses_methods
from experiments.plan.check_upgrade import check_upgrade, misses_cells
from experiments.plan.patterns import why_not_bounded
from experiments.plan.problems import Location, Problem
from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.plan.translate import nearest
from stores.formats.prompts import prompt_versions

# Engine → the keys that it needs (one of each group) and those that it cannot use.
NEEDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "llama_cpp": (("catalogue",),),
    "openai_api": (("base_url",), ("model",)),
    "vllm_offline": (("catalogue", "model"),),
    "onnx": (("catalogue",),),
    "sentence_transformers": (("catalogue", "model"),),
    "scripted": (),
}
REFUSES: dict[str, tuple[str, ...]] = {
    "llama_cpp": ("base_url", "model", "api_key_env"),
    "openai_api": ("catalogue",),
    "vllm_offline": ("base_url", "api_key_env"),
    "onnx": ("base_url", "model", "api_key_env"),
    "sentence_transformers": ("base_url", "api_key_env"),
    "scripted": ("base_url", "api_key_env"),
}
# Contrast → the formats whose cells it is made of.
CONTRAST_FORMATS: dict[str, tuple[str, ...]] = {
    "H1": ("notes",),
    "H2": ("rag",),
    "H4a": ("notes", "kg_fixed"),
    "H7a": ("notes",),
}


def cross_check(plan: StudyPlan) -> list[Problem]:
    """Return everything that the schema alone cannot see, in the plan's order."""
    checks: list[Callable[[StudyPlan], Iterator[Problem]]] = [
        _histories,
        _formats,
        _engines,
        _directions,
        _tests,
        _budgets,
        _prompts,
        _scoring,
        _contrasts,
    ]
    return [problem for check in checks for problem in check(plan)]


def _histories(plan: StudyPlan) -> Iterator[Problem]:
    histories = plan.histories
    given = [histories.preset is not None, histories.collection is not None, bool(histories.keys)]
    if sum(given) != 1:
        what = "no histories are named" if not any(given) else "histories are named in two ways"
        yield Problem(("histories",), what, "exactly one of preset, collection, keys")
    yield from repeated(histories.keys, ("histories", "keys"), "the history", "")


def _formats(plan: StudyPlan) -> Iterator[Problem]:
    yield from repeated(plan.formats, ("formats",), "the format", "")
    if "rag" in plan.formats and not plan.embedders:
        yield Problem(
            ("formats",), "the format 'rag' needs an embedder", hint="Add one under embedders"
        )


def _engines(plan: StudyPlan) -> Iterator[Problem]:
    yield from repeated([m.key for m in plan.models], ("models",), "the model", "key")
    yield from repeated([e.key for e in plan.embedders], ("embedders",), "the embedder", "key")
    for n, model in enumerate(plan.models):
        yield from _engine(model, ("models", n))
    for n, embedder in enumerate(plan.embedders):
        yield from _engine(embedder, ("embedders", n))


def _engine(part: Model | Embedder, at: Location) -> Iterator[Problem]:
    """An engine has what it needs, and nothing that it would ignore."""
    for group in NEEDS[part.engine]:
        if not any(getattr(part, name) for name in group):
            needed = " or ".join(group)
            yield Problem((*at, "engine"), f"the engine {part.engine!r} needs the key {needed}")
    for name in REFUSES[part.engine]:
        if getattr(part, name) is not None:
            yield Problem((*at, name), f"the engine {part.engine!r} does not use {name}")
    if part.base_url is not None and not re.match(r"https?://[^\s/]+", part.base_url):
        yield Problem((*at, "base_url"), f"{part.base_url!r} is no address", "http(s)://host/v1")
    variable = part.api_key_env
    if variable is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):
        # The value is not repeated: somebody may have put the key itself here.
        yield Problem(
            (*at, "api_key_env"), "this is no name of an environment variable", "such as MY_API_KEY"
        )


def _directions(plan: StudyPlan) -> Iterator[Problem]:
    known = [model.key for model in plan.models]
    yield from repeated(plan.directions, ("directions",), "the direction", "")
    for n, (old, new) in enumerate(plan.directions):
        for side, key in enumerate((old, new)):
            yield from unknown(key, known, ("directions", n, side), "the model")
        if old == new:
            yield Problem(("directions", n), f"the direction leads from {old!r} to itself")
    if plan.directions:
        used = {key for direction in plan.directions for key in direction}
        for n, key in enumerate(known):
            if key not in used:
                yield Problem(("models", n, "key"), f"the model {key!r} is in no direction")


def _tests(plan: StudyPlan) -> Iterator[Problem]:
    named = [name for name, settings in plan.tests if settings is not None]
    if not named:
        known = " or ".join(type(plan.tests).model_fields)
        yield Problem(("tests",), "no test is named", f"{known}, with its settings or {{}}")
    yield from _writer_swap(plan)
    yield from check_upgrade(plan)
    yield from check_repair(plan)
    yield from check_controlled(plan)


def _writer_swap(plan: StudyPlan) -> Iterator[Problem]:
    swap = plan.tests.writer_swap
    if swap is None:
        return
    at: Location = ("tests", "writer_swap")
    if len(plan.models) < 2:
        yield Problem(("models",), "a writer swap needs two models, an old one and a new one")
    known = [embedder.key for embedder in plan.embedders]
    yield from repeated(swap.embedders, (*at, "embedders"), "the embedder", "")
    for n, key in enumerate(swap.embedders):
        yield from unknown(key, known, (*at, "embedders", n), "the embedder")


def _budgets(plan: StudyPlan) -> Iterator[Problem]:
    budgets = plan.budgets
    for name in ("reader_output_tokens", "writer_output_tokens"):
        kept = getattr(budgets, name) + budgets.unused_tokens
        if kept >= budgets.context_tokens:
            yield Problem(
                ("budgets", name),
                f"output and unused tokens ({kept:,}) leave no room in the context of "
                f"{budgets.context_tokens:,} tokens",
            )


def _prompts(plan: StudyPlan) -> Iterator[Problem]:
    versions = prompt_versions()
    if plan.prompts not in versions:
        what = f"there is no prompt version {plan.prompts!r}"
        yield Problem(("prompts",), what, " or ".join(versions), nearest(plan.prompts, versions))


def _scoring(plan: StudyPlan) -> Iterator[Problem]:
    if why := why_not_bounded(plan.scoring.code_pattern):
        yield Problem(("scoring", "code_pattern"), f"this pattern cannot be taken: {why}")


def _contrasts(plan: StudyPlan) -> Iterator[Problem]:
    at: Location = ("analysis", "contrasts")
    contrasts = plan.analysis.contrasts
    yield from repeated([contrast.key for contrast in contrasts], at, "the contrast", "key")
    for n, contrast in enumerate(contrasts):
        formats = CONTRAST_FORMATS[contrast.key]
        if missing := [name for name in formats if name not in plan.formats]:
            what = f"the contrast {contrast.key} needs the format {missing[0]!r}"
            yield Problem((*at, n, "key"), what, hint="Add it under formats")
        elif contrast.key == "H2" and (what := misses_cells(plan)):
            yield Problem((*at, n, "key"), f"the contrast H2 {what}")
        elif contrast.key == "H7a" and (what := misses_methods(plan)):
            yield Problem((*at, n, "key"), f"the contrast H7a {what}")
    alphas: dict[str, float] = {}
    for n, contrast in enumerate(contrasts):
        if alphas.setdefault(contrast.family, contrast.alpha) != contrast.alpha:
            what = f"the family {contrast.family!r} has two values of alpha"
            yield Problem((*at, n, "alpha"), what, hint="Holm corrects one family at one alpha")
