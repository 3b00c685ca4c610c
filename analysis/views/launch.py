"""Launching a study: from a plan file, from pasted text, or from a simple form."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis import launching
from analysis.check_tables import checks
from analysis.cost_tables import forecast_tables
from analysis.views.common import user_of
from memport_site.accounts.access import post_or_go_to, requires, workspace_of
from memport_site.accounts.permissions import Permission


@requires(Permission.LAUNCH)
def new_study(request: HttpRequest) -> HttpResponse:
    """Both ways to launch a study."""
    return _form(request)


@post_or_go_to("new-study")
@requires(Permission.LAUNCH)
def launch_from_file(request: HttpRequest) -> HttpResponse:
    """Check an uploaded or pasted plan, and launch it once it is confirmed."""
    upload = request.FILES.get("file")
    limit = launching.MAX_PLAN_BYTES + 1
    data = upload.read(limit) if upload else request.POST.get("plan", "").encode()
    launch = launching.launch_text(
        data,
        source=str(upload.name) if upload else request.POST.get("source") or "plan",
        workspace=workspace_of(request),
        user=user_of(request),
        confirmed=_is_confirmed(request),
    )
    return _after(request, launch, text=data[:limit].decode(errors="replace"))


@post_or_go_to("new-study")
@requires(Permission.LAUNCH)
def launch_from_form(request: HttpRequest) -> HttpResponse:
    """Check the plan that the simple form describes, and launch it once it is confirmed."""
    fields = launching.FORM_DEFAULTS
    values: dict[str, Any] = {name: request.POST.get(name, "").strip() for name in fields}
    values["formats"] = request.POST.getlist("formats")
    launch = launching.launch_values(
        values,
        workspace=workspace_of(request),
        user=user_of(request),
        confirmed=_is_confirmed(request),
    )
    return _after(request, launch, values=values)


def _is_confirmed(request: HttpRequest) -> bool:
    """The first step shows checks and forecast; the second one launches what they were made of."""
    return request.POST.get("step") != "check"


def _after(request: HttpRequest, launch: launching.Launch, **shown: Any) -> HttpResponse:
    if launch.study is None:
        return _form(request, launch=launch, **shown)
    messages.success(request, f"“{launch.study.title}” is launched; its plan is locked.")
    run = launch.study.runs.first()
    return redirect("run", run.pk) if run else redirect("study", launch.study.key)


def _form(
    request: HttpRequest, *, launch: launching.Launch | None = None, text: str = "",
    values: dict[str, Any] | None = None,
) -> HttpResponse:  # fmt: skip
    choices = launching.choices(workspace_of(request))
    context = {
        "nav": "studies", "launch": launch, "errors": launch.errors if launch else {},
        "text": text, "values": values or launching.defaults(choices), "choices": choices,
        "formats": launching.FORM_DEFAULTS["formats"],
        "checks": checks("preflight", "Preflight", launch.checks, subject="the study")
        if launch and launch.checks else None,
        "forecasts": forecast_tables(launch.forecast) if launch else [],
    }  # fmt: skip
    status = 422 if launch and launch.errors else 200
    return render(request, "studies/new.html", context, status=status)
