"""Fixtures for all tests."""

import signal
from collections.abc import Iterator

import pytest

from tests.services import (  # noqa: F401
    migrated_sqlite,
    postgres,
    postgres_database,
    postgres_url,
    redis_server,
    sqlite_file,
    sqlite_url,
)

# Started in the background by a shell, this process and what it starts would ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _a_process_of_its_own() -> Iterator[None]:
    """Each test's database is empty: what this process remembers of another one is wrong."""
    yield
    from experiments.runtime import claims, processes, stopping
    from experiments.services import forecasting

    stopping.clear_stop()
    for claim in claims.held():
        claims.drop(claim)
    processes.forget()
    forecasting.forget()
