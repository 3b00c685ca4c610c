"""A mark that the database itself changes when anything a result rests on is changed.

Answers are written once, into an open attempt, and never again; so are stores. What is changed
later (by hand, by a correction, by damage) is rare, and finding it by reading everything would
cost more than the page that asks. Triggers put a new mark down instead. They are made after every
migration, because a migration that rebuilds a table drops them.
"""

from typing import Any

from django.db import connections

MARK = "analysis_changemark"
PUT = (
    "INSERT INTO analysis_changemark (id, token) VALUES (1, {mark}) "
    "ON CONFLICT (id) DO UPDATE SET token = excluded.token"
)
IS_LATE = "(SELECT state FROM experiments_attempt WHERE id = NEW.attempt_id) = 'complete'"
# Table → the columns that results rest on.
WATCHED = {
    "experiments_answer": ("correct", "rank", "recall", "attempt_id", "probe_id", "reason"),
    "experiments_repair": ("cost_usd", "cost_tokens", "cost_gpu_hours"),
    "stores_probe": ("kind", "memory_class", "screening", "quarantined_because"),
    "stores_store": ("checksum", "coverage", "content_id"),
    "stores_blob": ("data",),
}


def make_marks(*, using: str = "default", **_: Any) -> None:
    """Create the triggers that are missing, as soon as all their tables exist."""
    connection = connections[using]
    tables = set(connection.introspection.table_names())
    if not tables.issuperset({MARK, "experiments_attempt", *WATCHED}):
        return
    statements = {"sqlite": _sqlite, "postgresql": _postgresql}.get(connection.vendor)
    if statements is None:
        return
    with connection.cursor() as cursor:
        for statement in statements():
            cursor.execute(statement)


def drop_marks(*, using: str = "default", **_: Any) -> None:
    """Take the triggers away before a migration: SQLite renames no table that one names."""
    connection = connections[using]
    if connection.vendor not in ("sqlite", "postgresql"):
        return
    tables = set(connection.introspection.table_names())
    on = {"mark_late_answer": "experiments_answer"}
    on |= {f"mark_{what}_{table}": table for table in WATCHED for what in ("changed", "deleted")}
    with connection.cursor() as cursor:
        for name, table in on.items():
            if table in tables:
                where = f" ON {table}" if connection.vendor == "postgresql" else ""
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}{where}")


def _columns(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _sqlite() -> list[str]:
    put = PUT.format(mark="hex(randomblob(16))")
    then = f"BEGIN {put}; END"
    statements = [
        "CREATE TRIGGER IF NOT EXISTS mark_late_answer AFTER INSERT ON experiments_answer "
        f"WHEN {IS_LATE} {then}"
    ]
    for table, names in WATCHED.items():
        statements += [
            f"CREATE TRIGGER IF NOT EXISTS mark_changed_{table} AFTER UPDATE OF {_columns(names)} "
            f"ON {table} {then}",
            f"CREATE TRIGGER IF NOT EXISTS mark_deleted_{table} AFTER DELETE ON {table} {then}",
        ]
    return statements


def _postgresql() -> list[str]:
    put = PUT.format(mark="md5(random()::text || clock_timestamp()::text)")
    statements = [
        "CREATE OR REPLACE FUNCTION memport_mark_change() RETURNS trigger AS $$ BEGIN "
        f"{put}; RETURN NULL; END $$ LANGUAGE plpgsql",
        "CREATE OR REPLACE FUNCTION memport_mark_late() RETURNS trigger AS $$ BEGIN "
        f"IF {IS_LATE} THEN {put}; END IF; RETURN NULL; END $$ LANGUAGE plpgsql",
        "CREATE OR REPLACE TRIGGER mark_late_answer AFTER INSERT ON experiments_answer "
        "FOR EACH ROW EXECUTE FUNCTION memport_mark_late()",
    ]
    for table, names in WATCHED.items():
        statements += [
            f"CREATE OR REPLACE TRIGGER mark_changed_{table} AFTER UPDATE OF {_columns(names)} "
            f"ON {table} FOR EACH STATEMENT EXECUTE FUNCTION memport_mark_change()",
            f"CREATE OR REPLACE TRIGGER mark_deleted_{table} AFTER DELETE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION memport_mark_change()",
        ]
    return statements
