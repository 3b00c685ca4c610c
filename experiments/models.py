"""What is tried: studies, their runs, and every answer with what it cost."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from experiments.plan_locks import PlanLock as PlanLock
from experiments.worker_process import WorkerProcess
from memport_site.accounts.models import Workspace
from stores.models import Blob, History, Probe, Store


class Study(models.Model):
    """A question with a plan. The plan is locked when the study is launched."""

    class Source(models.TextChoices):
        RUN = "run"
        TABLE = "table"

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="studies")
    key = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    source = models.CharField(max_length=10, choices=Source, default=Source.RUN)
    # The answers table of a study that was not run here.
    table = models.ForeignKey(Blob, on_delete=models.PROTECT, null=True, related_name="+")
    table_name = models.CharField(max_length=200, blank=True)
    simulated = models.BooleanField(default=False)
    plan = models.JSONField(default=dict)
    plan_sha256 = models.CharField(max_length=64, blank=True)
    locked_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "key"], name="study_key_unique"),
            models.CheckConstraint(
                condition=models.Q(locked_at__isnull=True) | ~models.Q(plan_sha256=""),
                name="locked_study_has_plan_hash",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Run(models.Model):
    """One execution of one migration test of a study."""

    class State(models.TextChoices):
        HELD = "held"  # until the gates of its study are decided
        BARRED = "barred"  # a gate failed; it goes on by a person's decision alone
        QUEUED = "queued"
        RUNNING = "running"
        STOPPING = "stopping"
        STOPPED = "stopped"
        COMPLETE = "complete"
        INCOMPLETE = "incomplete"  # ended with failed evaluations or unscored answers

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="runs")
    test = models.CharField(max_length=40)
    number = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    # What was checked before any call counted: [{"name", "subject", "expected", "found", "ok"}]
    preflight = models.JSONField(default=list)
    # What the run was expected to take, as `experiments.forecast` gave it at the launch.
    forecast = models.JSONField(default=dict)
    # Formats that do not apply to a history: [{"history", "format", "reason"}]
    left_out = models.JSONField(default=list)
    # Cells that an earlier run of the study reads, and whose answers count here as well.
    reused = models.PositiveIntegerField(default=0)
    # Why the run is held or barred, in words.
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["study_id", "test", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["study", "test", "number"], name="run_number_unique"),
        ]


class Job(models.Model):
    """What a worker can claim. The database is the queue; a broker only wakes somebody up."""

    class State(models.TextChoices):
        WAITING = "waiting"  # for a store that is not built yet
        READY = "ready"
        RUNNING = "running"
        COMPLETE = "complete"
        FAILED = "failed"

    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    position = models.PositiveIntegerField(default=0)
    claim = models.UUIDField(null=True)
    claimed_by = models.ForeignKey(
        WorkerProcess, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    lease_until = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class StoreBuild(Job):
    """The making of one store for a run; several runs may end in the same store."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="store_builds")
    store_key = models.CharField(max_length=260)
    history = models.ForeignKey(History, on_delete=models.PROTECT, related_name="+")
    format = models.CharField(max_length=40)
    writer = models.CharField(max_length=120, blank=True)
    embedder = models.CharField(max_length=120, blank=True)
    spec = models.JSONField(default=dict)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, null=True, related_name="builds")
    reused = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["run_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["run", "store_key"], name="build_key_unique"),
            models.CheckConstraint(
                condition=~models.Q(state="complete") | models.Q(store__isnull=False),
                name="complete_build_has_store",
            ),
        ]


class Evaluation(Job):
    """One cell of a run. Every part of its key is present: SQLite takes two NULLs for different."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="evaluations")
    history = models.ForeignKey(History, on_delete=models.PROTECT, related_name="evaluations")
    format = models.CharField(max_length=40)
    writer = models.CharField(max_length=120, blank=True, default="")
    reader = models.CharField(max_length=120, blank=True, default="")
    embedder = models.CharField(max_length=120, blank=True, default="")
    condition = models.CharField(max_length=20, default="normal")
    index = models.CharField(max_length=40, blank=True, default="")
    repair = models.CharField(max_length=40, blank=True, default="")
    rung = models.PositiveIntegerField(default=0)
    repeat = models.PositiveIntegerField(default=0)
    build = models.ForeignKey(
        StoreBuild, on_delete=models.PROTECT, null=True, related_name="evaluations"
    )
    # For a repeat: what differs from the first one, in words.
    varied = models.JSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["run_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=[
                    "run", "history", "format", "writer", "reader", "embedder",
                    "condition", "index", "repair", "rung", "repeat",
                ],
                name="evaluation_key_unique",
            ),
        ]  # fmt: skip


class Attempt(models.Model):
    """One try at an evaluation. It owns the answers; they count once it is complete."""

    class State(models.TextChoices):
        OPEN = "open"
        COMPLETE = "complete"
        ABANDONED = "abandoned"

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    store = models.ForeignKey(Store, on_delete=models.PROTECT, null=True, related_name="attempts")
    reader_identity = models.JSONField(default=dict)
    resumes = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["evaluation_id", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["evaluation", "number"], name="attempt_number_unique"),
            models.UniqueConstraint(
                fields=["evaluation"], condition=models.Q(state="open"), name="one_open_attempt"
            ),
        ]


class Call(models.Model):
    """One call of a model, and what it cost. A repeat never shares a call with anything."""

    class Role(models.TextChoices):
        WRITER = "writer"
        READER = "reader"
        REPAIRER = "repairer"
        EMBEDDER = "embedder"

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, null=True, related_name="calls")
    build = models.ForeignKey(StoreBuild, on_delete=models.CASCADE, null=True, related_name="calls")
    role = models.CharField(max_length=10, choices=Role)
    model = models.CharField(max_length=120)
    served_model = models.CharField(max_length=200, blank=True)
    position = models.PositiveIntegerField()
    worker = models.ForeignKey(
        WorkerProcess, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    request_sha256 = models.CharField(max_length=64)
    reply_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=20)
    prompt_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    primed_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    engine_s = models.FloatField(default=0)
    cost_usd = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(attempt__isnull=True) ^ models.Q(build__isnull=True),
                name="call_has_one_owner",
            ),
            models.UniqueConstraint(
                fields=["build", "position"],
                condition=models.Q(build__isnull=False),
                name="one_call_per_build_step",
            ),
            models.UniqueConstraint(
                fields=["attempt", "position"],
                condition=models.Q(attempt__isnull=False),
                name="one_call_per_attempt_step",
            ),
        ]


class Answer(models.Model):
    """What one reader answered to one probe, and how it was scored."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="answers")
    probe = models.ForeignKey(Probe, on_delete=models.PROTECT, related_name="answers")
    call = models.OneToOneField(Call, on_delete=models.PROTECT, null=True, related_name="answer")
    text = models.TextField(blank=True)
    correct = models.BooleanField(null=True)  # None: never scored
    reason = models.CharField(max_length=20, blank=True)
    found = models.JSONField(default=list)
    prefix_sha256 = models.CharField(max_length=64, blank=True)
    suffix = models.TextField(blank=True)
    # Retrieval: [{"item", "rank", "score", "events"}], and the rank of every evidence event.
    retrieved = models.JSONField(default=list)
    evidence_ranks = models.JSONField(null=True)
    rank = models.PositiveIntegerField(null=True)
    recall = models.FloatField(null=True)

    class Meta:
        ordering: ClassVar = ["attempt_id", "probe_id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["attempt", "probe"], name="one_answer_per_probe"),
        ]


class Repair(models.Model):
    """A store made from a degraded one, by a repairer, a method and a budget rung.

    Where it `hit_output_limit` it failed: the store holds what the degraded one does, and the whole
    allowance is charged. Tokens are those of the repairer's prompts and output; embedders count
    none. GPU-hours are None where an endpoint does not say what it runs on.
    """

    store = models.OneToOneField(Store, on_delete=models.PROTECT, related_name="repair")
    degraded = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="repairs")
    method = models.CharField(max_length=40)
    rung = models.PositiveIntegerField()
    allowance_tokens = models.PositiveIntegerField(default=0)
    repairer = models.CharField(max_length=120)
    hit_output_limit = models.BooleanField(default=False)
    cost_usd = models.FloatField(default=0)
    cost_tokens = models.PositiveBigIntegerField(default=0)
    engine_s = models.FloatField(default=0)
    cost_gpu_hours = models.FloatField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)


class Deviation(models.Model):
    """A departure from the plan: what, why, and the checksums of what it touches."""

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="deviations")
    at = models.DateTimeField(auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    what = models.TextField()
    why = models.TextField()
    touches = models.JSONField(default=list)
