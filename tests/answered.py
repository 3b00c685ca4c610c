"""Studies with answers that a test dictates, kept by the shortest way: no store is read."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from experiments.models import Answer, Attempt, Evaluation, Run, StoreBuild, Study
from memport_site.accounts.models import Workspace
from stores.models import Blob, History, Probe, Store

MODELS = ("alpha", "beta")
FORMATS = ("kg_fixed", "lc_raw", "notes", "rag")
KINDS = ("direct", "temporal", "contradiction", "multi_hop", "alias")
CLASSES = ("fact", "preference", "decision", "task")
Right = Callable[[str, str, str, str, int, int], bool | None]


def plan_document(**changes: Any) -> dict[str, Any]:
    """A plan of two scripted models in both directions."""
    return {
        "key": "hand",
        "title": "Worked out by hand",
        "histories": {"preset": "tiny", "seed": 1},
        "formats": list(FORMATS),
        "models": [{"key": key, "engine": "scripted"} for key in MODELS],
        "embedders": [{"key": "bag", "engine": "scripted"}],
        "tests": {"writer_swap": {"noise_repeats": 0}},
        **changes,
    }


def seeded(seed: int = 0) -> Right:
    """Answers that are right with a chance that depends on the cell; the same on every machine."""
    chance = {"kg_fixed": 0.85, "lc_raw": 0.7, "notes": 0.6, "rag": 0.5}

    def right(history: str, form: str, writer: str, reader: str, probe: int, repeat: int) -> bool:
        text = f"{seed}/{history}/{form}/{writer}/{reader}/{probe}/{repeat}"
        draw = int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 16**8
        worse = 0.25 if form == "notes" and writer != reader else 0.0
        return draw < chance[form] - worse

    return right


def answered_study(
    *,
    right: Right | None = None,
    n_histories: int = 6,
    n_probes: int = 10,
    repeats: Sequence[tuple[str, str, str]] = (),
    state: str = Run.State.COMPLETE,
    key: str = "hand",
    **plan: Any,
) -> Study:
    """Return a study whose answers `right(history, format, writer, reader, probe, repeat)` says.

    `repeats` names the cells (format, writer, reader) that are read a second time.
    """
    workspace = Workspace.objects.get_or_create(slug="default", defaults={"name": "Default"})[0]
    study = Study.objects.create(
        workspace=workspace, key=key, title="Worked out by hand", plan=plan_document(**plan),
        plan_sha256="0" * 64,
    )  # fmt: skip
    run = Run.objects.create(study=study, test="writer_swap", state=state)
    for number in range(n_histories):
        history = _history(workspace, number, n_probes)
        for form in FORMATS:
            for writer in MODELS if form in ("notes", "kg_fixed") else ("",):
                build = _build(run, history, form, writer)
                for reader in MODELS:
                    times = 2 if (form, writer, reader) in repeats else 1
                    for repeat in range(times):
                        evaluate(build, reader, repeat, right or seeded())
    return study


def _history(workspace: Workspace, number: int, n_probes: int) -> History:
    history, made = History.objects.get_or_create(
        workspace=workspace,
        key=f"h{number:02}",
        defaults={"source": "synthetic", "checksum": f"{number:064}"},
    )
    if not made:
        return history
    Probe.objects.bulk_create(
        Probe(
            history=history, key=f"p{position:02}", position=position,
            kind=KINDS[position % 5], memory_class=CLASSES[position % 4], question="?", answer="!",
        )
        for position in range(n_probes)
    )  # fmt: skip
    return history


def _build(run: Run, history: History, form: str, writer: str) -> StoreBuild:
    embedder = "bag" if form == "rag" else ""
    key = "/".join(filter(None, (history.key, form, writer)))
    digest = hashlib.sha256(key.encode()).hexdigest()
    blob, _ = Blob.objects.get_or_create(
        sha256=digest, defaults={"size_bytes": len(key), "data": key.encode()}
    )
    store, _ = Store.objects.get_or_create(
        workspace=history.workspace, identity=digest,
        defaults={
            "history": history, "format": form, "writer": writer, "embedder": embedder,
            "history_checksum": history.checksum, "content": blob, "checksum": digest,
            "size_bytes": 1, "code_version": "test",
            "coverage": {"spans_required": 10, "spans_kept": 7},
        },
    )  # fmt: skip
    return StoreBuild.objects.create(
        run=run, store_key=key, history=history, format=form, writer=writer, embedder=embedder,
        store=store, state="complete",
    )  # fmt: skip


def evaluate(build: StoreBuild, reader: str, repeat: int, right: Right) -> Attempt:
    """Add one complete evaluation of a store with its answers."""
    evaluation = Evaluation.objects.create(
        run=build.run, history=build.history, format=build.format, writer=build.writer,
        embedder=build.embedder, reader=reader, repeat=repeat, build=build, state="complete",
    )  # fmt: skip
    attempt = Attempt.objects.create(evaluation=evaluation, store=build.store, state="complete")
    answer(attempt, right)
    return attempt


def answer(attempt: Attempt, right: Right) -> None:
    """Add the answers of an attempt."""
    cell = attempt.evaluation
    rows = []
    for probe in cell.history.probes.all():
        correct = right(
            cell.history.key, cell.format, cell.writer, cell.reader, probe.position, cell.repeat
        )
        rank = 1 + probe.position % 9 if cell.format == "rag" else None
        recall = float(np.round(probe.position % 4 / 3, 3)) if cell.format == "rag" else None
        rows.append(Answer(attempt=attempt, probe=probe, correct=correct, rank=rank, recall=recall))
    Answer.objects.bulk_create(rows)
