"""Pages about one probe: its evidence followed to every answer, and the prompt on demand."""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render

from analysis import evidence, lost, probe_tables, prompts, selectors
from analysis.notices import labels_of, notices_of
from analysis.views.histories import chosen_cells, chosen_study
from analysis.views.tables_shown import shown_table, table_csv
from experiments.models import Answer
from memport_site.accounts.access import requires, workspace_of
from memport_site.accounts.permissions import Permission
from stores.models import Probe


@requires(Permission.VIEW)
def probe_page(request: HttpRequest, probe_id: int) -> HttpResponseBase:
    """One probe: question, right answer, evidence, and all cells side by side."""
    query = Probe.objects.select_related("history")
    probe = get_object_or_404(query, pk=probe_id, history__workspace=workspace_of(request))
    studies = selectors.studies_of_history(probe.history)
    study = chosen_study(studies, request.GET.get("study", ""))
    paths = evidence.paths(probe, chosen_cells(request, probe.history, study))
    labels = "; ".join(labels_of(study)) if study else ""
    stages = probe_tables.stages(lost.lost_in(paths), labels=labels)
    if "csv" in request.GET:
        stem = f"{probe.history.key}-{probe.key}"
        return table_csv(request, stem, [stages, probe_tables.cells(paths, labels=labels)])
    events, spans = list(probe.history.events.all()), evidence.all_spans(probe, paths)
    context = {
        "nav": "histories", "probe": probe, "history": probe.history, "studies": studies,
        "study": study, "groups": selectors.by_format(paths),
        "events": evidence.evidence_rows(events, probe, spans, whole="whole" in request.GET),
        "notices": notices_of(study, history=probe.history) if study else None,
        "neighbours": selectors.neighbours(probe),
        "stages": shown_table(request, stages) if stages.rows else None,
    }  # fmt: skip
    return render(request, "probes/probe.html", context)


@requires(Permission.VIEW)
def prompt_page(request: HttpRequest, answer_id: int) -> HttpResponse:
    """The exact prompt and reply of one answer, rebuilt from the store and checked."""
    query = Answer.objects.select_related(
        "call", "probe__history", "attempt__store__content", "attempt__evaluation__run__study"
    )
    answer = get_object_or_404(
        query, pk=answer_id, attempt__evaluation__run__study__workspace=workspace_of(request)
    )
    context = {"nav": "histories", "answer": answer, "prompt": prompts.rebuild(answer),
               "study": answer.attempt.evaluation.run.study}  # fmt: skip
    name = "probes/_prompt.html" if request.htmx else "probes/prompt.html"  # type: ignore[attr-defined]
    return render(request, name, context)
