"""Makes whole studies in the database, quickly and without a model.

Histories, readings and coverage come from the real generator and the real formats; a writer loses
what it is told to lose, and the answers follow from what each store still holds.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from django.utils import timezone

from experiments.models import Answer, Attempt, Call, Evaluation, Run, StoreBuild, Study
from experiments.plan.budgets import write_budget
from experiments.plan.expand import expand
from experiments.plan.plan import parse_plan, plan_sha256, plan_value
from experiments.plan.schema import StudyPlan
from experiments.plan.specs import EvaluationSpec
from experiments.services.inputs import prefix_sha256, request_sha256
from memport_site.accounts.models import Membership, User, Workspace
from stores import models as stored
from stores.formats.base import Written
from stores.formats.content import canonical_json
from stores.formats.formats import FORMATS
from stores.formats.reading import reader_request
from stores.keeping import identity_hash, keep_store
from stores.roles import EmbeddingGeneration, ModelIdentity
from stores.workload.generator import generate
from stores.workload.types import History
from stores.workload.vocabulary import NOTE

ENGINE = "scripted"


def a_workspace(slug: str = "default") -> Workspace:
    """Return a workspace, made where it is missing."""
    return Workspace.objects.get_or_create(slug=slug, defaults={"name": slug.title()})[0]


def a_user(workspace: Workspace, *, role: str = "admin", name: str = "") -> User:
    """Return a user with a role in a workspace."""
    user = User.objects.create_user(name or f"{role}-{workspace.slug}", password="let me in 42")
    Membership.objects.create(user=user, workspace=workspace, role=role)
    return user


def plan_data(key: str = "swap", **changes: Any) -> dict[str, Any]:
    """Return the values of a two-direction plan on the scripted engine."""
    return {
        "key": key,
        "title": "Old to new: does memory survive?",
        "histories": {"preset": "tiny", "seed": 7},
        "formats": ["lc_raw", "rag", "notes", "kg_fixed"],
        "models": [{"key": "old", "engine": ENGINE}, {"key": "new", "engine": ENGINE}],
        "embedders": [{"key": "bag", "engine": ENGINE}],
        "tests": {"writer_swap": {"noise_repeats": 0}},
        **changes,
    }


class BagEmbedder:
    """Hashed words, normalized: texts that share words are near."""

    def __init__(self, key: str = "bag", dimension: int = 64) -> None:
        self.generation = EmbeddingGeneration(
            key=key, engine=ENGINE, revision="1", fingerprint="bag", dimension=dimension,
            pooling="sum", normalized=True, query_prefix="", passage_prefix="", max_tokens=512,
        )  # fmt: skip

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """Return one float32 row per text."""
        rows = np.zeros((len(texts), self.generation.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % len(row)] += 1
            row /= np.linalg.norm(row) or 1
        return rows

    embed_queries = embed_passages

    def close(self) -> None:
        """Nothing to close."""


def written_by(name: str, history: History, *, loses_every: int) -> Written:
    """Return what a forgetful writer keeps: all events but every n-th one."""
    kept = [event for event in history.events if event.seq % loses_every]
    if name == "notes":
        notes = [{"events": [event.key], "text": event.text} for event in kept]
        return Written(canonical_json({"format": "notes", "notes": notes}))
    facts = [event for event in kept if event.fields and event.fields["predicate"] != NOTE]
    claims = [
        {
            "item": f"claim-{number:04d}", "subject": str(event.fields["subject"]),
            "predicate": event.fields["predicate"], "object": str(event.fields["object"]),
            "source": str(event.fields.get("source", "")), "event": event.key, "seq": event.seq,
            "at": event.at,
        }
        for number, event in enumerate(facts, start=1)
        if event.fields
    ]  # fmt: skip
    return Written(canonical_json({"format": "kg_fixed", "claims": claims}))


WRITERS = {"old": 4, "new": 9}


def a_history(workspace: Workspace, value: History, **changes: Any) -> stored.History:
    """Keep a history value with its events and probes."""
    history, made = stored.History.objects.get_or_create(
        workspace=workspace,
        key=value.key,
        defaults={
            "title": value.title, "source": "synthetic", "checksum": value.checksum(), **changes
        },
    )  # fmt: skip
    if made:
        _keep_events_and_probes(history, value)
    return history


def _keep_events_and_probes(history: stored.History, value: History) -> None:
    stored.Event.objects.bulk_create(
        stored.Event(
            history=history, key=e.key, seq=e.seq, at=e.at, actor=e.actor, text=e.text,
            fields=dict(e.fields) if e.fields is not None else None,
        )
        for e in value.events
    )  # fmt: skip
    stored.Probe.objects.bulk_create(
        stored.Probe(
            history=history, key=p.key, position=position, kind=p.kind, question=p.question,
            answer=p.answer, evidence=list(p.evidence), memory_class=p.memory_class,
            screening=p.screening, scoring={"method": p.scoring.method},
        )
        for position, p in enumerate(value.probes)
    )  # fmt: skip


class StudyMaker:
    """Builds one study: stores by the real formats, answers by what the stores still hold."""

    def __init__(self, workspace: Workspace, plan: StudyPlan, values: Sequence[History]) -> None:
        self.workspace, self.plan = workspace, plan
        self.values = {value.key: value for value in values}
        self.rows = {
            value.key: a_history(workspace, value, collection="tiny-s7") for value in values
        }
        self.budget = write_budget(plan)
        self.embedder = BagEmbedder()
        self.probes = {
            (p.history.key, p.key): p
            for p in stored.Probe.objects.filter(history__in=self.rows.values())
            .select_related("history")
        }  # fmt: skip

    def make(self, *, state: str = Run.State.COMPLETE, answered: float = 1.0) -> Study:
        """Build the study; `answered` is the share of evaluations that are complete."""
        value = plan_value(self.plan)
        study = Study.objects.create(
            workspace=self.workspace, key=self.plan.key, title=self.plan.title, plan=value,
            plan_sha256=plan_sha256(self.plan), locked_at=timezone.now(),
        )  # fmt: skip
        for test, expansion in expand(self.plan, list(self.values.values())).items():
            now = timezone.now()
            run = Run.objects.create(
                study=study, test=test, state=state, started_at=now,
                finished_at=now if state == Run.State.COMPLETE else None,
                left_out=[asdict(left) for left in expansion.left_out],
            )  # fmt: skip
            builds = {
                spec.key: self._build(run, position, spec)
                for position, spec in enumerate(expansion.stores)
            }
            done = round(len(expansion.evaluations) * answered)
            for position, cell in enumerate(expansion.evaluations):
                self._evaluate(run, position, cell, builds[cell.store_key], done=position < done)
        return study

    def _build(self, run: Run, position: int, spec: Any) -> StoreBuild:
        memory_format, history = FORMATS[spec.format], self.values[spec.history]
        embedder = self.embedder if memory_format.needs_embedder else None
        identity = None
        if spec.writer:
            identity = ModelIdentity(spec.writer, ENGINE, "1", spec.writer)
            loses_every = WRITERS.get(spec.writer, 5)
            written = written_by(spec.format, history, loses_every=loses_every)
        else:
            written = memory_format.write(
                history, writer=None, embedder=embedder, budget=self.budget
            )
        generation = embedder.generation if embedder else None
        store = keep_store(
            workspace=self.workspace,
            identity=identity_hash(
                history_checksum=history.checksum(), format=spec.format, writer=identity,
                embedder=generation, budget=self.budget, recipe={},
            ),
            history=self.rows[spec.history], format=spec.format, written=written,
            coverage=memory_format.coverage(written.content, history, history.probes),
            budget=self.budget, writer=identity, embedder=generation,
        )  # fmt: skip
        return StoreBuild.objects.create(
            run=run, store_key=spec.key, history=self.rows[spec.history], format=spec.format,
            writer=spec.writer, embedder=spec.embedder, store=store, state="complete",
            position=position, started_at=run.started_at, finished_at=run.started_at,
        )  # fmt: skip

    def _evaluate(
        self, run: Run, position: int, cell: EvaluationSpec, build: StoreBuild, *, done: bool
    ) -> None:
        now = timezone.now()
        evaluation = Evaluation.objects.create(
            run=run, position=position, history=self.rows[cell.history], format=cell.format,
            writer=cell.writer, reader=cell.reader, embedder=cell.embedder,
            condition=cell.condition, repeat=cell.repeat, build=build,
            state="complete" if done else "ready", started_at=now if done else None,
            finished_at=now if done else None,
        )  # fmt: skip
        if not done:
            return
        identity = ModelIdentity(key=cell.reader, engine=ENGINE, revision="1", fingerprint="f")
        attempt = Attempt.objects.create(
            evaluation=evaluation, store=build.store, state="complete", finished_at=now,
            reader_identity={
                "key": identity.key, "engine": ENGINE, "revision": "1", "fingerprint": "f"
            },
        )  # fmt: skip
        self._answer(attempt, cell, build, identity)

    def _answer(
        self, attempt: Attempt, cell: EvaluationSpec, build: StoreBuild, identity: ModelIdentity
    ) -> None:
        history, memory_format = self.values[cell.history], FORMATS[cell.format]
        assert build.store is not None
        readings = memory_format.read(
            bytes(build.store.content.data), history.probes,
            embedder=self.embedder if memory_format.needs_embedder else None, budget=self.budget,
        )  # fmt: skip
        calls, answers = [], []
        for position, (probe, reading) in enumerate(zip(history.probes, readings, strict=True)):
            request = reader_request(
                reading, max_output_tokens=self.plan.budgets.reader_output_tokens,
                seed=self.plan.seed,
            )  # fmt: skip
            text, reason = self._says(probe, reading, cell)
            calls.append(Call(
                attempt=attempt, role=Call.Role.READER, model=cell.reader, position=position,
                served_model=f"scripted-{cell.reader}", reply_text=text, finish_reason="stop",
                request_sha256=request_sha256(request, identity=identity),
                prompt_tokens=240, cached_tokens=200, output_tokens=8, engine_s=0.4,
                cost_usd=0.00002,
            ))  # fmt: skip
            answers.append(Answer(
                attempt=attempt, probe=self.probes[cell.history, probe.key], text=text,
                correct=not reason, reason=reason,
                found=[text[-8:-1]] if "code" in text else [],
                prefix_sha256=prefix_sha256(reading), suffix=reading.suffix,
                retrieved=[
                    {"item": r.item, "rank": r.rank, "score": r.score, "events": list(r.events)}
                    for r in reading.retrieved
                ],
                evidence_ranks=dict(reading.evidence_ranks) if reading.evidence_ranks else None,
            ))  # fmt: skip
        for call, answer in zip(Call.objects.bulk_create(calls), answers, strict=True):
            answer.call = call
        Answer.objects.bulk_create(answers)

    def _says(self, probe: Any, reading: Any, cell: EvaluationSpec) -> tuple[str, str]:
        """The scripted reader finds the code where it is shown; the old one misses every third."""
        digest = int(
            hashlib.sha256(f"{cell.reader}{probe.history}{probe.key}".encode()).hexdigest(), 16
        )
        shown = probe.answer in reading.prefix + reading.suffix
        if not shown:
            return "I do not know.", "no_code"
        if cell.reader == "old" and digest % 3 == 0:
            return "The code is ZZ-0000.", "wrong_code"
        return f"The code is {probe.answer}.", ""


def a_study(
    workspace: Workspace, *, key: str = "swap", n_histories: int = 6, answered: float = 1.0,
    state: str = Run.State.COMPLETE, values: Sequence[History] = (), **changes: Any,
) -> Study:  # fmt: skip
    """Return a finished two-direction study of all four formats on the scripted engine."""
    plan = parse_plan(plan_data(key, **changes))
    histories = values or generate("tiny", seed=7)[:n_histories]
    return StudyMaker(workspace, plan, histories).make(state=state, answered=answered)
