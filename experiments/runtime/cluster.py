"""A Celery worker of a cluster: a broker of its own, any pool, the same tasks."""

import logging
from typing import Any

from celery import current_app, signals

from experiments.models import WorkerProcess
from experiments.runtime import processes, stopping
from experiments.runtime.claims import give_back_held
from experiments.runtime.dispatcher import Dispatcher, use_dispatcher
from experiments.runtime.heart import new_heart
from experiments.runtime.pool import engine_pool
from experiments.runtime.ticker import Ticker

logger = logging.getLogger(__name__)


class ClusterHooks:
    """Starts the heartbeat and the dispatcher when Celery's worker is ready; ends them with it.

    Under prefork the children execute the jobs: each registers itself and has its own heartbeat.
    """

    def __init__(self, *, window: int) -> None:
        self._dispatcher = Dispatcher(window=window)
        self._heart: Ticker | None = None

    def connect(self) -> None:
        """Listen to Celery's signals; strong references, because nobody else holds us."""
        signals.worker_ready.connect(self._on_ready, weak=False)
        signals.worker_process_init.connect(self._on_child, weak=False)
        signals.worker_process_shutdown.connect(self._on_child_end, weak=False)
        signals.worker_shutting_down.connect(self._on_shutting_down, weak=False)
        signals.worker_shutdown.connect(self._on_end, weak=False)

    def _on_ready(self, **_: Any) -> None:
        self._start_heart()
        use_dispatcher(self._dispatcher)
        self._dispatcher.ticker.start()

    def _on_child(self, **_: Any) -> None:
        self._start_heart()

    def _start_heart(self) -> None:
        processes.set_kind(WorkerProcess.Kind.CELERY)
        processes.this_process()
        self._heart = new_heart()
        self._heart.start()

    def _on_shutting_down(self, **_: Any) -> None:
        stopping.request_stop()

    def _on_child_end(self, **_: Any) -> None:
        self._end()

    def _on_end(self, **_: Any) -> None:
        use_dispatcher(None)
        self._dispatcher.ticker.stop()
        self._end()

    def _end(self) -> None:
        give_back_held()
        if self._heart is not None:
            self._heart.stop()
        engine_pool().close()
        processes.sign_off()


def run_cluster_worker(*, pool: str, concurrency: int) -> int:
    """Run until SIGTERM or SIGINT; return the exit code."""
    stopping.clear_stop()
    ClusterHooks(window=2 * concurrency).connect()
    worker = current_app.Worker(
        pool=pool,
        concurrency=concurrency,
        loglevel="INFO",
        without_mingle=True,
        without_gossip=True,
    )
    worker.start()
    return int(worker.exitcode or 0)
