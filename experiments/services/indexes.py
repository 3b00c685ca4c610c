"""The indexes of an embedding upgrade: built from both embedders, read as their test arm."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict

from experiments.models import Call, Evaluation, Run, StoreBuild
from experiments.plan.budgets import write_budget
from experiments.plan.embedding_upgrade import left_out_index
from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.runtime.processes import this_process
from experiments.services.builds import complete_build
from experiments.services.execution import Work
from experiments.services.inputs import embedder_call
from experiments.services.remembering import remembered
from experiments.services.timing import TimedEmbedder
from stores.formats.base import Reading
from stores.formats.formats import FORMATS
from stores.formats.rag_indexes import (
    INDEX_VERSION,
    arm_embedder,
    arm_of,
    read_index,
    write_index,
)
from stores.keeping import find_store, identity_hash, keep_store
from stores.selectors import history_value
from stores.vectors.arms import Arm, Part
from stores.vectors.generations import generation_to_json
from stores.vectors.spaces import no_mixing
from stores.workload.types import Probe

Embedders = dict[Part, TimedEmbedder]


def build_index(build: StoreBuild, plan: StudyPlan, work: Work) -> None:
    """Build the index that a build names; a store with the same identity is taken as it is."""
    arm, embedders = arm_of(build.spec["index"]), _open(plan, ("old", "new"))
    if arm.crosses and _leave_out_impossible(build, arm, embedders, work):
        return
    budget, workspace = write_budget(plan), build.run.study.workspace
    main = arm_embedder(arm, old=embedders["old"], new=embedders["new"])
    identity = identity_hash(
        history_checksum=build.history.checksum,
        format=build.format,
        writer=None,
        embedder=main.generation,
        budget=budget,
        recipe=_recipe(arm, embedders, plan),
        index=arm.name,
    )
    known = find_store(workspace=workspace, identity=identity)
    if known is not None:
        with work.commit():
            complete_build(build, work, known, reused=True)
        return
    history = history_value(build.history)
    work.check_stop()
    written = write_index(history, arm=arm, budget=budget, **embedders)
    coverage = FORMATS[build.format].coverage(
        written.content, history, history.probes, code_pattern=plan.scoring.code_pattern
    )
    with work.commit():
        for call in _calls(plan, embedders, first=0):
            call.build = build
            call.save()
        store = keep_store(
            workspace=workspace,
            identity=identity,
            history=build.history,
            format=build.format,
            written=written,
            coverage=coverage,
            budget=budget,
            embedder=main.generation,
            index=arm.name,
        )
        complete_build(build, work, store, reused=False)


def _leave_out_impossible(build: StoreBuild, arm: Arm, embedders: Embedders, work: Work) -> bool:
    """Take an index out of the run, for all histories, where its vectors have two sizes.

    A launch does so itself where it can open both embedders; another process may hold them, and
    then the first build finds out. Where the run has no other index, the build fails instead.
    """
    old, new = (embedders[part].generation.dimension for part in ("old", "new"))
    same_index = build.run.store_builds.filter(spec__index=arm.name)
    others = build.run.store_builds.exclude(spec__index=arm.name)
    if old == new or not others.exists():
        return False
    with work.commit():
        run = Run.objects.select_for_update().get(pk=build.run_id)
        run.left_out = [*run.left_out, asdict(left_out_index(arm.name, no_mixing(old, new)))]
        run.save(update_fields=["left_out"])
        run.evaluations.filter(index=arm.name).delete()
        same_index.delete()
    return True


def index_readings(
    evaluation: Evaluation, plan: StudyPlan, content: bytes, probes: Sequence[Probe]
) -> tuple[list[Reading], Callable[[int], list[Call]]]:
    """Read an index store as its arm.

    Returns
    -------
    The readings, one per probe; and what makes the unsaved records of the embedders' work, given
    the number of the attempt's next call.
    """
    arm = arm_of(evaluation.index)
    embedders = _open(plan, arm.asks)
    readings = read_index(
        content,
        probes,
        arm=arm,
        embedders=embedders,
        budget=write_budget(plan),
        prompts=plan.prompts,
    )
    return readings, lambda first: _calls(plan, embedders, first=first)


def _open(plan: StudyPlan, parts: Sequence[Part]) -> Embedders:
    upgrade = plan.tests.embedding_upgrade
    assert upgrade is not None, "an index belongs to an embedding upgrade"
    keys: dict[Part, str] = {"old": upgrade.old, "new": upgrade.new}
    pool = engine_pool()
    return {part: TimedEmbedder(remembered(pool.embedder(plan.embedder(keys[part]))))
            for part in parts}  # fmt: skip


def _recipe(arm: Arm, embedders: Embedders, plan: StudyPlan) -> dict[str, str]:
    """What decides an index beside its own embedder: the other generation, the layout, the arm."""
    generations = [
        generation_to_json(embedders[part].generation)
        for part in arm.built_from
        if len(arm.built_from) > 1
    ]
    text = json.dumps(generations, sort_keys=True)
    return {
        "code_pattern": plan.scoring.code_pattern,
        "schema": INDEX_VERSION,
        "generations": hashlib.sha256(text.encode()).hexdigest(),
    }


def _calls(plan: StudyPlan, embedders: Embedders, *, first: int) -> list[Call]:
    upgrade = plan.tests.embedding_upgrade
    assert upgrade is not None, "an index belongs to an embedding upgrade"
    used = [(part, timed) for part, timed in embedders.items() if timed.calls]
    return [
        embedder_call(
            embedder=plan.embedder(upgrade.old if part == "old" else upgrade.new),
            position=first + n,
            wall_s=timed.wall_s,
            worker=this_process(),
        )
        for n, (part, timed) in enumerate(used)
    ]
