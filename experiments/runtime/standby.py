"""Who does a command's work: the worker of a running server, or one of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from experiments.models import WorkerProcess
from experiments.runtime.embedded import EmbeddedWorker
from experiments.runtime.processes import live_workers
from experiments.runtime.seat import Seat
from experiments.runtime.ticker import Ticker

LOOK_S = 2.0


class StandbyWorker:
    """Works as soon and as long as nobody else on this machine does.

    The seat decides, not the heartbeat: when the process that had it dies, a waiting one takes
    over within `LOOK_S` seconds and goes on at the last commit.
    """

    def __init__(self, *, kind: WorkerProcess.Kind = WorkerProcess.Kind.COMMAND) -> None:
        self._kind = kind
        self._seat = Seat()
        self._worker: EmbeddedWorker | None = None
        self._lock = threading.Lock()
        self._ticker = Ticker("memport-standby", self._look, interval_s=LOOK_S)

    def start(self) -> bool:
        """Start the worker, or wait for the seat in the background; say whether it works now."""
        self._look()
        self._ticker.start()
        return self.works_here

    @property
    def works_here(self) -> bool:
        """Whether the jobs are executed in this process."""
        return self._worker is not None

    def _leaves_it_to_cluster(self) -> bool:
        """With a broker of its own, a server never works, a command only where no worker lives."""
        if settings.CELERY_BROKER_URL.startswith("memory://"):
            return False
        workers = (w for w in live_workers() if w.kind == WorkerProcess.Kind.CELERY)
        return self._kind == WorkerProcess.Kind.SERVER or next(workers, None) is not None

    def who(self) -> str:
        """Say in words who does the work."""
        if self.works_here:
            return "this process"
        for worker in live_workers():
            if worker.kind == WorkerProcess.Kind.SERVER:
                return f"the server at {worker.address or 'an unknown address'} (pid {worker.pid})"
        for worker in live_workers():
            return f"another {worker.kind} process (pid {worker.pid})"
        if self._leaves_it_to_cluster():
            return "the cluster's workers, of which none lives now: start `memport worker`"
        return "another process that is just starting or ending"

    def stop(self, *, grace_s: float = 10) -> bool:
        """Stop working here; True if no model call is left running (see EmbeddedWorker.stop)."""
        self._ticker.stop()
        with self._lock:
            idle = self._worker.stop(grace_s=grace_s) if self._worker else True
            self._worker = None
            self._seat.free()
        return idle

    def _look(self) -> None:
        with self._lock:
            if self._worker is None and not self._leaves_it_to_cluster() and self._seat.take():
                worker = EmbeddedWorker(kind=self._kind)
                try:
                    worker.start()
                except BaseException:
                    worker.stop(grace_s=1)
                    self._seat.free()
                    raise
                self._worker = worker


@contextmanager
def ensure_worker(*, grace_s: float = 10) -> Iterator[StandbyWorker]:
    """See to it that launched work is done while the block runs.

    Beside a running server this starts nothing: the server's worker sees the work in the database.
    Without one, a worker runs in this process until the block ends.
    """
    worker = StandbyWorker()
    worker.start()
    try:
        yield worker
    finally:
        worker.stop(grace_s=grace_s)
