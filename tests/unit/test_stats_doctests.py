"""Every example in the statistics is run, and every public quantity has one."""

import ast
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import analysis.stats
import analysis.words

MODULES = [
    f"analysis.stats.{module.name}" for module in pkgutil.iter_modules(analysis.stats.__path__)
]
WORDS = ("analysis.labels", "analysis.page_tables", "analysis.words")


@pytest.mark.parametrize(
    "name", [*MODULES, "analysis.labels", "analysis.page_tables", "analysis.words"]
)
def test_the_examples_are_true(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_every_public_quantity_has_an_example(name):
    tree = ast.parse(Path(importlib.import_module(name).__file__).read_text())
    public = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]
    without = [n.name for n in public if ">>>" not in (ast.get_docstring(n) or "")]
    assert not without
