"""From the database, which is the queue, to the broker, which only wakes somebody up.

Every worker process runs one. Two that send the same job do no harm: the claim lets one through.
"""

import threading
import time

from celery import current_app

from experiments.runtime.claims import release_lost
from experiments.runtime.ticker import Ticker
from experiments.selectors import ready_jobs
from experiments.services.run_state import settle_runs

POLL_S = 0.5
# A message that nobody took within this time may be lost: send it again.
RESEND_S = 10.0


class Dispatcher:
    """Sends the next ready jobs, at most `window` at a time, in the order of the plan."""

    def __init__(self, *, window: int = 2, poll_s: float = POLL_S) -> None:
        self._window = window
        self._sent: dict[tuple[str, int], float] = {}
        self._lock = threading.Lock()
        self.ticker = Ticker("memport-dispatcher", self.tick, interval_s=poll_s)

    def tick(self) -> None:
        """Release what dead processes held, bring runs' states up to date, send what is ready."""
        release_lost()
        settle_runs()
        jobs = ready_jobs(limit=self._window)
        now = time.monotonic()
        with self._lock:
            self._sent = {job: at for job, at in self._sent.items() if job in jobs}
            due = [j for j in jobs if now - self._sent.get(j, -RESEND_S) >= RESEND_S]
            self._sent.update(dict.fromkeys(due, now))
        for task, job_id in due:
            current_app.send_task(task, args=[job_id])

    def taken(self, task: str, job_id: int) -> None:
        """Note that a message arrived: should its job become ready again, send a new one."""
        with self._lock:
            self._sent.pop((task, job_id), None)
        self.ticker.wake()


_dispatcher: Dispatcher | None = None


def use_dispatcher(dispatcher: Dispatcher | None) -> None:
    """Make this the dispatcher of this process."""
    global _dispatcher
    _dispatcher = dispatcher


def note_taken(task: str, job_id: int) -> None:
    """Tell this process's dispatcher, if it has one, that a job's message was worked off."""
    if _dispatcher is not None:
        _dispatcher.taken(task, job_id)


def wake() -> None:
    """Tell this process's dispatcher, if it has one, that there may be new work."""
    if _dispatcher is not None:
        _dispatcher.ticker.wake()
