"""A Celery worker inside this process: heartbeat, dispatcher and one working thread."""

import logging
import threading

from celery import current_app
from celery.utils.nodenames import default_nodename

from experiments.models import WorkerProcess
from experiments.runtime import processes, stopping
from experiments.runtime.claims import give_back_held, held
from experiments.runtime.dispatcher import Dispatcher, use_dispatcher
from experiments.runtime.heart import new_heart
from experiments.runtime.pool import engine_pool
from stores.errors import InvalidInputError

logger = logging.getLogger(__name__)


class EmbeddedWorker:
    """Executes jobs in a daemon thread of this process, whatever the broker is."""

    def __init__(self, *, kind: WorkerProcess.Kind = WorkerProcess.Kind.COMMAND) -> None:
        self._kind = kind
        self._heart = new_heart()
        self._dispatcher = Dispatcher()
        self._ready = threading.Event()
        self._controller = current_app.WorkController(
            hostname=default_nodename("memport-embedded"),
            pool_cls="threads",
            concurrency=1,
            loglevel="WARNING",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            ready_callback=lambda _consumer: self._ready.set(),
        )
        self._thread = threading.Thread(
            target=self._controller.start, name="memport-worker", daemon=True
        )

    def start(self, *, timeout_s: float = 30) -> None:
        """Start working; return when the worker listens.

        Raises InvalidInputError where the broker does not answer.
        """
        stopping.clear_stop()
        processes.set_kind(self._kind)
        processes.this_process()
        self._heart.start()
        self._thread.start()
        if not self._ready.wait(timeout_s):
            raise InvalidInputError(
                f"the broker did not answer within {timeout_s:g} s",
                where="CELERY_BROKER_URL",
                hint="Start it, or unset the variable to work without one",
            )
        use_dispatcher(self._dispatcher)
        self._dispatcher.ticker.start()

    def stop(self, *, grace_s: float = 10) -> bool:
        """Stop at the next commit, give the jobs back, close the models.

        Returns
        -------
        Whether the worker is idle. False: a model call still runs in its thread after `grace_s`
        seconds. Its job was given back and its result will be refused, so that the process may end.
        """
        stopping.request_stop()
        use_dispatcher(None)
        self._dispatcher.ticker.stop()
        ending = threading.Thread(target=self._controller.stop, daemon=True)
        ending.start()
        try:
            ending.join(grace_s)
        except KeyboardInterrupt:
            logger.warning("not waiting for the call that is under way; its answer is not kept")
        idle = not ending.is_alive() and not held()
        give_back_held()
        self._heart.stop()
        if idle:
            engine_pool().close()
            stopping.clear_stop()
        else:
            stopping.note_call_left()
        processes.sign_off()
        return idle
