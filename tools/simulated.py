"""A simulated answers table of any size, with every test of the protocol in it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

MODELS = ("Llama", "Qwen")
FORMATS = ("kg_fixed", "lc_raw", "notes", "rag")
WRITTEN = ("kg_fixed", "notes")
KINDS = ("direct", "temporal", "contradiction", "multi_hop", "alias")
INDEXES = ("old", "full", "mixed", "router")
METHODS = {
    "notes_raw": "notes",
    "notes_store": "notes",
    "rag_reembed": "rag",
    "kg_rebuild": "kg_fixed",
}
RUNGS = (1, 2, 3)
SCREENING = 20
CHANCE = {"kg_fixed": 0.9, "lc_raw": 0.8, "notes": 0.45, "rag": 0.55, "*": 0.92}
COLUMNS = ("format", "writer", "reader", "condition", "index", "repair", "rung", "cost_usd")


def cells() -> list[dict[str, Any]]:
    """The 61 cells of one history of the published study."""
    return [{**dict.fromkeys(COLUMNS, ""), "condition": "normal", **cell} for cell in _cells()]


def _cells() -> Iterator[dict[str, Any]]:
    for name in FORMATS:
        for writer in MODELS if name in WRITTEN else ("",):
            for reader in MODELS:
                yield {"format": name, "writer": writer, "reader": reader}
    for index in INDEXES:
        for reader in MODELS:
            yield {"format": "rag", "reader": reader, "index": index}
    for old, new in (MODELS, MODELS[::-1]):
        direction = {"writer": old, "reader": new}
        for method, name in METHODS.items():
            for rung in RUNGS:
                cost = 0.01 * rung
                yield {
                    **direction,
                    "format": name,
                    "repair": method,
                    "rung": rung,
                    "cost_usd": cost,
                }
        for name in ("notes", "rag", "kg_fixed"):
            yield {**direction, "format": name, "repair": "fresh"}
    for reader in MODELS:
        yield {"format": "*", "writer": "*", "reader": reader, "condition": "raw_evidence"}
        yield {"format": "rag", "reader": reader, "condition": "stored_evidence"}
        for writer in MODELS:
            stored = {"format": "notes", "writer": writer, "reader": reader}
            yield {**stored, "condition": "stored_evidence"}
    yield {"format": "kg_fixed", "writer": "Qwen", "reader": "Qwen", "condition": "stored_evidence"}
    for old, new in (MODELS, MODELS[::-1]):
        yield {"format": "notes", "writer": old, "reader": new, "condition": "style_rewrite"}


def answers(*, histories: int = 48, probes: int = 160, seed: int = 0) -> pd.DataFrame:
    """Return the table: 48 × 160 × 61 = 468,480 rows as it stands."""
    rng = np.random.default_rng(seed)
    every = cells()
    n = len(every) * histories * probes
    cell = np.repeat(np.arange(len(every)), histories * probes)
    history = np.tile(np.repeat(np.arange(histories), probes), len(every))
    probe = np.tile(np.arange(probes), len(every) * histories)
    chance = np.array([CHANCE[one["format"]] for one in every])[cell]
    spread = rng.normal(0, 0.05, histories)[history]
    ranked = np.array([one["format"] == "rag" for one in every])[cell]
    rank = rng.integers(1, 12, n)

    def column(name: str) -> Any:
        values = [str(one[name]) for one in every]
        names = sorted(set(values))
        return pd.Categorical.from_codes([names.index(v) for v in values], names)[cell]

    return pd.DataFrame({
        "history": _coded([f"H{number:04}" for number in range(histories)], history),
        **{name: column(name) for name in COLUMNS if name not in ("rung", "cost_usd")},
        "rung": pd.array([one["rung"] or None for one in every], dtype="Int32")[cell],
        "cost_usd": np.array([one["cost_usd"] or np.nan for one in every], dtype=float)[cell],
        "repeat": np.zeros(n, dtype=np.int32),
        "probe": _coded([f"p{number:04}" for number in range(probes)], probe),
        "kind": _coded(list(KINDS), probe % len(KINDS)),
        "screening": (probe < SCREENING).astype(np.int32),
        "correct": (rng.random(n) < chance + spread).astype(np.int32),
        "rank": pd.array(np.where(ranked & (rank <= 8), rank, -1), dtype="Int32").to_numpy(
            dtype="float64", na_value=np.nan),
        "recall": np.where(ranked, (rank <= 8).astype(float), np.nan),
    }).assign(rank=lambda t: t["rank"].where(t["rank"] > 0).astype("Int32"))  # fmt: skip


def _coded(names: list[str], codes: Any) -> Any:
    return pd.Categorical.from_codes(codes, names)
