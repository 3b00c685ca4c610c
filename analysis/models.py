"""What was computed: results are kept per version of the data, and stale ones are never shown."""

from typing import ClassVar

from django.db import models

from experiments.models import Study


class AnalysisResult(models.Model):
    """A finished computation over one version of a study's answers."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="results")
    kind = models.CharField(max_length=40)
    # SHA-256 over the answers and the plan that it was computed from.
    data_version = models.CharField(max_length=64)
    result = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["study", "kind", "data_version"], name="one_result_per_data_version"
            ),
        ]


class ChangeMark(models.Model):
    """One row: another token whenever something that results rest on was changed afterwards."""

    token = models.CharField(max_length=40)
