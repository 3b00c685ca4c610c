"""The lock of a study's plan: the very bytes that were hashed and signed, and by which key."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class PlanLock(models.Model):
    """A signed plan. The row is never changed; the database refuses it (see `experiments.guards`).

    `after_results_because` is empty for a plan that was locked before any result existed. Where
    it is not, nothing that the plan names counts as planned.
    """

    study = models.OneToOneField(
        "experiments.Study", on_delete=models.PROTECT, related_name="plan_lock"
    )
    plan_json = models.BinaryField()
    sha256 = models.CharField(max_length=64)
    signature = models.BinaryField()
    # PEM, so that it can be given to OpenSSL as it stands.
    public_key = models.TextField()
    key_id = models.CharField(max_length=64)
    after_results_because = models.TextField(blank=True)
    locked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True)
    locked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=~models.Q(sha256="") & ~models.Q(public_key=""),
                name="lock_has_hash_and_key",
            ),
        ]
