"""The report of a study: one JSON-ready document for the page, the command line and the export."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from typing import Any

import pandas as pd

from analysis import (
    index_gap,
    losses,
    planned_tests,
    sections,
    style_rewrites,
    writer_swap,
)
from analysis.notices import damage_words, labels_of, notices_of
from analysis.observations import coverage_of, csv_bytes, from_study, to_cube
from analysis.planning import cell_is_planned, planning, stamp_parts
from analysis.settings import Settings
from analysis.space_check import space_check
from analysis.stats.cells import Cube
from analysis.stats.coverage import Coverage, evidence_coverage
from analysis.stats.gates import Gate, all_gates, summary
from analysis.stats.noise import noise_floor_pp
from experiments.lock_checks import lock_of
from experiments.models import Attempt, Evaluation, StoreBuild, Study
from experiments.run_costs import costs
from stores.models import Store

SCHEMA = "memport/report/2"
LIBRARIES = ("numpy", "scipy", "pandas", "memport")
HEADLINE_RULE = "the first complete attempt of every evaluation"


def study_report(study: Study) -> dict[str, Any]:
    """Return everything that is reported about a study, JSON-ready.

    Figures are `{value, status, reason}`; estimates carry `low`, `high`, `n_histories`, the
    histories left out, and one value per history. `docs/report.md` describes every part.
    """
    settings = settings_of(study)
    frame = from_study(study)
    coverage = coverage_of(StoreBuild.objects.filter(run__study=study))
    document = {
        "schema": SCHEMA,
        "study": _study(study, settings),
        "settings": settings.as_json(),
        "software": software(),
        "data": _data(study, frame),
        "coverage": coverage_table(coverage),
        "costs": _costs(study),
        "space_check": space_check(study),
    }
    if frame.empty:
        return document | {"directions": [], "notices": ["there are no answers yet"]}
    notices = notices_of(study)
    report = document | answers_report(
        to_cube(frame),
        settings,
        coverage=coverage,
        unfinished=notices.unfinished,
        damaged=_damage(study, notices.damaged),
        beside=notices.labels,
    )
    report["style_rewrite"] = style_rewrites.with_stores(report["style_rewrite"], study)
    return report | {"notices": notices.lines()}


def settings_of(study: Study) -> Settings:
    """How a study is judged; nothing counts as planned where its lock came after the results."""
    lock = lock_of(study)
    return Settings.of_document(study.plan).locked_late(lock.after_results_because if lock else "")


def answers_report(
    cube: Cube,
    settings: Settings,
    *,
    coverage: Sequence[Coverage] = (),
    unfinished: str = "",
    damaged: Sequence[writer_swap.Damage] = (),
    beside: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Return what the answers alone say; a part without cells in them is None."""
    noise = noise_floor_pp(cube)
    gates = all_gates(
        cube,
        chance=settings.chance,
        noise_floor=(noise.value or 0.0) / 100,
        coverage=coverage,
    )
    around = writer_swap.Circumstances(gates, noise, unfinished, tuple(damaged), beside)
    report = {
        "planning": planning(settings),
        "noise_floor_pp": noise.as_json(),
        "gates": gates_table(gates, settings),
        "directions": writer_swap.section(cube, settings, around),
        "planned_tests": planned_tests.section(cube, settings),
        "embedding_upgrade": index_gap.section(cube),
        "loss_decomposition": losses.section(cube),
        "style_rewrite": sections.style_rewrite(cube),
        "repair": sections.repair(cube),
        "screening": sections.screening(cube),
        "this_store_only": sections.this_store_only(cube),
        "probe_sets": sections.probe_sets(cube),
        "cells": [
            {**cell, "planned": cell_is_planned(settings, cell)}
            for cell in sections.cells_table(cube)
        ],
    }
    stamp_parts(report)
    return report


def unanswered(frame: pd.DataFrame) -> dict[str, int]:
    """Count the rows without a score: never scored, or never asked because nobody reads them."""
    blank, nobody = frame["correct"].isna(), frame["reader"].isin([""])
    return {"unscored": int((blank & ~nobody).sum()), "not_asked": int((blank & nobody).sum())}


def gates_table(gates: Sequence[Gate], settings: Settings) -> dict[str, Any]:
    """Return every gate, one status per gate, and one for all of them."""
    states = summary(gates)
    overall = next(
        (state for state in ("failed", "not measured") if state in states.values()), "passed"
    )
    return {
        "status": overall,
        "consequence": settings.gates.in_words,
        "by_gate": dict(states),
        "each": [gate.as_json() for gate in gates],
    }


def software() -> dict[str, str]:
    """Versions of what computed the numbers."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def coverage_table(stores: Sequence[Coverage]) -> list[dict[str, Any]]:
    """Return the evidence spans kept per format and writer: pooled, and across histories."""
    rows = []
    for name, writer in sorted({(store.format, store.writer) for store in stores}):
        own = [store for store in stores if (store.format, store.writer) == (name, writer)]
        required, kept = sum(s.required for s in own), sum(s.kept for s in own)
        rows.append(
            {
                "format": name,
                "writer": writer,
                "stores": len(own),
                "spans_required": required,
                "spans_kept": kept,
                "share": kept / required if required else None,
                "status": "ok" if required else "undefined",
                "reason": "" if required else "no evidence span can be looked for",
                "across_histories": evidence_coverage(own).as_json(),
            }
        )
    return rows


def _study(study: Study, settings: Settings) -> dict[str, Any]:
    return {
        "key": study.key,
        "title": study.title,
        "source": study.source,
        "simulated": study.simulated,
        "scripted": list(settings.scripted),
        "labels": labels_of(study),
        "plan_sha256": study.plan_sha256,
    }


def _damage(study: Study, stores: Sequence[Store]) -> list[writer_swap.Damage]:
    """Name the cells that rest on damaged stores as the plan does: by the models' keys in it."""
    words = {store.pk: damage_words(store) for store in stores if store.parent_id is None}
    builds = StoreBuild.objects.filter(run__study=study, store__in=words)
    rows = builds.values_list("format", "embedder", "writer", "store").distinct()
    return [
        writer_swap.Damage(name, embedder, writer, words[store])
        for name, embedder, writer, store in rows
    ]


def _data(study: Study, frame: pd.DataFrame) -> dict[str, Any]:
    evaluations = Evaluation.objects.filter(run__study=study)
    complete = evaluations.filter(attempts__state=Attempt.State.COMPLETE).distinct()
    return {
        "answers_sha256": hashlib.sha256(csv_bytes(frame)).hexdigest(),
        "headline_rule": HEADLINE_RULE,
        "answers": len(frame),
        **unanswered(frame),
        "histories": sorted(str(name) for name in frame["history"].unique()),
        "evaluations": {"complete": complete.count(), "all": evaluations.count()},
    }


def _costs(study: Study) -> list[dict[str, Any]]:
    return [
        {"test": run.test, "number": run.number, "calls": [asdict(cost) for cost in costs(run)]}
        for run in study.runs.all()
    ]
