"""Look at a plan before its launch: its histories, its work, every check, and what it will take."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from experiments.forecast import Forecaster
from experiments.forecast_values import Forecast
from experiments.plan.embedding_upgrade import leave_out_impossible
from experiments.plan.expand import expand
from experiments.plan.plan import plan_sha256
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import Expansion
from experiments.preflight import preflight as check_plan
from experiments.preflight_spaces import vector_sizes
from experiments.services.forecasting import measuring, recent_forecast
from experiments.services.study_histories import StudyHistories, find_histories
from experiments.services.surroundings import surroundings_of
from experiments.surroundings import Check, Surroundings
from memport_site.accounts.models import Workspace
from stores.formats.formats import FORMATS


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found. `checks` is empty where none were asked for."""

    found: StudyHistories
    expansions: Mapping[str, Expansion]
    checks: tuple[Check, ...]
    forecast: Forecast


def examine_study(
    *,
    plan: StudyPlan,
    workspace: Workspace,
    preflight: bool = True,
    surroundings: Surroundings | None = None,
) -> Examination:
    """Check a plan against this machine and forecast it; writes nothing.

    Models are opened once for both. The forecast that a person has just confirmed is the one that
    the launch keeps.

    Raises
    ------
    InvalidInputError
        The plan names histories that do not exist, or has nothing to do.
    """
    found = find_histories(plan=plan, workspace=workspace)
    expansions = expand(plan, found.values)
    forecaster = Forecaster(plan, found.values, expansions, FORMATS)
    checks: list[Check] = []
    if preflight:
        with _around(plan, surroundings) as given:
            checks = _checks(plan, found, expansions, measuring(given, forecaster, plan))
    if all(check.ok for check in checks):
        expansions = leave_out_impossible(expansions, plan, vector_sizes(checks))
        forecaster.expansions = expansions
    checksums = [value.checksum() for value in found.values]
    name = f"{plan_sha256(plan)} {checksums} {preflight}"
    forecast = recent_forecast(name, forecaster)
    return Examination(found, expansions, tuple(checks), forecast)


def check_plan_here(
    *, plan: StudyPlan, workspace: Workspace, surroundings: Surroundings | None = None
) -> list[Check]:
    """Run every preflight check alone: nothing is timed and nothing is written."""
    found = find_histories(plan=plan, workspace=workspace)
    with _around(plan, surroundings) as given:
        return _checks(plan, found, expand(plan, found.values), given)


def _around(
    plan: StudyPlan, surroundings: Surroundings | None
) -> AbstractContextManager[Surroundings]:
    return nullcontext(surroundings) if surroundings is not None else surroundings_of(plan)


def _checks(
    plan: StudyPlan,
    found: StudyHistories,
    expansions: Mapping[str, Expansion],
    surroundings: Surroundings,
) -> list[Check]:
    return check_plan(plan, found.values, expansions, surroundings=surroundings, formats=FORMATS)
