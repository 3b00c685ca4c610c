"""From a form or a file to a launched study, with every problem beside its field."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

from experiments.engines.catalogue import Catalogue
from experiments.models import Study
from experiments.plan.plan import load_plan_text, parse_plan, plan_value
from experiments.plan.problems import InvalidPlanError
from experiments.plan.schema import StudyPlan
from experiments.plan.source import MAX_PLAN_BYTES
from experiments.preflight import refusal
from experiments.services.examine import examine_study
from experiments.services.launch import RefusedAtPreflightError, find_launched, launch_study
from experiments.surroundings import Check
from memport_site.accounts.models import User, Workspace
from stores.errors import InvalidInputError
from stores.formats.repairing import METHODS, RAG_REEMBED
from stores.models import History
from stores.roles import EngineError

PRESETS = {"tiny": "6 histories of about 12 events", "small": "8 histories of about 40 events"}
# Where a problem of the plan is shown in the form: the longest beginning that fits.
FIELD_OF = {
    "key": "key",
    "title": "title",
    "histories": "histories",
    "histories.seed": "seed",
    "formats": "formats",
    "models.0": "old",
    "models.1": "new",
    "models": "new",
    "embedders": "embedder",
    "embedders.1": "new_embedder",
    "tests.embedding_upgrade": "new_embedder",
    "tests.controlled_evidence": "controlled_evidence",
    "tests.repair": "repair",
    "tests": "noise_repeats",
    "budgets.context_tokens": "context_tokens",
    "analysis.margin_pp": "margin_pp",
}
NUMBERS = ("seed", "noise_repeats", "context_tokens", "margin_pp")
UPGRADE_INDEXES = ("old", "full", "mixed", "router", "dual_query", "version_filter")
# Steps of the migrated share beside its half, which is `mixed`; 100 % is `full`.
DIAL = (0, 10, 25, 75, 90)
NO_EMBEDDER = "none: the embedder stays"
FORM_DEFAULTS = {
    "key": "", "title": "", "histories": "preset:tiny", "seed": "1",
    "formats": ["lc_raw", "rag", "notes", "kg_fixed"], "old": "", "new": "", "embedder": "",
    "new_embedder": "", "dial": "", "retrieval_only": "", "gates": "", "controlled_evidence": "",
    "repair": "",
    "noise_repeats": "0", "context_tokens": "2048", "margin_pp": "5",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Launch:
    """What became of a launch: a study, or what is wrong. Then nothing was written.

    Before a person confirms, it is neither: `forecast` and every check, and the plan as text.
    """

    study: Study | None = None
    errors: Mapping[str, list[str]] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    forecast: Mapping[str, Any] = field(default_factory=dict)
    plan_text: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a select."""

    value: str
    label: str


def launch_text(
    data: bytes, *, source: str, workspace: Workspace, user: User, confirmed: bool
) -> Launch:
    """Launch the plan in a YAML or JSON text; look at it only, where nobody has confirmed."""
    if not data.strip():
        return Launch(errors={"plan": ["There is no plan: choose a file, or paste one."]})
    if len(data) > MAX_PLAN_BYTES:
        return Launch(errors={"plan": [f"The file is larger than {MAX_PLAN_BYTES:,} bytes."]})
    try:
        plan = load_plan_text(data, source=source)
    except InvalidInputError as error:
        return Launch(errors={"plan": error.sentence().splitlines()})
    return _launch(plan, workspace, user, confirmed)


def launch_values(
    values: Mapping[str, Any], *, workspace: Workspace, user: User, confirmed: bool
) -> Launch:
    """Launch the plan that the simple form describes; see `launch_text`."""
    if problems := _not_numbers(values):
        return Launch(errors=problems)
    try:
        plan = parse_plan(plan_data(values))
    except InvalidPlanError as error:
        return Launch(errors=by_form_field(error.by_field()))
    return _launch(plan, workspace, user, confirmed)


def _launch(plan: StudyPlan, workspace: Workspace, user: User, confirmed: bool) -> Launch:
    try:
        if not confirmed:
            return _look(plan, workspace)
        return Launch(study=launch_study(plan=plan, workspace=workspace, user=user))
    except RefusedAtPreflightError as error:
        return Launch(errors={"": [error.sentence()]}, checks=error.checks)
    except (InvalidInputError, EngineError) as error:
        return Launch(errors={"": str(error).splitlines()})


def _look(plan: StudyPlan, workspace: Workspace) -> Launch:
    """Check and forecast a plan that could be launched; a refusal is an error as at the launch."""
    find_launched(plan=plan, workspace=workspace)
    seen = examine_study(plan=plan, workspace=workspace)
    errors = {}
    if failed := refusal(seen.checks):
        errors = {"": [f"It would be refused at preflight: {failed}"]}
    text = json.dumps(plan_value(plan), indent=2, ensure_ascii=False)
    return Launch(
        errors=errors, checks=seen.checks, forecast=seen.forecast.as_json(), plan_text=text
    )


def _not_numbers(values: Mapping[str, Any]) -> dict[str, list[str]]:
    problems = {}
    for name in NUMBERS:
        try:
            float(values[name])
        except ValueError:
            problems[name] = [f"“{values[name]}” is not a number."]
    return problems


def plan_data(values: Mapping[str, Any]) -> dict[str, Any]:
    """The plan, as values, that the fields of the form describe.

    Its models run on this machine, so their price is stated as zero; a file can state another.
    """
    way, _, name = str(values["histories"]).partition(":")
    histories: dict[str, Any] = {way: name}
    if way == "preset":
        histories["seed"] = values["seed"]
    ranks_alone = bool(values["retrieval_only"])
    return {
        "key": values["key"],
        "title": values["title"],
        "histories": histories,
        "formats": ["rag"] if ranks_alone else values["formats"],
        "models": [] if ranks_alone else [
            {"key": key, "engine": "llama_cpp", "catalogue": key, "price": {}}
            for key in (values["old"], values["new"])
        ],
        "embedders": [
            {"key": key, "engine": "onnx", "catalogue": key, "price": {}}
            for key in dict.fromkeys((values["embedder"], values["new_embedder"]))
            if key and (ranks_alone or "rag" in values["formats"])
        ],
        "tests": _tests(values),
        "budgets": {"context_tokens": values["context_tokens"]},
        "analysis": {"margin_pp": values["margin_pp"]},
    }  # fmt: skip


def _tests(values: Mapping[str, Any]) -> dict[str, Any]:
    """The writer swap, what was ticked beside it, and the upgrade to a second embedder."""
    tests: dict[str, Any] = {}
    if not values["retrieval_only"]:
        tests |= {name: {} for name in ("gates", "controlled_evidence") if values.get(name)}
        tests["writer_swap"] = {"noise_repeats": values["noise_repeats"]}
    if values["new_embedder"] or values["retrieval_only"]:
        tests["embedding_upgrade"] = {
            "old": values["embedder"],
            "new": values["new_embedder"],
            "indexes": UPGRADE_INDEXES,
            "dial": DIAL if values.get("dial") else (),
            "retrieval_only": bool(values["retrieval_only"]),
        }
    if values.get("repair") and not values["retrieval_only"]:
        # Without a second embedder no index degrades, and there is nothing to embed anew.
        methods = [name for name in METHODS if name != RAG_REEMBED or values["new_embedder"]]
        tests["repair"] = {"methods": methods}
    return tests


def by_form_field(problems: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Move the problems of a plan to the fields of the form; the rest stands above it."""
    fields: dict[str, list[str]] = {}
    for at, messages in problems.items():
        parts = at.split(".")
        beginnings = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        name = next((FIELD_OF[start] for start in beginnings if start in FIELD_OF), "")
        shown = (
            messages if name else [f"{at}: {message}" if at else message for message in messages]
        )
        fields[name] = [*fields.get(name, []), *shown]
    return fields


def choices(workspace: Workspace) -> dict[str, list[Choice]]:
    """What can be chosen: histories that exist or can be generated, models of the catalogue."""
    catalogue = Catalogue(settings.CATALOGUE, settings.MODELS_DIR)
    kept = History.objects.filter(workspace=workspace, split=History.Split.STUDY)
    names = kept.exclude(collection="").order_by("collection").values_list("collection", flat=True)
    histories = [Choice(f"preset:{name}", f"{name}: {text}") for name, text in PRESETS.items()]
    histories += [Choice(f"collection:{name}", f"collection {name}") for name in names.distinct()]
    models: dict[str, list[Choice]] = {"chat": [], "embedding": []}
    for key in list(catalogue.keys()):
        entry = catalogue.entry(key)
        there = "" if catalogue.is_present(key) else " (not fetched yet)"
        models.setdefault(entry.kind, []).append(Choice(key, f"{entry.title}{there}"))
    return {
        "histories": histories,
        "models": models["chat"],
        "embedders": models["embedding"],
        "new_embedders": [Choice("", NO_EMBEDDER), *models["embedding"]],
    }


def defaults(offered: Mapping[str, list[Choice]]) -> dict[str, Any]:
    """What the empty form holds: the first two models, one after the other."""
    models = [choice.value for choice in offered["models"][:2]]
    return {**FORM_DEFAULTS, **dict(zip(("old", "new"), models, strict=False))}
