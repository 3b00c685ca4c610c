"""Who works: processes that may execute jobs. Part of the models of `experiments`."""

import uuid

from django.db import models


class WorkerProcess(models.Model):
    """A process that may execute jobs, and when it was last alive."""

    class Kind(models.TextChoices):
        SERVER = "server"  # serves pages and works
        COMMAND = "command"  # works for one command
        CELERY = "celery"  # a worker of a cluster

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    kind = models.CharField(max_length=10, choices=Kind)
    host = models.CharField(max_length=200)
    pid = models.PositiveIntegerField()
    # Tells a live process from another one that later got the same pid.
    pid_started = models.CharField(max_length=60)
    started_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True)
    address = models.CharField(max_length=200, blank=True)
