"""Pages about studies: the list, one study with its verdicts, its plan, and its exports."""

import json

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

from analysis import selectors, study_view
from analysis.check_tables import checks
from analysis.kept import at_hand
from analysis.notices import shown_notices, stamp_of
from analysis.observations import csv_bytes, from_study
from analysis.results import kept_report
from analysis.study_parts import offered
from analysis.views.common import STUDIES_ON_A_PAGE, page_of, study_or_404
from analysis.views.tables_shown import shown, shown_table, table_csv
from experiments.lock_checks import check_lock, lock_of
from experiments.models import Study
from experiments.plan import lock_files
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission


@requires(Permission.VIEW)
def study_list(request: HttpRequest) -> HttpResponse:
    """Every study of the workspace: what was asked, its state, its headline per direction."""
    page = page_of(request, selectors.studies(workspace_of(request)), size=STUDIES_ON_A_PAGE)
    rows = [(one, study_view.state_of(one), *study_view.summary(one)) for one in page]
    return render(request, "studies/list.html", {"nav": "studies", "page": page, "rows": rows})


@requires(Permission.VIEW)
def study_page(request: HttpRequest, key: str) -> HttpResponseBase:
    """One study: verdicts, pictures, tables, trust and cost."""
    study = study_or_404(request, key)
    page = study_view.study_page(study)
    if "csv" in request.GET:
        return table_csv(request, study.key, page.tables)
    below = (page.trust, page.coverage, page.costs, page.left_out)
    context = {
        "nav": "studies", "study": study, "page": page, "report": page.report,
        "state": study_view.state_of(study), "runs": study.runs.all(),
        "asked": at_hand(study, "asked", lambda: selectors.asked(study)),
        "notices": shown_notices(study, page.report), "parts": offered(page.report),
        "found": [shown(request, section) for section in page.found],
        "below": [shown(request, section) for section in below if section],
    }  # fmt: skip
    return render(request, "studies/study.html", context)


@requires(Permission.VIEW)
def plan_page(request: HttpRequest, key: str) -> HttpResponseBase:
    """The locked plan, whole."""
    study = study_or_404(request, key)
    made = check_lock(study)
    table = checks("lock", "Checks of the lock", made, subject="the plan")
    if "csv" in request.GET:
        return table_csv(request, study.key, [table])
    context = {
        "nav": "studies", "study": study, "lock": lock_of(study),
        "checks": shown_table(request, table), "holds": all(check.ok for check in made),
        "lock_files": tuple(LOCK_FILES),
        "text": json.dumps(study.plan, indent=2, ensure_ascii=False),
    }  # fmt: skip
    return render(request, "studies/plan.html", context)


# File of a lock → what it holds; the same files as `memport study lock` writes.
LOCK_FILES = {
    lock_files.PLAN: lambda lock: bytes(lock.plan_json),
    lock_files.HASH: lambda lock: f"{lock.sha256}  {lock_files.PLAN}\n".encode(),
    lock_files.SIGNATURE: lambda lock: bytes(lock.signature),
    lock_files.KEY: lambda lock: lock.public_key.encode(),
}


@requires(Permission.VIEW)
def lock_file(request: HttpRequest, key: str, name: str) -> HttpResponse:
    """One file of the lock, to be checked elsewhere."""
    lock = lock_of(study_or_404(request, key))
    if lock is None or name not in LOCK_FILES:
        raise Http404("there is no such file in this lock")
    response = HttpResponse(LOCK_FILES[name](lock), content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@requires(Permission.VIEW)
def report_json(request: HttpRequest, key: str) -> HttpResponse:
    """The report as JSON: the same as `memport study report --json`."""
    report = kept_report(study_or_404(request, key))
    return JsonResponse(report, json_dumps_params={"indent": 2, "ensure_ascii": False})


@requires(Permission.VIEW)
def answers_csv(request: HttpRequest, key: str) -> HttpResponse:
    """The answers table: everything that the statistics were computed from."""
    study = study_or_404(request, key)
    response = HttpResponse(csv_bytes(from_study(study)), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{answers_file_name(study)}"'
    return response


def answers_file_name(study: Study) -> str:
    """The table's bytes carry no label, so that its name does: `swap-scripted-answers.csv`."""
    return "-".join(filter(None, (study.key, stamp_of(study), "answers.csv")))
