"""A small valid plan as values, for tests that change one thing in it."""

import copy
from typing import Any

BASE: dict[str, Any] = {
    "key": "two-models",
    "title": "Two models",
    "histories": {"preset": "tiny", "seed": 7},
    "formats": ["lc_raw", "rag", "notes", "kg_fixed"],
    "models": [
        {"key": "old", "engine": "scripted", "price": {}},
        {"key": "new", "engine": "scripted", "price": {}},
    ],
    "embedders": [{"key": "vectors", "engine": "scripted", "price": {}}],
    "tests": {"writer_swap": {}},
}


def plan_values(**changes: Any) -> dict[str, Any]:
    """The plan above with some top-level keys replaced."""
    return {**copy.deepcopy(BASE), **changes}
