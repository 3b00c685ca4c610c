"""Build one store: read the history, let the writer write, keep the result once and for all."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from experiments.models import StoreBuild
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.selectors import study_plan
from experiments.services.builds import complete_build
from experiments.services.derived_stores import build_derived
from experiments.services.execution import Outcome, Work, execute
from experiments.services.indexes import build_index
from experiments.services.inputs import keep_embedder_call
from experiments.services.journal import JournaledChat
from experiments.services.repairs import build_repair
from experiments.services.timing import TimedEmbedder
from stores.formats.base import MemoryFormat
from stores.formats.formats import FORMATS
from stores.formats.prompts import load_prompt
from stores.keeping import find_store, identity_hash, keep_store
from stores.roles import ChatModel
from stores.selectors import history_value


def build_store(*, build_id: int) -> Outcome:
    """Claim and build one store; a store with the same identity is taken as it is.

    A killed build goes on with the replies that it had committed.
    """
    return execute(StoreBuild, build_id, lambda work: _build(build_id, work))


@dataclass(frozen=True, slots=True)
class _Roles:
    """Who takes part in a build: what the format does not need is None."""

    writer: ChatModel | None
    embedder: TimedEmbedder | None

    def identities(self) -> dict[str, Any]:
        return {
            "writer": self.writer.identity if self.writer else None,
            "embedder": self.embedder.generation if self.embedder else None,
        }


def _build(build_id: int, work: Work) -> None:
    build = StoreBuild.objects.select_related("run__study__workspace", "history").get(pk=build_id)
    plan = study_plan(build.run.study)
    if build.spec.get("index"):
        build_index(build, plan, work)
        return
    if build.spec.get("derived"):
        build_derived(build, plan, work)
        return
    if build.spec.get("repair"):
        build_repair(build, plan, work)
        return
    with ExitStack() as stack:
        roles = _open_roles(stack, build, plan)
        identity = identity_hash(
            history_checksum=build.history.checksum,
            format=build.format,
            budget=write_budget(plan),
            recipe=recipe(FORMATS[build.format], plan),
            **roles.identities(),
        )
        known = find_store(workspace=build.run.study.workspace, identity=identity)
        if known is not None:
            with work.commit():
                complete_build(build, work, known, reused=True)
            return
        _write(build, plan, roles, identity, work)


def _open_roles(stack: ExitStack, build: StoreBuild, plan: StudyPlan) -> _Roles:
    writer = embedder = None
    if build.writer:
        writer = stack.enter_context(
            engine_pool().chat_model(
                plan.model(build.writer), context_tokens=plan.budgets.context_tokens
            )
        )
    if build.embedder:
        embedder = TimedEmbedder(engine_pool().embedder(plan.embedder(build.embedder)))
    return _Roles(writer, embedder)


def recipe(memory_format: MemoryFormat, plan: StudyPlan) -> dict[str, str]:
    """What a format and the plan's prompts contribute to a store, before it is written."""
    parts = {
        "code_pattern": plan.scoring.code_pattern,
        "schema": memory_format.schema_version,
    }
    if memory_format.needs_writer:
        parts["prompt"] = load_prompt(memory_format.name, plan.prompts).sha256
    return parts


def _write(build: StoreBuild, plan: StudyPlan, roles: _Roles, identity: str, work: Work) -> None:
    """Write the store and commit it together with the end of its build."""
    memory_format, history = FORMATS[build.format], history_value(build.history)
    journal = None
    if roles.writer is not None:
        # Nothing to forget: windows share the instruction alone, which an engine computes by itself
        # and meets in the same state whatever was asked in between.
        journal = JournaledChat(
            roles.writer, model=plan.model(build.writer), build=build, work=work
        )
    work.check_stop()
    written = memory_format.write(
        history,
        writer=journal,
        embedder=roles.embedder,
        budget=write_budget(plan),
        prompts=plan.prompts,
    )
    coverage = memory_format.coverage(
        written.content, history, history.probes, code_pattern=plan.scoring.code_pattern
    )
    with work.commit():
        if roles.embedder is not None:
            position = next(journal.positions) if journal else 0
            keep_embedder_call(build, plan=plan, position=position, wall_s=roles.embedder.wall_s)
        store = keep_store(
            workspace=build.run.study.workspace,
            identity=identity,
            history=build.history,
            format=build.format,
            written=written,
            coverage=coverage,
            budget=write_budget(plan),
            **roles.identities(),
        )
        complete_build(build, work, store, reused=False)
