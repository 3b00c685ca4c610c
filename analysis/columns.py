"""The columns of an answers table: what each may hold, and how it is parsed."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

CONDITIONS = (
    "normal", "stored_evidence", "raw_evidence", "no_memory",
    "style_rewrite", "corrupt_25", "corrupt_50", "corrupt_75",
)  # fmt: skip
INDEXES = ("", "old", "full", "mixed", "router", "dual_query", "version_filter")
REPAIRS = ("", "none", "notes_raw", "notes_store", "rag_reembed", "kg_rebuild", "fresh")
SHARED_CONDITIONS = ("raw_evidence", "no_memory")

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `parse` takes a cell's text and raises ValueError with what was expected."""

    name: str
    parse: Callable[[str], Value]
    kind: str  # text, integer, number, score
    optional: bool = False
    empty: Value = None  # what a blank cell means


def _key(text: str) -> str:
    if not text:
        raise ValueError("a key, it is empty")
    return text


def _text(text: str) -> str:
    return text


def _one_of(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            near = get_close_matches(text, allowed, n=1)
            hint = f"; perhaps {near[0]!r}" if near else ""
            raise ValueError("one of " + ", ".join(a or "nothing" for a in allowed) + hint)
        return text

    return parse


def _index(text: str) -> str:
    share = re.fullmatch(r"mixed_(0|[1-9]\d?)", text)
    if share and share[1] != "50":
        return text
    if text.startswith("mixed_"):
        raise ValueError(
            "mixed_p with p from 0 to 99; 50 is written mixed, 100 is full, without leading zeros"
        )
    return _one_of(*INDEXES)(text)


def _integer(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or int(text) < low:
            raise ValueError(f"a whole number from {low}")
        return int(text)

    return parse


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("a number") from None
    if not math.isfinite(value):
        raise ValueError("a finite number; NaN and infinity never occur here")
    if value < 0:
        raise ValueError("a number from 0")
    return value


def _share(text: str) -> float:
    value = _number(text)
    if value > 1:
        raise ValueError("a share from 0 to 1")
    return value


def _score(text: str) -> int:
    if text not in ("0", "1"):
        raise ValueError("0, 1 or nothing")
    return int(text)


def _flag(text: str) -> int:
    if text not in ("0", "1"):
        raise ValueError("0 or 1")
    return int(text)


COLUMNS: tuple[Column, ...] = (
    Column("history", _key, "text"),
    Column("format", _key, "text"),
    Column("embedder", _text, "text", optional=True, empty=""),
    Column("writer", _text, "text", empty=""),
    # Nobody reads a cell of which only the retrieval was measured; see `tables.check_readers`.
    Column("reader", _text, "text", empty=""),
    Column("condition", _one_of(*CONDITIONS), "text"),
    Column("index", _index, "text", empty=""),
    Column("repair", _one_of(*REPAIRS), "text", empty=""),
    Column("rung", _integer(1), "integer", empty=0),
    Column("cost_usd", _number, "number"),
    Column("cost_tokens", _number, "number", optional=True),
    Column("cost_gpu_hours", _number, "number", optional=True),
    Column("repeat", _integer(0), "integer"),
    Column("probe", _key, "text"),
    Column("kind", _key, "text"),
    Column("memory_class", _text, "text", optional=True, empty=""),
    Column("screening", _flag, "integer"),
    Column("correct", _score, "score"),
    Column("rank", _integer(1), "rank"),
    Column("recall", _share, "number"),
)
# Blank is refused where the parser refuses it: these have no `empty` and no missing value.
NEVER_BLANK = frozenset({"history", "format", "condition", "repeat", "probe", "kind", "screening"})
CELL_KEY = (
    "format", "embedder", "writer", "reader", "condition", "index", "repair", "rung", "repeat"
)  # fmt: skip
SORT_KEY = ("history", *CELL_KEY, "probe")
COSTS = ("cost_usd", "cost_tokens", "cost_gpu_hours")
BY_NAME = {column.name: column for column in COLUMNS}
