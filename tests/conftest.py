"""Fixtures for all tests."""

from tests.services import (  # noqa: F401
    migrated_sqlite,
    postgres,
    postgres_database,
    postgres_url,
    redis_server,
    sqlite_file,
    sqlite_url,
)
