"""Build a repaired store: a new one, with its parent, method, rung and what it cost."""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from experiments import models
from experiments.forecast import gpu_hours
from experiments.forecast_values import Amount
from experiments.models import Call, StoreBuild
from experiments.plan.budgets import write_budget
from experiments.plan.schema import Embedder, Model, StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.services.builds import complete_build, parent_store
from experiments.services.execution import Work
from experiments.services.inputs import batch_size, keep_embedder_call
from experiments.services.journal import JournaledChat
from experiments.services.stored import checked_content
from experiments.services.timing import TimedEmbedder
from stores.formats.base import Written
from stores.formats.formats import FORMATS
from stores.formats.prompts import load_prompt
from stores.formats.repairing import (
    FROM_STORE,
    NOTES_RAW,
    PROMPTS,
    Allowed,
    OutputLimitError,
    not_repaired,
    rebuild_notes,
    reembed,
)
from stores.keeping import find_store, identity_hash, keep_store
from stores.models import Store
from stores.roles import ChatModel, ModelIdentity
from stores.selectors import history_value


@dataclass(frozen=True, slots=True)
class _Job:
    """A repair with what takes part in it: a model that writes, or an embedder."""

    build: StoreBuild
    plan: StudyPlan
    degraded: Store
    repairer: ChatModel | None
    embedder: TimedEmbedder | None

    @property
    def method(self) -> str:
        """One of `stores.formats.repairing.METHODS`."""
        return str(self.build.spec["repair"])

    @property
    def rung(self) -> int:
        """The number of the rung, from 1."""
        return int(self.build.spec["rung"])

    @property
    def allowance_tokens(self) -> int:
        """Output tokens of the whole repair."""
        settings = self.plan.tests.repair
        assert settings is not None, "a repair belongs to the test of that name"
        return settings.rungs[self.rung - 1]

    @property
    def part(self) -> Model | Embedder:
        """Who repairs, as the plan describes it."""
        if self.repairer is not None:
            return self.plan.model(self.build.writer)
        return self.plan.embedder(self.build.embedder)

    def recipe(self) -> dict[str, str]:
        """What decides a repaired store, and what it is said to have cost."""
        parts = {
            "code_pattern": self.plan.scoring.code_pattern,
            "repair": self.method,
            "rung": str(self.rung),
            "allowance": str(self.allowance_tokens),
            "price": json.dumps(self.part.price.model_dump(), sort_keys=True),
            "schema": FORMATS[self.build.format].schema_version,
        }
        if self.method in PROMPTS:
            parts["prompt"] = load_prompt(PROMPTS[self.method], self.plan.prompts).sha256
        return parts

    def writer(self, *, failed: bool) -> ModelIdentity | None:
        """Whose words the store holds: the repairer's; after a failure still the old writer's."""
        if self.repairer is not None and not failed:
            return self.repairer.identity
        kept = self.degraded.writer_identity
        return ModelIdentity(**kept) if kept else None


def build_repair(build: StoreBuild, plan: StudyPlan, work: Work) -> None:
    """Repair a store; one that was repaired in the same way at the same prices is taken as it is.

    A repair that stops at its output limit has failed, which is a result: its store holds what the
    degraded one does, so that this is what gets measured.
    """
    with ExitStack() as stack:
        job = _open(stack, build, plan)
        identity = identity_hash(
            history_checksum=build.history.checksum,
            format=build.format,
            writer=job.repairer.identity if job.repairer is not None else None,
            embedder=job.embedder.generation if job.embedder is not None else None,
            budget=write_budget(plan),
            recipe=job.recipe(),
            parent=job.degraded.identity,
        )
        known = find_store(workspace=build.run.study.workspace, identity=identity)
        if known is not None:
            with work.commit():
                complete_build(build, work, known, reused=True)
            return
        work.check_stop()
        try:
            written, failed = _repaired(job, work), False
        except OutputLimitError:
            content = checked_content(job.degraded)
            written = not_repaired(content, allowance_tokens=job.allowance_tokens)
            failed = True
        _keep(job, work, identity, written, failed=failed)


def _open(stack: ExitStack, build: StoreBuild, plan: StudyPlan) -> _Job:
    repairer: Any = None
    embedder = None
    if build.writer:
        repairer = stack.enter_context(
            engine_pool().chat_model(
                plan.model(build.writer), context_tokens=plan.budgets.context_tokens
            )
        )
    else:
        embedder = TimedEmbedder(engine_pool().embedder(plan.embedder(build.embedder)))
    return _Job(build, plan, parent_store(build), repairer, embedder)


def _repaired(job: _Job, work: Work) -> Written:
    """Repair with what the method may see: the history is handed to `notes_raw` alone."""
    content, plan = checked_content(job.degraded), job.plan
    if job.repairer is None:
        assert job.embedder is not None, "somebody has to repair"
        return reembed(content, embedder=job.embedder)
    job.repairer.forget()
    journal = JournaledChat(
        job.repairer,
        model=plan.model(job.build.writer),
        build=job.build,
        work=work,
        role=Call.Role.REPAIRER,
    )
    repairer = Allowed(
        journal,
        allowance_tokens=job.allowance_tokens,
        calls_at_once=batch_size(plan.model(job.build.writer)),
    )
    budget = write_budget(plan)
    if job.method == NOTES_RAW:
        history = history_value(job.build.history)
        return rebuild_notes(history, repairer=repairer, budget=budget, prompts=plan.prompts)
    return FROM_STORE[job.method](content, repairer=repairer, budget=budget, prompts=plan.prompts)


def _keep(job: _Job, work: Work, identity: str, written: Written, *, failed: bool) -> None:
    """Commit the store, its repair and the end of its build in one piece."""
    build, plan = job.build, job.plan
    history = history_value(build.history)
    coverage = FORMATS[build.format].coverage(
        written.content, history, history.probes, code_pattern=plan.scoring.code_pattern
    )
    with work.commit():
        if job.embedder is not None:
            keep_embedder_call(build, plan=plan, position=0, wall_s=job.embedder.wall_s)
        store = keep_store(
            workspace=build.run.study.workspace,
            identity=identity,
            history=build.history,
            format=build.format,
            written=written,
            coverage=coverage,
            budget=write_budget(plan),
            writer=job.writer(failed=failed),
            embedder=job.embedder.generation if job.embedder is not None else None,
            parent=job.degraded,
        )
        models.Repair.objects.get_or_create(
            store=store,
            defaults={
                "degraded": job.degraded,
                "method": job.method,
                "rung": job.rung,
                "allowance_tokens": job.allowance_tokens,
                "repairer": job.part.key,
                "hit_output_limit": failed,
                **_cost(job, failed=failed),
            },
        )
        complete_build(build, work, store, reused=False)


def _cost(job: _Job, *, failed: bool) -> dict[str, Any]:
    """What the repair's calls cost; a failed one is charged its full reserved output."""
    calls = list(job.build.calls.all())
    output = sum(call.output_tokens for call in calls)
    unused = max(0, job.allowance_tokens - output) if failed else 0
    engine_s = sum(call.engine_s for call in calls)
    usd = sum(call.cost_usd for call in calls)
    return {
        "cost_tokens": sum(call.prompt_tokens for call in calls) + output + unused,
        "cost_usd": usd + unused * job.part.price.output_usd_per_mtok / 1e6,
        "engine_s": engine_s,
        "cost_gpu_hours": gpu_hours(job.part, Amount(engine_s)).value,
    }
