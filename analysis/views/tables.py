"""Bringing an answers table in: the form, and the upload that becomes a study."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from analysis.table_import import TableUpload, import_table
from analysis.views.common import user_of
from experiments.plan.source import MAX_PLAN_BYTES
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.errors import InvalidInputError


@requires(Permission.IMPORT)
def new_table(request: HttpRequest) -> HttpResponse:
    """The form; a table that is sent becomes a study, or the page says what is wrong with it."""
    if request.method != "POST":
        return _form(request)
    file, plan = request.FILES.get("file"), request.FILES.get("plan")
    if file is None:
        return _form(request, "There is no table: choose a file.")
    upload = TableUpload(
        file=file, name=str(file.name), title=request.POST.get("title", ""),
        plan=plan.read(MAX_PLAN_BYTES + 1) if plan else b"",
        plan_name=str(plan.name) if plan else "",
        simulated="simulated" in request.POST,
    )  # fmt: skip
    try:
        study = import_table(upload=upload, workspace=workspace_of(request), user=user_of(request))
    except InvalidInputError as error:
        return _form(request, error.sentence())
    messages.success(request, f"“{study.title}” is in: its pages are computed.")
    return redirect("study", study.key)


def _form(request: HttpRequest, problem: str = "") -> HttpResponse:
    context = {
        "nav": "studies", "problem": problem, "title": request.POST.get("title", ""),
        "simulated": "simulated" in request.POST,
        "limit_mib": settings.MAX_UPLOAD_BYTES // 2**20,
    }  # fmt: skip
    return render(request, "studies/new_table.html", context, status=422 if problem else 200)
