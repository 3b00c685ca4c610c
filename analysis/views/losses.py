"""The probes behind one part of the losses: exactly those that it counts."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from analysis.loss_charts import NAMES
from analysis.losses import STAGE_WORDS, probes_of, sign_of
from analysis.observations import from_study, to_cube
from analysis.results import kept_cube, kept_report
from analysis.stats.cells import Cube
from analysis.views.common import filters_of, page_of, study_or_404
from experiments.models import Study
from memport_site.accounts.access import requires
from memport_site.accounts.permissions import Permission
from stores.models import Probe

FILTERS = ("format", "part", "kind", "writer", "reader")


@requires(Permission.VIEW)
def loss_probes(request: HttpRequest, key: str) -> HttpResponse:
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
    page = page_of(request, found.probes)
    ids = _ids([one.history for one in page], study.workspace_id)
    context = {
        "nav": "studies", "study": study, "part": part, "page": page, "filters": asked,
        "format": request.GET.get("format", ""), "lost": found.lost, "regained": found.regained,
        "component": NAMES.get(part, ""), "n_found": len(found.probes),
        "stage_words": STAGE_WORDS.get(part.removeprefix("stage:"), "")
        if part.startswith("stage:") else "",
        "rows": [
            (one, ids.get((one.history, one.probe)), STAGE_WORDS[one.stage], sign_of(part, one))
            for one in page
        ],
    }  # fmt: skip
    return render(request, "studies/loss_probes.html", context)


def _cube(study: Study) -> Cube:
    return kept_cube(study) if study.source == Study.Source.TABLE else to_cube(from_study(study))


def _ids(histories: list[str], workspace_id: int) -> dict[tuple[str, str], int]:
    """The probes' own pages; a study from an answers table has none."""
    rows = Probe.objects.filter(
        history__workspace=workspace_id, history__key__in=set(histories)
    ).values_list("history__key", "key", "pk")
    return {(history, probe): pk for history, probe, pk in rows}
