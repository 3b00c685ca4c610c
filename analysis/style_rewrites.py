"""Style rewrites as stores: how many notes were reached, and how many lost an exact code."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.models import StoreBuild, Study
from experiments.selectors import study_plan
from stores.formats.restyling import RewriteFigures, rewrite_figures

NOT_KEPT = "the rewritten stores are not kept here"


def with_stores(
    rows: Sequence[Mapping[str, Any]] | None, study: Study
) -> list[dict[str, Any]] | None:
    """Add to each style rewrite of a report the shares that its stores tell."""
    if rows is None:
        return None
    found = figures(study) if study.source == Study.Source.RUN else {}
    return [{**row, **_shares(found.get((row["writer"], row["rewriter"])))} for row in rows]


def figures(study: Study) -> dict[tuple[str, str], RewriteFigures]:
    """Return notes, those reached and those that dropped a code, by old writer and rewriter."""
    pattern = study_plan(study).scoring.code_pattern
    builds = StoreBuild.objects.filter(
        run__study=study, spec__derived="style_rewrite", store__isnull=False
    ).select_related("store__content", "store__parent__content")
    originals = StoreBuild.objects.filter(run__study=study, store__parent=None)
    writers = dict(originals.values_list("store", "writer"))
    totals: dict[tuple[str, str], RewriteFigures] = {}
    for build in builds:
        store = build.store
        if store is None or store.parent is None:
            continue
        found = rewrite_figures(
            bytes(store.parent.content.data), bytes(store.content.data), code_pattern=pattern
        )
        key = (writers[store.parent.pk], build.writer)
        sofar = totals.get(key, RewriteFigures(0, 0, 0))
        totals[key] = RewriteFigures(
            sofar.notes + found.notes,
            sofar.reached + found.reached,
            sofar.dropping + found.dropping,
        )
    return totals


def _shares(found: RewriteFigures | None) -> dict[str, Any]:
    if found is None:
        return {"reached": _undefined(NOT_KEPT), "drops_identifier": _undefined(NOT_KEPT)}
    return {
        "reached": _share(found.reached, found.notes, "there are no notes"),
        "drops_identifier": _share(found.dropping, found.reached, "no note was reached"),
    }


def _share(part: int, whole: int, why_not: str) -> dict[str, Any]:
    if not whole:
        return _undefined(why_not)
    return {"value": part / whole, "status": "ok", "reason": "", "n": part, "of": whole}


def _undefined(reason: str) -> dict[str, Any]:
    return {"value": None, "status": "undefined", "reason": reason}
