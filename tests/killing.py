"""A worker that kills itself, with SIGKILL, at a named point of its work.

Run as `python -m tests.killing` with TEST_KILLS, a JSON list of "point:n": the n-th time that the
point is reached the process notes in TEST_KILL_LOG where every job stands, and dies on the spot.
The points are put around the product's own functions; the product knows nothing of them.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")

import django

django.setup()

from django.db import transaction  # noqa: E402

import experiments.tasks  # noqa: E402, F401
from experiments.models import Answer, Call, Evaluation, Run, StoreBuild  # noqa: E402
from experiments.runtime import elsewhere, pool  # noqa: E402
from experiments.runtime.claims import Claim  # noqa: E402
from experiments.runtime.standby import ensure_worker  # noqa: E402
from experiments.services import build_store, evaluate, execution, journal  # noqa: E402
from stores.roles import ChatRequest  # noqa: E402
from tests.models import WatchedModel, WatchedPool  # noqa: E402
from tests.runs import wait_until_over  # noqa: E402

ROLE = "child" if "worker" in sys.argv else "main"


class Killer:
    """Counts how often each point is reached, and ends the process at the chosen ones, once each.

    `at` is "point:n", or several of them with semicolons between.
    """

    def __init__(self, at: str) -> None:
        chosen = [one.rpartition(":") for one in at.split(";") if one]
        self._left = {point: int(n) for point, _, n in chosen}

    def reached(self, point: str) -> None:
        """Die here if this is such a point, for the n-th time, and nobody died of it before."""
        if point not in self._left:
            return
        self._left[point] -= 1
        if self._left[point] == 0 and not self._done(point):
            self._note(point)
            os.kill(os.getpid(), signal.SIGKILL)

    def _done(self, point: str) -> bool:
        """Whether another process of this very try (a child, its parent) noted it already."""
        return any(e["point"] == point and e["at"] == told() for e in notes())

    def _note(self, point: str) -> None:
        entry = {
            "point": point,
            "at": told(),
            "in_transaction": transaction.get_connection().in_atomic_block,
            "builds": _states(StoreBuild),
            "evaluations": _states(Evaluation),
            "answers": Answer.objects.count(),
            "calls": Call.objects.count(),
        }
        with open(os.environ["TEST_KILL_LOG"], "a") as log:
            log.write(json.dumps(entry) + "\n")
            log.flush()
            os.fsync(log.fileno())


def told() -> str:
    """What this process was told to die of."""
    return os.environ.get("TEST_KILL_AT", "")


def notes() -> list[dict[str, Any]]:
    """What killed processes noted in their last moment."""
    try:
        with open(os.environ["TEST_KILL_LOG"]) as log:
            return [json.loads(line) for line in log]
    except FileNotFoundError:
        return []


def _states(model: Any) -> dict[str, int]:
    states = list(model.objects.values_list("state", flat=True))
    return {state: states.count(state) for state in sorted(set(states))}


def _around(
    owner: Any, name: str, *, before: Callable[..., None] | None = None,
    after: Callable[..., None] | None = None,
) -> None:  # fmt: skip
    inner = getattr(owner, name)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before(*args, **kwargs)
        result = inner(*args, **kwargs)
        if after is not None:
            after(*args, **kwargs)
        return result

    setattr(owner, name, wrapped)


def install(killer: Killer) -> None:
    """Put the points around the product's functions."""

    def at(point: str) -> Callable[..., None]:
        return lambda *_args, **_kwargs: killer.reached(f"{ROLE}/{point}")

    def by_role(point: str) -> Callable[..., None]:
        def reached(_model: object, requests: list[ChatRequest]) -> None:
            reads = "</memory>" in requests[0].prefix + requests[0].suffix
            killer.reached(f"{ROLE}/{'reader' if reads else 'writer'} {point}")

        return reached

    def saved_by_writer(call: Call, *_args: object, **_kwargs: object) -> None:
        if call.role == "writer":
            killer.reached(f"{ROLE}/reply saved, not committed")

    _around(execution, "take", after=at("claimed"))
    _around(WatchedModel, "chat", before=by_role("asked"), after=by_role("replied, not committed"))
    _around(Call, "save", after=saved_by_writer)
    _around(journal.JournaledChat, "_record", after=at("reply committed"))
    _around(build_store, "keep_store", before=at("store written"), after=at("store inserted"))
    _around(Claim, "end", after=at("job ended, not committed"))
    _around(build_store, "_build", after=at("build complete"))
    _around(evaluate, "open_attempt", after=at("attempt open"))
    _around(Answer, "save", before=at("call without answer"), after=at("answer saved"))
    _around(evaluate, "keep_answers", after=at("answers saved, not committed"))
    _around(
        evaluate,
        "complete_attempt",
        before=at("last answer committed"),
        after=at("attempt complete, run not settled"),
    )
    _around(elsewhere, "_wait", before=at("repeat in a child"))


def main() -> None:
    """Work the one run off again and again, each time until the next kill; or be a child.

    Each try is a fork of this process, which has imported everything and opened nothing: the tries
    start at once and share no state.
    """
    pool.catalogue_pool = WatchedPool
    elsewhere.child_command[:] = [sys.executable, "-m", "tests.killing", "worker"]
    if ROLE == "child":
        install(Killer(told()))
        from memport_site.cli import main as command_line

        command_line(sys.argv[1:])
    for kill_at in json.loads(os.environ["TEST_KILLS"]):
        os.environ["TEST_KILL_AT"] = kill_at
        if (pid := os.fork()) == 0:
            work_one_try(Killer(kill_at))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"at": kill_at, "code": code}), flush=True)


def work_one_try(killer: Killer) -> None:
    """Work until the run is over or the killer strikes; never returns."""
    code = 1
    try:
        install(killer)
        with ensure_worker():
            wait_until_over(Run.objects.get(), seconds=300)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
