"""What the database itself refuses: to change a locked plan, or the lock.

Triggers are made after every migration, because a migration that rebuilds a table drops them.
"""

from typing import Any

from django.db import connections

MESSAGE = "the plan of this study is locked and cannot change"
GUARDED = ("key", "plan", "plan_sha256", "locked_at")
STUDY, LOCK = "experiments_study", "experiments_planlock"


def make_guards(*, using: str = "default", **_: Any) -> None:
    """Create the triggers that are missing; does nothing on a database that has none of ours."""
    connection = connections[using]
    tables = connection.introspection.table_names()
    if STUDY not in tables or LOCK not in tables:
        return
    statements = {"sqlite": _sqlite, "postgresql": _postgresql}.get(connection.vendor)
    if statements is None:
        return
    with connection.cursor() as cursor:
        for statement in statements():
            cursor.execute(statement)


def drop_guards(*, using: str = "default") -> None:
    """Take the triggers away, as an intruder could; for tests of what finds the change then."""
    connection = connections[using]
    on = {STUDY: "study_plan_is_locked", LOCK: "plan_lock_is_final"}
    with connection.cursor() as cursor:
        for table, name in on.items():
            where = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{where}")


def _sqlite() -> list[str]:
    changed = " OR ".join(f'NEW."{name}" IS NOT OLD."{name}"' for name in GUARDED)
    refuse = f"SELECT RAISE(ABORT, '{MESSAGE}')"
    return [
        f"CREATE TRIGGER IF NOT EXISTS study_plan_is_locked BEFORE UPDATE ON {STUDY} "
        f"WHEN OLD.locked_at IS NOT NULL AND ({changed}) BEGIN {refuse}; END",
        f"CREATE TRIGGER IF NOT EXISTS plan_lock_is_final BEFORE UPDATE ON {LOCK} "
        f"BEGIN {refuse}; END",
    ]


def _postgresql() -> list[str]:
    changed = " OR ".join(f'NEW."{name}" IS DISTINCT FROM OLD."{name}"' for name in GUARDED)
    return [
        "CREATE OR REPLACE FUNCTION memport_refuse_locked() RETURNS trigger AS $$ BEGIN "
        f"RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'check_violation'; END $$ LANGUAGE plpgsql",
        f"CREATE OR REPLACE TRIGGER study_plan_is_locked BEFORE UPDATE ON {STUDY} FOR EACH ROW "
        f"WHEN (OLD.locked_at IS NOT NULL AND ({changed})) "
        "EXECUTE FUNCTION memport_refuse_locked()",
        f"CREATE OR REPLACE TRIGGER plan_lock_is_final BEFORE UPDATE ON {LOCK} FOR EACH ROW "
        "EXECUTE FUNCTION memport_refuse_locked()",
    ]
