"""The tests keep to a home of their own."""

import os
import sqlite3
import tempfile
from pathlib import Path

from django.conf import settings

from tests.commands import end_of, start_memport

VAR = Path(__file__).parents[2] / "var"


def test_nothing_of_the_tests_is_kept_in_var():
    own = Path(tempfile.gettempdir()).resolve()
    for place in (settings.HOME, settings.STATIC_ROOT):
        assert own in Path(place).resolve().parents
    assert VAR not in Path(str(settings.DATABASES["default"]["NAME"])).parents
    assert Path(os.environ["MEMPORT_HOME"]) == settings.HOME


def test_a_program_that_a_test_starts_uses_the_home_that_it_is_given(tmp_path):
    ended = end_of(start_memport(tmp_path, "user", "list"))
    assert ended.code == 0, ended.err
    with sqlite3.connect(tmp_path / "memport.sqlite3") as database:
        assert database.execute("SELECT count(*) FROM accounts_user").fetchone() == (0,)
    assert (tmp_path / "secret_key").exists()
