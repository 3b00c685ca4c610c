"""Commands make the database at first use, and say in one line where they cannot use it."""

import signal
from collections.abc import Iterator

import click
import pytest
from django.db import connection, connections

from memport_site.cli import cli
from memport_site.database import prepare_database
from tests.commands import end_of, memport, start_memport
from tests.integration.test_study_command_run import plan_file
from tests.services import database, free_port

# `demo` and `histories generate` prepare the database themselves, when they come to need it.
WITHOUT_DATABASE = {
    "analyze",
    "histories convert locomo",
    "histories validate",
    "models check",
    "models fetch",
    "models list",
}


def leaves(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below a group, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from leaves(found, *path, name)
        else:
            yield (*path, name), found


@pytest.fixture
def empty(tmp_path, django_db_blocker) -> Iterator[str]:
    """A database file that does not exist yet."""
    with django_db_blocker.unblock(), database(f"sqlite:///{tmp_path}/new.sqlite3") as url:
        yield url


@pytest.mark.parametrize(
    "words",
    [
        ("study", "check", "PLAN"),
        ("study", "report", "nothing"),
        ("histories", "generate", "tiny"),
        ("user", "link"),
    ],
    ids=" ".join,
)
def test_a_command_makes_the_database_at_its_first_use(capsys, tmp_path, empty, words):
    given = [plan_file(tmp_path) if word == "PLAN" else word for word in words]
    ended = memport(capsys, *given)
    asked_for_nothing = "nothing" in words
    assert ended.code == (2 if asked_for_nothing else 0), ended.err
    assert ("there is no" in ended.err) == asked_for_nothing
    assert "experiments_study" in connection.introspection.table_names()


def test_every_other_command_prepares_it_in_the_same_way():
    found = {" ".join(words): command for words, command in leaves(cli)}
    unprepared = {
        words for words, command in found.items() if not hasattr(command.callback, "__wrapped__")
    }
    assert unprepared == WITHOUT_DATABASE | {"demo", "histories generate"}


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("worker",)], ids=" ".join)
def test_what_runs_until_it_is_stopped_makes_the_database_too(tmp_path, words):
    process = start_memport(tmp_path, *words)
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    ended = end_of(process)
    assert ended.code == 0, ended.err
    assert "Traceback" not in ended.err
    assert (tmp_path / "memport.sqlite3").exists()


@pytest.mark.parametrize("words", [words for words, _ in leaves(cli)], ids=" ".join)
def test_help_needs_no_database(capsys, words):
    ended = memport(capsys, *words, "--help")
    assert ended.code == 0, ended.err
    assert "Usage: memport" in ended.out
    assert "Example" in ended.out


def test_pure_commands_need_no_database(capsys, tmp_path):
    folder = tmp_path / "histories"
    assert memport(capsys, "--version").code == 0
    assert memport(capsys, "histories", "generate", "tiny", "--out", folder).code == 0
    assert memport(capsys, "histories", "validate", folder).code == 0
    assert memport(capsys, "models", "list").code == 0


def unusable(ended) -> str:
    """Check that a command ended with one line and exit code 1; return the line."""
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("memport: ")
    return ended.err


def test_a_folder_that_is_not_there_is_one_clear_line(capsys, tmp_path, django_db_blocker):
    with django_db_blocker.unblock(), database(f"sqlite:///{tmp_path}/missing/new.sqlite3"):
        line = unusable(memport(capsys, "study", "list"))
    assert "missing/new.sqlite3 cannot be used: unable to open database file" in line


def test_a_server_that_is_down_is_one_clear_line_without_the_password(capsys, django_db_blocker):
    port = free_port()
    url = f"postgres://memport:secret@127.0.0.1:{port}/memport"
    with django_db_blocker.unblock(), database(url):
        line = unusable(memport(capsys, "histories", "list"))
    assert f"the database 127.0.0.1:{port}/memport cannot be used" in line
    assert "Check DATABASE_URL" in line
    assert "secret" not in line


def test_a_file_that_is_no_database_is_one_clear_line(capsys, tmp_path, django_db_blocker):
    (tmp_path / "notes.txt").write_text("no database at all\n" * 100)
    with django_db_blocker.unblock(), database(f"sqlite:///{tmp_path}/notes.txt"):
        assert "not a database" in unusable(memport(capsys, "user", "list"))


def test_a_full_disk_is_one_clear_line_at_the_first_use_and_later(capsys, empty):
    connections["default"].settings_dict["OPTIONS"] = {"init_command": "PRAGMA max_page_count=20"}
    assert "disk is full" in unusable(memport(capsys, "histories", "list"))
    connections["default"].close()
    connections["default"].settings_dict["OPTIONS"] = {}
    prepare_database()
    with connection.cursor() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count={pages}")
    line = unusable(memport(capsys, "histories", "generate", "tiny"))
    assert "disk is full" in line


def test_a_database_of_a_newer_version_is_left_alone(capsys, empty):
    prepare_database()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('stores', '0999_from_the_future', '2099-01-01')"
        )
    line = unusable(memport(capsys, "study", "list"))
    assert "made by a newer version of memport (it has stores.0999_from_the_future)" in line


def test_a_wrong_database_url_is_one_clear_line(tmp_path):
    ended = end_of(start_memport(tmp_path, "study", "list", DATABASE_URL="no url at all"))
    assert "DATABASE_URL" in unusable(ended)


def test_a_home_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    line = unusable(end_of(start_memport(tmp_path / "file" / "home", "study", "list")))
    assert "Check MEMPORT_HOME" in line
