"""The database of an installation: made at first use, so that no command needs a set-up before."""

from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor

from stores.errors import InvalidInputError


def prepare_database() -> bool:
    """Create or update the tables; return whether anything had to be done.

    Raises
    ------
    InvalidInputError
        The database cannot be reached or written.
    """
    try:
        executor = MigrationExecutor(connection)
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        call_command("migrate", interactive=False, verbosity=0)
    except OperationalError as error:
        raise InvalidInputError(
            f"the database cannot be used: {str(error).strip()}",
            where=str(connection.settings_dict["NAME"]),
            hint="Check DATABASE_URL, the folder's permissions and the free disk",
        ) from error
    return True
