"""This process's own engines, disk and environment, for the checks before a launch."""

import os
import shutil
from pathlib import Path

from django.conf import settings

from experiments.plan.schema import StudyPlan
from experiments.runtime.pool import engine_pool
from experiments.surroundings import Surroundings


def here(plan: StudyPlan) -> Surroundings:
    """Return what a plan meets in this process; models are opened by its engine pool."""
    pool = engine_pool()
    return Surroundings(
        chat_model=lambda model: pool.chat_model(model, context_tokens=plan.budgets.context_tokens),
        embedder=pool.embedder,
        free_bytes=shutil.disk_usage(_data_folder()).free,
        environ=os.environ,
    )


def _data_folder() -> Path:
    """Where the database lies if it is a file of ours, else memport's home."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3" and Path(database["NAME"]).exists():
        return Path(database["NAME"]).parent
    return Path(settings.HOME)
