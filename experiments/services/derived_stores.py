"""Stores made from another store of the same run: corrupted ones, and notes in another style."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from experiments.models import StoreBuild
from experiments.plan.budgets import write_budget
from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.selectors import probes_asked
from experiments.services.builds import complete_build, parent_store
from experiments.services.execution import Work
from experiments.services.journal import JournaledChat
from experiments.services.stored import checked_content
from stores.errors import InvalidInputError
from stores.formats.base import Written
from stores.formats.corruption import CORRUPTION_VERSION, corrupt, dose_of
from stores.formats.formats import FORMATS
from stores.formats.prompts import load_prompt
from stores.formats.restyling import PROMPT, rewrite_notes
from stores.keeping import find_store, identity_hash, keep_store
from stores.models import Store
from stores.roles import ChatModel, ModelIdentity
from stores.selectors import history_value
from stores.workload.types import History

STYLE_REWRITE = "style_rewrite"


@dataclass(frozen=True, slots=True)
class _Derivation:
    """A build with what it is made from. `rewriter` is None where no model takes part."""

    build: StoreBuild
    plan: StudyPlan
    parent: Store
    history: History
    rewriter: ChatModel | None

    @property
    def kind(self) -> str:
        """What is done to the parent."""
        return str(self.build.spec["derived"])

    @property
    def writer(self) -> ModelIdentity | None:
        """Whose words the store holds: the rewriter's, else those of the parent's writer."""
        if self.rewriter is not None:
            return self.rewriter.identity
        kept = self.parent.writer_identity
        return ModelIdentity(**kept) if kept else None

    def recipe(self) -> dict[str, str]:
        """What decides the content beside the parent and the rewriter."""
        parts = {"code_pattern": self.plan.scoring.code_pattern, "derived": self.kind}
        if self.rewriter is not None:
            parts["prompt"] = load_prompt(PROMPT, self.plan.prompts).sha256
        else:
            parts["schema"] = CORRUPTION_VERSION
            parts["probes"] = ",".join(probe.key for probe in self.history.probes)
        return parts


def build_derived(build: StoreBuild, plan: StudyPlan, work: Work) -> None:
    """Build a store from its parent; one with the same identity is taken as it is."""
    with ExitStack() as stack:
        job = _load(stack, build, plan)
        workspace = build.run.study.workspace
        identity = identity_hash(
            history_checksum=build.history.checksum,
            format=build.format,
            writer=job.rewriter.identity if job.rewriter is not None else None,
            embedder=None,
            budget=write_budget(plan),
            recipe=job.recipe(),
            parent=job.parent.identity,
        )
        known = find_store(workspace=workspace, identity=identity)
        if known is not None:
            with work.commit():
                complete_build(build, work, known, reused=True)
            return
        work.check_stop()
        written = _derive(job, work)
        coverage = FORMATS[build.format].coverage(
            written.content,
            job.history,
            job.history.probes,
            code_pattern=plan.scoring.code_pattern,
        )
        with work.commit():
            store = keep_store(
                workspace=workspace,
                identity=identity,
                history=build.history,
                format=build.format,
                written=written,
                coverage=coverage,
                budget=write_budget(plan),
                writer=job.writer,
                parent=job.parent,
            )
            complete_build(build, work, store, reused=False)


def _load(stack: ExitStack, build: StoreBuild, plan: StudyPlan) -> _Derivation:
    parent = parent_store(build)
    rewriter: Any = None
    if build.spec["derived"] == STYLE_REWRITE:
        rewriter = stack.enter_context(
            engine_pool().chat_model(
                plan.model(build.writer), context_tokens=plan.budgets.context_tokens
            )
        )
    asked = {probe.key for probe in probes_asked(build.history, plan)}
    value = history_value(build.history)
    probes = tuple(probe for probe in value.probes if probe.key in asked)
    history = History(value.key, value.events, value.title, probes)
    return _Derivation(build, plan, parent, history, rewriter)


def _derive(job: _Derivation, work: Work) -> Written:
    content = checked_content(job.parent)
    if job.rewriter is not None:
        job.rewriter.forget()
        journal = JournaledChat(
            job.rewriter, model=job.plan.model(job.build.writer), build=job.build, work=work
        )
        return rewrite_notes(
            content, rewriter=journal, budget=write_budget(job.plan), prompts=job.plan.prompts
        )
    dose = dose_of(job.kind)
    if dose is None:
        raise InvalidInputError(f"a store cannot be derived by {job.kind!r}")
    return corrupt(
        job.build.format,
        content,
        job.history,
        job.history.probes,
        percent=dose,
        seed=job.plan.seed,
        code_pattern=job.plan.scoring.code_pattern,
    )
