"""What the pages call formats, kinds, reasons, outcomes and states."""

FORMAT_NAMES = {
    "lc_raw": "Raw transcript",
    "rag": "Retrieval (RAG)",
    "notes": "Notes",
    "kg_fixed": "Knowledge graph",
    "*": "Without a store",
}
FORMAT_HELP = {
    "lc_raw": "the whole history in the prompt; nobody writes it",
    "rag": "chunks found by their vectors; no model writes it",
    "notes": "natural-language notes that the writer made",
    "kg_fixed": "claims that the writer made under a fixed schema",
    "*": "read under a condition that needs no store",
}
METHOD_NAMES = {
    "none": "none: as inherited", "any": "any: the cheapest of all",
    "notes_raw": "notes, rebuilt from the history",
    "notes_store": "notes, rewritten from the store",
    "rag_reembed": "retrieval, embedded anew", "kg_rebuild": "knowledge graph, mapped anew",
    "fresh": "fresh: written by the new model",
}  # fmt: skip
KIND_NAMES = {
    "direct": "direct",
    "temporal": "temporal",
    "contradiction": "contradiction",
    "multi_hop": "multi-hop",
    "alias": "alias",
}
REASON_WORDS = {
    "wrong_code": "another code",
    "stale_code": "an outdated code",
    "several_codes": "several codes at once",
    "no_code": "no code in the answer",
    "truncated": "cut off by the output limit",
    "refused": "refused to answer",
    "empty": "empty answer",
    "wrong_text": "another answer",
    "no_text": "no words in the answer",
}


# Outcome of a verdict → style, and a sign that does not rest on colour.
OUTCOMES = {
    "safe": ("good", "✓"),
    "loses": ("bad", "▼"),
    "worse": ("warn", "◐"),
    "undecided": ("", "?"),
    "too_few_histories": ("", "…"),
    "withheld": ("", "⊘"),
    "not_affected": ("", "="),
}
# State of a run, job or gate → style and words.
STATES = {
    "complete": ("good", "✓ complete"),
    "passed": ("good", "✓ passed"),
    "running": ("accent", "● running"),
    "queued": ("", "○ queued"),
    "waiting": ("", "○ waiting for its store"),
    "ready": ("", "○ ready"),
    "held": ("", "◌ waiting for the gates"),
    "barred": ("bad", "⊘ stopped by the gates"),
    "stopping": ("warn", "◌ stopping"),
    "stopped": ("warn", "■ stopped"),
    "incomplete": ("bad", "✗ ended, incomplete"),
    "failed": ("bad", "✗ failed"),
    "not measured": ("", "– not measured"),
}
