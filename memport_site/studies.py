"""Studies as the commands name and summarize them."""

from typing import Any

from experiments.forecast_actual import forecast_and_actual
from experiments.models import Run, Study
from experiments.plan.translate import nearest
from experiments.run_progress import progress
from memport_site.accounts.services import default_workspace
from stores.errors import InvalidInputError

# A study is as far as the run that is least far.
ORDER = (
    Run.State.RUNNING,
    Run.State.STOPPING,
    Run.State.QUEUED,
    Run.State.HELD,
    Run.State.BARRED,
    Run.State.STOPPED,
    Run.State.INCOMPLETE,
    Run.State.COMPLETE,
)


def find_study(key: str) -> Study:
    """Return the study with this key; raise InvalidInputError that names the nearest one."""
    studies = Study.objects.filter(workspace=default_workspace())
    study = studies.filter(key=key).first()
    if study is None:
        known = list(studies.values_list("key", flat=True))
        hint = nearest(key, known) or "`memport study list` shows all"
        raise InvalidInputError(f"there is no study {key!r}", hint=hint)
    return study


def study_state(study: Study) -> str:
    """The state of a study in one word: that of its run that is least far, or `imported`."""
    if study.source == Study.Source.TABLE:
        return "imported"
    states = {run.state for run in study.runs.all()}
    return next((state.value for state in ORDER if state in states), "draft")


def study_summary(study: Study, *, with_plan: bool = False) -> dict[str, Any]:
    """Return what `memport study list` and `show` print, JSON-ready."""
    seen = [(run, progress(run)) for run in study.runs.all()]
    summary: dict[str, Any] = {
        "key": study.key,
        "title": study.title,
        "source": study.source,
        "state": study_state(study),
        "plan_sha256": study.plan_sha256,
        "launched_at": study.locked_at.isoformat(timespec="seconds") if study.locked_at else None,
        "evaluations": {
            "complete": sum(now.evaluations["complete"] for _, now in seen),
            "all": sum(sum(now.evaluations.values()) for _, now in seen),
        },
    }
    if with_plan:
        summary["plan"] = study.plan
        summary["runs"] = [
            {
                "test": run.test,
                "number": run.number,
                "state": now.state,
                "jobs_done": now.jobs_done,
                "jobs_total": now.jobs_total,
                "answers": now.answers,
                "errors": list(now.errors),
                "left_out": run.left_out,
                "preflight": run.preflight,
                "forecast": forecast_and_actual(run),
            }
            for run, now in seen
        ]
    return summary
