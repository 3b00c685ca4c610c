"""What is remembered: histories, and the stores made from them."""

from typing import ClassVar

from django.db import models

from memport_site.accounts.models import Workspace


class Blob(models.Model):
    """Content-addressed bytes. In the database, because workers share no disk."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size_bytes = models.PositiveBigIntegerField()
    data = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)


class History(models.Model):
    """An ordered list of events that one agent experienced. Never changed after import."""

    class Source(models.TextChoices):
        SYNTHETIC = "synthetic"
        IMPORTED = "imported"

    class Split(models.TextChoices):
        STUDY = "study"
        CALIBRATION = "calibration"

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="histories")
    key = models.CharField(max_length=120)
    title = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=20, choices=Source)
    # Synthetic: preset, seed and parameters. Imported: file name, its SHA-256, counts.
    source_detail = models.JSONField(default=dict)
    split = models.CharField(max_length=20, choices=Split, default=Split.STUDY)
    collection = models.CharField(max_length=80, blank=True, db_index=True)
    checksum = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["key"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "key"], name="history_key_unique"),
        ]

    def __str__(self) -> str:
        return self.title or self.key


class Event(models.Model):
    """One thing that happened in a history."""

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="events")
    key = models.CharField(max_length=120)
    seq = models.PositiveIntegerField()
    at = models.CharField(max_length=40, blank=True)
    actor = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    fields = models.JSONField(null=True)

    class Meta:
        ordering: ClassVar = ["history_id", "seq"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["history", "key"], name="event_key_unique"),
            models.UniqueConstraint(fields=["history", "seq"], name="event_seq_unique"),
        ]


class Probe(models.Model):
    """A question about a history, its one right answer, and its evidence (event keys)."""

    history = models.ForeignKey(History, on_delete=models.CASCADE, related_name="probes")
    key = models.CharField(max_length=120)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=60)
    memory_class = models.CharField(max_length=20, default="fact")
    question = models.TextField()
    answer = models.TextField()
    evidence = models.JSONField(default=list)
    scoring = models.JSONField(default=dict)
    screening = models.BooleanField(default=False)
    tags = models.JSONField(default=list)
    quarantined_because = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering: ClassVar = ["history_id", "position"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["history", "key"], name="probe_key_unique"),
        ]


class Store(models.Model):
    """One memory format built from one history. Inserted complete, never changed."""

    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="stores")
    # SHA-256 over everything that decides the content; see stores.selectors.identity_hash.
    identity = models.CharField(max_length=64)
    history = models.ForeignKey(History, on_delete=models.PROTECT, related_name="stores")
    history_checksum = models.CharField(max_length=64)
    format = models.CharField(max_length=40)
    writer = models.CharField(max_length=120, blank=True)
    writer_identity = models.JSONField(default=dict)
    embedder = models.CharField(max_length=120, blank=True)
    embedder_generation = models.JSONField(default=dict)
    index = models.CharField(max_length=40, blank=True)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    prompt_version = models.CharField(max_length=40, blank=True)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    schema_version = models.CharField(max_length=40, blank=True)
    budget = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=0)
    code_version = models.CharField(max_length=80)
    content = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="stores")
    checksum = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()
    notices = models.JSONField(default=list)
    # {"spans_required", "spans_kept", "spans_with_entity", "probes", "probes_whole",
    #  "by_probe": {key: [{"event", "span", "state", "with_entity", "found_in"}]}}
    coverage = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["history_id", "format", "writer"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["workspace", "identity"], name="store_identity_unique"),
        ]
