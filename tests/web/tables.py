"""Small answers tables for tests of pages, as a person would bring them."""

import csv
import io
from collections.abc import Iterable

HEADER = (
    "history", "format", "writer", "reader", "condition", "index", "repair", "rung", "cost_usd",
    "repeat", "probe", "kind", "screening", "correct", "rank", "recall",
)  # fmt: skip
KINDS = ("direct", "temporal")
SWAP = [("notes", w, r, "", "", "", "") for w in ("Llama", "Qwen") for r in ("Llama", "Qwen")]
CONTROLS = [(f, "", r, "", "", "", "") for f in ("lc_raw",) for r in ("Llama", "Qwen")]
REPAIRS = [
    ("notes", "Llama", "Qwen", "", "notes_raw", "1", "0.25"),
    ("notes", "Llama", "Qwen", "", "notes_raw", "2", "0.5"),
    ("notes", "Llama", "Qwen", "", "notes_store", "1", "0.1"),
    ("notes", "Llama", "Qwen", "", "fresh", "", ""),
]
INDEXES = [("rag", "", r, index, "", "", "") for r in ("Llama", "Qwen")
           for index in ("old", "mixed", "full")]  # fmt: skip


def right(cell, history, probe):
    """Whether an answer is right: the inherited notes lose, a rebuild at rung 2 brings it back."""
    name, writer, reader, index, repair, rung, _ = cell
    share = {"notes": 6, "lc_raw": 8, "rag": {"old": 4, "mixed": 5, "full": 7}.get(index, 5)}[name]
    if name == "notes" and reader == "Qwen" and writer == "Llama" and not repair:
        share = 3
    if repair:
        share = {"notes_raw1": 4, "notes_raw2": 6, "notes_store1": 2, "fresh": 6}[repair + rung]
    return probe < share + (history + probe) % 2


def rows(*, n_histories=5, n_probes=10, cells=(*SWAP, *CONTROLS, *REPAIRS, *INDEXES)):
    """Every row of the table, as texts."""
    for history in range(n_histories):
        for cell in cells:
            name, writer, reader, index, repair, rung, cost = cell
            for probe in range(n_probes):
                rank = str(1 + probe % 9) if name == "rag" else ""
                yield {
                    "history": f"h{history}", "format": name, "writer": writer, "reader": reader,
                    "condition": "normal", "index": index, "repair": repair, "rung": rung,
                    "cost_usd": cost, "repeat": "0", "probe": f"p{probe:02}",
                    "kind": KINDS[probe % 2], "screening": str(int(probe < 4)),
                    "correct": str(int(right(cell, history, probe))), "rank": rank,
                    "recall": ("1" if probe % 9 < 8 else "0") if name == "rag" else "",
                }  # fmt: skip


def csv_of(found: Iterable[dict[str, str]] | None = None) -> bytes:
    """The table as the bytes of a CSV file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, HEADER, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows() if found is None else found)
    return out.getvalue().encode()
