"""The web server of the embedded default: loopback only, with a worker inside."""

import errno
import socket
import threading
from collections.abc import Callable
from typing import Any

from django.urls import get_resolver
from waitress import wasyncore
from waitress.server import create_server

from experiments.models import WorkerProcess
from experiments.runtime import processes
from experiments.runtime.standby import StandbyWorker
from memport_site.staticfiles import collect_static_files
from stores.errors import InvalidInputError

# Pages carry private histories, and the server speaks plain HTTP: nobody else may reach it.
HOST = "127.0.0.1"
DEFAULT_PORT = 8000
THREADS = 8


class RunningServer:
    """Serves pages from a thread and works in another one, until it is stopped."""

    def __init__(self, *, port: int, application: Callable[..., Any]) -> None:
        self._server = create_server(
            application, host=HOST, port=port, threads=THREADS, ident="memport"
        )
        self._thread = threading.Thread(target=self._run, name="memport-http", daemon=True)
        self.port = int(self._server.effective_port)
        self.worker = StandbyWorker(kind=WorkerProcess.Kind.SERVER)

    @property
    def address(self) -> str:
        """Where the pages are."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Answer requests; then start working, or wait for the worker that is already there."""
        self._thread.start()
        processes.set_address(self.address)
        self.worker.start()

    def wait(self) -> None:
        """Block until the server ends."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def stop(self, *, grace_s: float = 10) -> bool:
        """Stop answering and working; see `StandbyWorker.stop` for what is returned."""
        # From its own thread: sockets may not be closed under a loop that waits for them.
        self._server.trigger.pull_trigger(self._close_sockets)
        self._thread.join(5)
        return self.worker.stop(grace_s=grace_s)

    def _close_sockets(self) -> None:
        wasyncore.close_all(self._server._map, ignore_all=True)

    def _run(self) -> None:
        self._server.run()
        self._server.task_dispatcher.shutdown(timeout=2)


def start_server(*, port: int = DEFAULT_PORT) -> RunningServer:
    """Serve the dashboard on the loopback interface, with a worker inside.

    Parameters
    ----------
    port
        0 takes any free one.

    Raises
    ------
    InvalidInputError
        The port is in use or may not be opened; says which one and what to do.
    """
    check_port(port)
    collect_static_files()
    from memport_site.wsgi import application

    # Loads every view now, with the libraries behind it: not while the first visitor waits.
    get_resolver().url_patterns  # noqa: B018

    server = RunningServer(port=port, application=application)
    server.start()
    return server


def check_port(port: int) -> None:
    """Raise InvalidInputError where nothing can listen on this port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise _port_error(port, error) from None


def _port_error(port: int, error: OSError) -> InvalidInputError:
    if error.errno == errno.EADDRINUSE:
        what = f"port {port} is in use"
        hint = f"Stop what listens there, or choose another one, such as --port {port + 1}"
    else:
        what = f"port {port} cannot be opened: {error.strerror}"
        hint = "Choose one above 1023, such as --port 8000"
    return InvalidInputError(what, where="--port", hint=hint)
