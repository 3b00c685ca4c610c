"""Every address of the site. All but signing in are behind the sign-in."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, URLResolver, path

from analysis.study_parts import PARTS
from analysis.views import (
    answers,
    histories,
    launch,
    losses,
    parts,
    probes,
    runs,
    stores,
    studies,
    tables,
)
from memport_site.accounts import views as accounts


@login_not_required
def favicon(_request: HttpRequest) -> HttpResponse:
    """Where browsers look for an icon of their own accord."""
    return HttpResponseRedirect(staticfiles_storage.url("favicon.svg"))


urlpatterns: list[URLPattern | URLResolver] = [
    path("", studies.study_list, name="studies"),
    path("favicon.ico", favicon),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-in/link/<str:token>/", accounts.sign_in_by_link, name="sign-in-link"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("studies/new/", launch.new_study, name="new-study"),
    path("studies/new/file/", launch.launch_from_file, name="launch-file"),
    path("studies/new/form/", launch.launch_from_form, name="launch-form"),
    path("studies/new/table/", tables.new_table, name="new-table"),
    path("studies/<slug:key>/", studies.study_page, name="study"),
    path("studies/<slug:key>/plan/", studies.plan_page, name="plan"),
    path("studies/<slug:key>/plan/<str:name>", studies.lock_file, name="lock-file"),
    path("studies/<slug:key>/report.json", studies.report_json, name="report-json"),
    path("studies/<slug:key>/answers.csv", studies.answers_csv, name="answers-csv"),
    path("studies/<slug:key>/answers/", answers.answer_list, name="answers"),
    path("studies/<slug:key>/loss/probes/", losses.loss_probes, name="loss-probes"),
    *(
        path(
            f"studies/<slug:key>/{part.slug}/", parts.part_page, {"slug": part.slug}, name=part.slug
        )
        for part in PARTS
    ),
    path("runs/<int:run_id>/", runs.run_page, name="run"),
    path("runs/<int:run_id>/progress/", runs.run_progress, name="run-progress"),
    path("runs/<int:run_id>/stop/", runs.stop, name="run-stop"),
    path("runs/<int:run_id>/resume/", runs.resume, name="run-resume"),
    path("runs/<int:run_id>/rerun/", runs.rerun, name="run-rerun"),
    path("histories/", histories.history_list, name="histories"),
    path("histories/<int:history_id>/", histories.history_page, name="history"),
    path("stores/", stores.store_list, name="stores"),
    path("stores/<int:store_id>/", stores.store_page, name="store"),
    path("probes/<int:probe_id>/", probes.probe_page, name="probe"),
    path("answers/<int:answer_id>/prompt/", probes.prompt_page, name="prompt"),
]
