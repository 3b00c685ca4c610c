"""Pages about runs: live progress, every job, and the buttons that stop, resume and run again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from analysis import run_view, selectors
from analysis.notices import notices_of
from analysis.views.common import page_of, user_of
from experiments.forecast_actual import forecast_and_actual
from experiments.models import Run
from experiments.services import control
from memport_site.accounts.access import post_or_go_to, requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.counting import count_of
from stores.errors import InvalidInputError


@requires(Permission.VIEW)
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """One run: how far it is, what each evaluation did, took and cost."""
    context = _context(request, run_id)
    context["notices"] = notices_of(context["study"])
    context["compared"] = forecast_and_actual(context["run"])
    return render(request, "runs/run.html", context)


@requires(Permission.VIEW)
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The part of the page that changes; 204 where there is no news since `seen`."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("run", run_id)
    context = _context(request, run_id)
    if request.GET.get("seen") == context["page"].news and not context["page"].progress.is_over:
        return HttpResponse(status=204)
    return render(request, "runs/_live.html", context)


@post_or_go_to("run")
@requires(Permission.LAUNCH)
def stop(request: HttpRequest, run_id: int) -> HttpResponse:
    """Ask a run to stop at its next commit."""
    run = control.stop_run(run=_run(request, run_id), user=user_of(request))
    messages.info(request, "The run stops at its next answer. What was measured is kept.")
    return redirect("run", run.pk)


@post_or_go_to("run")
@requires(Permission.LAUNCH)
def resume(request: HttpRequest, run_id: int) -> HttpResponse:
    """Go on with a stopped run."""
    run = control.resume_run(run=_run(request, run_id), user=user_of(request))
    messages.info(request, "The run goes on at its last committed answer.")
    return redirect("run", run.pk)


@post_or_go_to("run")
@requires(Permission.LAUNCH)
def rerun(request: HttpRequest, run_id: int) -> HttpResponse:
    """Run what failed again, whole; the reason is kept with the study's deviations."""
    run = _run(request, run_id)
    try:
        count = control.rerun_failed(
            run=run, user=user_of(request), why=request.POST.get("why", "").strip()
        )
    except InvalidInputError as error:
        messages.error(request, f"{error.what.capitalize()}: say why.")
        return redirect("run", run.pk)
    if count:
        messages.info(
            request,
            f"{count_of(count, 'failed job')} to run again, whole. The reason is kept with the "
            "study’s deviations from the plan.",
        )
    else:
        messages.info(request, "Nothing has failed in this run.")
    return redirect("run", run.pk)


def _run(request: HttpRequest, run_id: int) -> Run:
    return get_object_or_404(selectors.run_of(workspace_of(request), run_id))


def _context(request: HttpRequest, run_id: int) -> dict[str, Any]:
    run = _run(request, run_id)
    evaluations = page_of(request, run_view.evaluations(run), "evaluations")
    builds = page_of(request, run_view.builds(run), "stores")
    return {
        "nav": "studies", "page": run_view.run_page(run), "run": run, "study": run.study,
        "evaluations": evaluations, "builds": builds,
        "spent_on_evaluations": run_view.spent_on_evaluations(evaluations),
        "spent_on_builds": run_view.spent_on_builds(builds),
    }  # fmt: skip
