"""A thread that does one small thing again and again, and survives a database that is away."""

import logging
import threading
from collections.abc import Callable

from django.db import Error, close_old_connections, connections

logger = logging.getLogger(__name__)


class Ticker:
    """Calls `tick` every `interval_s` seconds in a daemon thread, and at once when woken."""

    def __init__(self, name: str, tick: Callable[[], None], *, interval_s: float) -> None:
        self._name, self._tick, self._interval_s = name, tick, interval_s
        self._wake, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def wake(self) -> None:
        """Tick now rather than at the interval's end."""
        self._wake.set()

    def stop(self, *, timeout_s: float = 5) -> None:
        """End the thread; a tick in progress is finished."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout_s)

    def _loop(self) -> None:
        try:
            while not self._stop.is_set():
                self._tick_once()
                self._wake.wait(self._interval_s)
                self._wake.clear()
        finally:
            connections.close_all()

    def _tick_once(self) -> None:
        close_old_connections()
        try:
            self._tick()
        except Error as error:
            logger.warning("%s: the database does not answer, trying on: %s", self._name, error)
        except Exception:
            logger.exception("%s: unexpected error, trying on", self._name)
