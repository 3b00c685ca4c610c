"""What the packages read at run time is part of them: an installed wheel carries it."""

import tomllib
from importlib import resources
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
ROOMS = ("memport_site", "stores", "experiments", "analysis")


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("experiments", "catalogue.yaml"),
        ("experiments", "studies/demo.yaml"),
        ("experiments", "studies/paper.yaml"),
        ("stores.formats", "prompts/v2/reader.txt"),
        ("stores.formats", "prompts/v2/notes.txt"),
        ("stores.formats", "prompts/v2/kg_fixed.txt"),
    ],
)
def test_a_file_is_found_through_its_package(package, name):
    assert resources.files(package).joinpath(*name.split("/")).read_text(encoding="utf-8").strip()


def test_every_package_is_installed():
    found = {
        ".".join(init.parent.relative_to(ROOT).parts)
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert found == set(SETUPTOOLS["packages"])


def test_every_data_file_in_a_package_is_installed_with_it():
    carried = {
        path
        for package, patterns in SETUPTOOLS["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    data = {
        path
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and path.suffix in (".yaml", ".txt", ".json", ".html", ".css")
    }
    assert data
    assert data <= carried
