"""The probes behind one part of the losses: exactly those that it counts."""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render

from analysis.loss_charts import NAMES
from analysis.losses import STAGE_WORDS, probes_of
from analysis.notices import labels_of
from analysis.observations import from_study, to_cube
from analysis.results import kept_cube, kept_report
from analysis.stats.cells import Cube
from analysis.table_answer_tables import loss_probes as loss_probes_table
from analysis.views.common import filters_of, study_or_404
from analysis.views.tables_shown import shown_table, table_csv
from experiments.models import Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission

FILTERS = ("format", "part", "kind", "writer", "reader")


@requires(Permission.VIEW)
def loss_probes(request: HttpRequest, key: str) -> HttpResponseBase:
    """The probes that one bar of the picture counts, each with its three answers and its stage."""
    study = study_or_404(request, key)
    asked = filters_of(request, FILTERS)
    found = None
    if "format" in asked and kept_report(study).get("loss_decomposition"):
        name = asked.pop("format")
        found = probes_of(_cube(study), name, part=asked.pop("part", ""), **asked)
    if found is None:
        raise Http404("the study has no such part of a loss")
    part = request.GET.get("part", "")
    labels = "; ".join(labels_of(study))
    table = loss_probes_table(study, found.probes, part, labels=labels)
    if "csv" in request.GET:
        return table_csv(request, f"{study.key}-loss", [table])
    context = {
        "nav": "studies", "study": study, "part": part, "filters": asked,
        "format": request.GET.get("format", ""), "lost": found.lost, "regained": found.regained,
        "component": NAMES.get(part, ""), "n_found": len(found.probes),
        "stage_words": STAGE_WORDS.get(part.removeprefix("stage:"), "")
        if part.startswith("stage:") else "",
        "shown": shown_table(request, table),
    }  # fmt: skip
    return render(request, "studies/loss_probes.html", context)


def _cube(study: Study) -> Cube:
    return kept_cube(study) if study.source == Study.Source.TABLE else to_cube(from_study(study))
