"""What this machine offers a plan, without ever loading a model that another process has."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from django.conf import settings

from experiments.engines.catalogue import Catalogue
from experiments.plan.schema import Embedder as EmbedderPlan
from experiments.plan.schema import Model, StudyPlan
from experiments.runtime.claims import held
from experiments.runtime.pool import REMOTE_ENGINES, EnginePool, engine_pool
from experiments.runtime.seat import Seat
from experiments.surroundings import ModelElsewhere, Surroundings
from stores.roles import ChatModel, Embedder, ModelIdentity


@contextmanager
def surroundings_of(plan: StudyPlan) -> Iterator[Surroundings]:
    """Lend what a plan is checked against.

    Models are opened here if this process has the worker's seat or can have it for the moment. If
    another process has it, or a job is at work, their files are hashed and nothing is loaded; with
    workers on other machines (a broker is set) not even that, because the files are theirs.
    """
    if not settings.CELERY_BROKER_URL.startswith("memory://"):
        yield _elsewhere(plan, catalogue=None)
        return
    seat = Seat()
    ours = _has_seat(seat)
    # A job of our own worker has its model on loan: waiting for it could take minutes.
    if held() or (not ours and not seat.take()):
        yield _elsewhere(plan, catalogue=Catalogue(settings.CATALOGUE, settings.MODELS_DIR))
        return
    try:
        yield _here(plan, engine_pool())
    finally:
        if not ours:
            engine_pool().close()
            seat.free()


def _has_seat(seat: Seat) -> bool:
    """Whether this process's own worker has the seat: its holder writes its process id there."""
    try:
        written = seat.path.read_text().strip()
    except OSError:
        return False
    if written != str(os.getpid()):
        return False
    # The number may be left from a process that died and whose id is ours now: then it is free.
    if seat.take():
        seat.free()
        return False
    return True


def _here(plan: StudyPlan, pool: EnginePool) -> Surroundings:
    return Surroundings(
        chat_model=lambda model: pool.chat_model(model, context_tokens=plan.budgets.context_tokens),
        embedder=pool.embedder,
        free_bytes=_free_bytes(),
        environ=os.environ,
    )


def _elsewhere(plan: StudyPlan, *, catalogue: Catalogue | None) -> Surroundings:
    """Endpoints are asked as ever; models that would be loaded are only looked at."""
    pool, context = engine_pool(), plan.budgets.context_tokens

    def chat_model(model: Model) -> object:
        if model.engine in REMOTE_ENGINES:
            return pool.chat_model(model, context_tokens=context)
        identity = ModelIdentity(
            key=model.key,
            engine=model.engine,
            revision=_revision(model, catalogue),
            fingerprint=_fingerprint(model, catalogue),
        )
        standing: ChatModel = ModelElsewhere(identity, context)
        return nullcontext(standing)

    def embedder(part: EmbedderPlan) -> Embedder | None:
        if part.engine in REMOTE_ENGINES:
            return pool.embedder(part)
        _fingerprint(part, catalogue)
        return None

    return Surroundings(
        chat_model=chat_model,  # type: ignore[arg-type]
        embedder=embedder,
        free_bytes=_free_bytes(),
        environ=os.environ,
    )


def _revision(part: Model | EmbedderPlan, catalogue: Catalogue | None) -> str:
    if catalogue is None or part.catalogue is None:
        return ""
    return catalogue.entry(part.catalogue).revision


def _fingerprint(part: Model | EmbedderPlan, catalogue: Catalogue | None) -> str:
    """Hash the files of a part; raises where one is missing or not what it should be."""
    if catalogue is None or part.catalogue is None:
        return "to be read by the worker"
    catalogue.verified(part.catalogue)
    return catalogue.fingerprint(part.catalogue)


def _free_bytes() -> int:
    return shutil.disk_usage(_data_folder()).free


def _data_folder() -> Path:
    """Where the database lies if it is a file of ours, else memport's home."""
    database = settings.DATABASES["default"]
    if database["ENGINE"] == "django.db.backends.sqlite3" and Path(database["NAME"]).exists():
        return Path(database["NAME"]).parent
    return Path(settings.HOME)
