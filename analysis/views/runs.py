"""Pages about runs: live progress, every job, and the buttons that stop, resume and run again."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from analysis import run_tables, run_view, selectors
from analysis.check_tables import checks
from analysis.cost_tables import beside_forecast, costs
from analysis.notices import labels_of, notices_of
from analysis.views.common import user_of
from analysis.views.tables_shown import AnyTable, shown_table, table_csv
from experiments.forecast_actual import forecast_and_actual
from experiments.models import Run
from experiments.run_costs import costs as run_costs
from experiments.services import control
from memport_site.accounts.access import post_or_go_to, requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.counting import count_of
from stores.errors import InvalidInputError

WORK = (run_tables.evaluations, run_tables.builds)


@requires(Permission.VIEW)
def run_page(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """One run: how far it is, what each evaluation did, took and cost."""
    run = _run(request, run_id)
    compared = forecast_and_actual(run)
    labels = "; ".join(labels_of(run.study))
    ahead = beside_forecast(compared, labels=labels) if compared else None
    checked = checks("preflight", "Preflight", run.preflight, subject="the study")
    if "csv" in request.GET:
        tables: list[AnyTable] = [make(run, labels=labels) for make in WORK]
        tables += [costs(run_costs(run), labels=labels), *([ahead] if ahead else []), checked]
        return table_csv(request, f"{run.study.key}-run-{run.number}", tables)
    context = _context(request, run) | {
        "notices": notices_of(run.study), "compared": compared,
        "ahead": shown_table(request, ahead) if ahead else None,
        "checks": shown_table(request, checked) if run.preflight else None,
    }  # fmt: skip
    return render(request, "runs/run.html", context)


@requires(Permission.VIEW)
def run_progress(request: HttpRequest, run_id: int) -> HttpResponse:
    """The part of the page that changes; 204 where there is no news since `seen`."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect("run", run_id)
    context = _context(request, _run(request, run_id))
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


def _context(request: HttpRequest, run: Run) -> dict[str, Any]:
    labels = "; ".join(labels_of(run.study))
    page = run_view.run_page(run)
    return {
        "nav": "studies", "page": page, "run": run, "study": run.study,
        "work": [shown_table(request, make(run, labels=labels)) for make in WORK],
        "costs": shown_table(request, costs(page.costs, labels=labels)),
    }  # fmt: skip
