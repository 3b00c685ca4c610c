"""The database of an installation: made at first use, so that no command needs a set-up before."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.management import call_command
from django.db import DatabaseError, InterfaceError, OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

# What a database raises that is away, full, locked or damaged, at any time of a command.
OUT_OF_REACH = (OperationalError, InterfaceError)
# Two processes that start at once both find tables missing; the later one looks again.
LOOK_AGAIN_S = 1.0


class UnusableDatabaseError(RuntimeError):
    """The database cannot be reached, read or written; says which one, why, and what to do."""


def needs_database(function: Callable[..., Any]) -> Callable[..., Any]:
    """Prepare the database before a command's function runs, but not for its --help."""

    @wraps(function)
    def prepared(*args: Any, **kwargs: Any) -> Any:
        prepare_database()
        return function(*args, **kwargs)

    return prepared


def prepare_database() -> bool:
    """Create or update the tables; return whether anything had to be done.

    Raises
    ------
    UnusableDatabaseError
        The database cannot be reached or written, or a newer version of memport has changed it.
    """
    try:
        missing = _missing()
        while missing:
            try:
                call_command("migrate", interactive=False, verbosity=0)
                return True
            except DatabaseError:
                time.sleep(LOOK_AGAIN_S)
                before, missing = missing, _missing()
                if len(missing) == len(before):
                    raise
    except (DatabaseError, InterfaceError) as error:
        raise UnusableDatabaseError(unusable(error)) from error
    return False


def unusable(error: Exception) -> str:
    """Say in one line which database cannot be used, and why."""
    why = " ".join(str(error).split()).rstrip(".?")
    return (
        f"the database {_name()} cannot be used: {why}. "
        "Check DATABASE_URL, that its server runs, the permissions and the free disk."
    )


def _missing() -> list[Any]:
    """The migrations that this database lacks."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    newer = sorted(
        f"{app}.{name}"
        for app, name in loader.applied_migrations
        if app in loader.migrated_apps and (app, name) not in loader.disk_migrations
    )
    if newer:
        raise UnusableDatabaseError(
            f"the database {_name()} was made by a newer version of memport "
            f"(it has {', '.join(newer)}). Use that version, or another DATABASE_URL."
        )
    return list(executor.migration_plan(loader.graph.leaf_nodes()))


def _name() -> str:
    """The file, or the server and the name on it; never the password."""
    settings = connection.settings_dict
    where = f"{settings['HOST']}:{settings['PORT'] or 5432}/" if settings.get("HOST") else ""
    return f"{where}{settings['NAME']}"
