"""What stores kept of the evidence, under the names that the plan gives to their writers.

A store knows what wrote it by the model's own name (its catalogue key, say), which other studies
share. Answers, and so all figures, go by the plan's keys: those stand in the builds.
"""

from django.db.models import QuerySet

from analysis.stats.coverage import Coverage
from experiments.models import StoreBuild


def coverage_of(builds: QuerySet[StoreBuild]) -> list[Coverage]:
    """Return the coverage of every store that these builds made from a history itself."""
    made = builds.filter(store__isnull=False, store__parent=None)
    rows = made.values_list("history__key", "format", "writer", "store", "store__coverage")
    return [
        Coverage(history, name, writer, found.get("spans_required", 0), found.get("spans_kept", 0))
        for history, name, writer, _, found in rows.distinct()
        if found
    ]
