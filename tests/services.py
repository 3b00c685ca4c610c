"""Real services for tests: databases on files, a private PostgreSQL, a private Redis.

Nothing is skipped where a program is missing: the test fails and names the package.
"""

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from django.core.management import call_command
from django.db import connections

SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def program(pattern: str, *, package: str) -> str:
    """Return the newest program that matches, or fail and name the Debian package that has it."""
    found = sorted(glob.glob(pattern)) or [path for path in [shutil.which(pattern)] if path]
    if not found:
        pytest.fail(f"{pattern} is not installed: apt-get install {package}", pytrace=False)
    return found[-1]


def free_port() -> int:
    """Return a port of the loopback interface that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def database(url: str) -> Iterator[str]:
    """Make another database the default one, in every thread, until the block ends."""
    usual, mine = connections.settings["default"], dj_database_url.parse(url)
    if mine["ENGINE"].endswith("sqlite3"):
        mine["OPTIONS"] = SQLITE_OPTIONS
    connections.settings["default"] = {**usual, "OPTIONS": {}, **mine}
    kept = connections["default"]
    del connections["default"]
    try:
        yield url
    finally:
        connections["default"].close()
        connections.settings["default"] = usual
        connections["default"] = kept


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> Path:
    """A migrated SQLite file to copy from."""
    path = tmp_path_factory.mktemp("sqlite") / "migrated.sqlite3"
    with django_db_blocker.unblock(), database(f"sqlite:///{path}"):
        call_command("migrate", verbosity=0)
    return path


@pytest.fixture
def sqlite_url(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The URL of an empty, migrated database of its own."""
    path = tmp_path / "memport.sqlite3"
    shutil.copy(migrated_sqlite, path)
    return f"sqlite:///{path}"


@pytest.fixture
def sqlite_file(sqlite_url: str, django_db_blocker: Any) -> Iterator[str]:
    """An SQLite file as the default database: several threads and processes can use it."""
    with django_db_blocker.unblock(), database(sqlite_url):
        yield sqlite_url


def _unprivileged() -> list[str]:
    """PostgreSQL refuses to run as root: return what to put before its commands."""
    return ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []


class Postgres:
    """A private PostgreSQL server in a folder of its own, on the loopback interface."""

    def __init__(self) -> None:
        initdb = program("/usr/lib/postgresql/*/bin/initdb", package="postgresql")
        self._bin, self._as = Path(initdb).parent, _unprivileged()
        # Not below pytest's folder: the other user could not enter that.
        self._folder = Path(tempfile.mkdtemp(prefix="memport-pg-"))
        self.port = free_port()
        self._databases = 0

    def start(self) -> None:
        """Make the cluster and start it."""
        if self._as:
            user = pwd.getpwnam("postgres")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
        data = self._folder / "data"
        self._run("initdb", "-D", data, "-U", "memport", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._folder} -c fsync=off"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start")

    def stop(self) -> None:
        """Stop it and remove its folder."""
        self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, name: str) -> str:
        """The URL of one of its databases."""
        return f"postgres://memport@127.0.0.1:{self.port}/{name}"

    def create(self, *, template: str = "template0") -> str:
        """Create a database and return its name."""
        self._databases += 1
        name = f"memport_{self._databases}"
        server = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "memport"]
        self._run("createdb", *server, "-T", template, name)
        return name

    def _run(self, name: str, *arguments: object) -> None:
        command = [*self._as, str(self._bin / name), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=self._folder, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        if done.returncode:
            pytest.fail(f"{name} failed: {done.stdout}", pytrace=False)


@pytest.fixture(scope="session")
def postgres(django_db_blocker: Any) -> Iterator[Postgres]:
    """A PostgreSQL server whose first database is migrated."""
    server = Postgres()
    server.start()
    try:
        with django_db_blocker.unblock(), database(server.url(server.create())):
            call_command("migrate", verbosity=0)
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_url(postgres: Postgres) -> str:
    """The URL of an empty, migrated PostgreSQL database of its own."""
    return postgres.url(postgres.create(template="memport_1"))


@pytest.fixture
def postgres_database(postgres_url: str, django_db_blocker: Any) -> Iterator[str]:
    """A real PostgreSQL as the default database."""
    with django_db_blocker.unblock(), database(postgres_url):
        yield postgres_url


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A private Redis; gives its URL."""
    path, port = program("redis-server", package="redis-server"), free_port()
    folder = tmp_path_factory.mktemp("redis")
    command = [path, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(port: int, *, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"nothing listens on port {port} after {seconds:g} s", pytrace=False)
