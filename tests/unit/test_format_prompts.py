"""Prompt files: found by version, identified by their bytes, filled in one pass."""

import hashlib
from pathlib import Path

import pytest

from stores.errors import InvalidInputError
from stores.formats import prompts
from stores.formats.prompts import filled, load_prompt, prompt_versions

FOLDER = Path(prompts.__file__).parent / "prompts"


@pytest.mark.parametrize("name", ["reader", "notes", "kg_fixed"])
def test_a_prompt_is_identified_by_the_bytes_of_its_file(name: str) -> None:
    data = (FOLDER / "v2" / f"{name}.txt").read_bytes()
    prompt = load_prompt(name)
    assert (prompt.version, prompt.sha256) == ("v2", hashlib.sha256(data).hexdigest())
    assert prompt.system.encode() in data


@pytest.mark.parametrize("version", ["v0", "", "..", "../v1", "v1/../v1"])
def test_an_unknown_version_is_refused_with_the_known_ones(version: str) -> None:
    with pytest.raises(InvalidInputError, match="expected one of v1, v2"):
        load_prompt("reader", version)


def test_an_unknown_prompt_of_a_known_version_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has no prompt 'poem'"):
        load_prompt("poem")


def test_what_is_filled_in_is_not_filled_in_again() -> None:
    assert filled("{memory} {question}", memory="{question}", question="?") == "{question} ?"
    assert filled('{"1": []} {events}', events="x") == '{"1": []} x'
    with pytest.raises(KeyError):
        filled("{memory}")


def test_every_version_has_every_prompt() -> None:
    names = {path.name for path in (FOLDER / "v1").iterdir()}
    written = {"notes", "kg_fixed", "kg_rebuild", "notes_store", "notes_style"}
    assert names == {f"{name}.txt" for name in {"reader", *written}}
    for version in prompt_versions():
        assert {path.name for path in (FOLDER / version).iterdir()} == names
