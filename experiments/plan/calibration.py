"""The study that calibrates another one: its gates and spread, on histories that never count."""

from experiments.plan.schema import Gates, StudyPlan, Tests
from stores.errors import InvalidInputError
from stores.formats.repairing import NOTES_RAW, NOTES_STORE

# Contrast → the test whose cells give its spread.
SPREAD_FROM = {
    "H1": "writer_swap",
    "H4a": "writer_swap",
    "H2": "embedding_upgrade",
    "H7a": "repair",
}
# What is changed in a test that is run for its contrast alone.
ALONE: dict[str, dict[str, object]] = {
    "writer_swap": {"noise_repeats": 0},
    "embedding_upgrade": {"noise_repeats": 0},
    "repair": {"methods": (NOTES_RAW, NOTES_STORE)},
}
SUFFIX = "-calibration"


def calibration_key(key: str) -> str:
    """Return the key of the study that calibrates the study with this key."""
    return f"{key[: 80 - len(SUFFIX)]}{SUFFIX}"


def calibration_plan(plan: StudyPlan) -> StudyPlan:
    """Return the plan that runs a study's gates on its calibration histories.

    It keeps models, formats, prompts, budgets and what follows from a gate. Of the tests it keeps
    those whose contrasts the plan names (without any: the writer swap), so that the spread across
    histories is known before the study is sized.

    Raises
    ------
    InvalidInputError
        The plan names single histories, which have no calibration ones, or no model that reads.
    """
    if plan.histories.keys:
        raise InvalidInputError(
            "single histories have no calibration histories",
            where="histories.keys", expected="a preset or a collection",
        )  # fmt: skip
    if not plan.models:
        raise InvalidInputError("there is no reader whose gates could be run", where="models")
    contrasts = tuple(
        contrast
        for contrast in plan.analysis.contrasts
        if getattr(plan.tests, SPREAD_FROM.get(contrast.key, ""), None) is not None
    )
    wanted = {SPREAD_FROM[contrast.key] for contrast in contrasts} or {"writer_swap"}
    tests: dict[str, object] = {"gates": plan.tests.gates or Gates()}
    for name in sorted(wanted):
        settings = getattr(plan.tests, name)
        if settings is not None:
            tests[name] = settings.model_copy(update=ALONE[name])
    return plan.model_copy(
        update={
            "key": calibration_key(plan.key),
            "title": f"{plan.title[:180]} (calibration)",
            "histories": plan.histories.model_copy(update={"split": "calibration"}),
            "tests": Tests.model_validate(tests),
            "analysis": plan.analysis.model_copy(update={"contrasts": contrasts}),
        }
    )
