"""Two reports side by side: what differs in each direction and format."""

from collections.abc import Mapping
from typing import Any

Report = Mapping[str, Any]
FIGURES = ("own", "inherited", "swap_delta_pp", "retained_performance", "service_change_pp")


def compare_reports(first: Report, second: Report) -> dict[str, Any]:
    """Return both reports' figures for every direction and format that either has, JSON-ready.

    Nothing is tested between the two: they are other histories, other probes or other models.
    """
    return {
        "reports": [_head(first), _head(second)],
        "note": "side by side; no test is made between two reports",
        "rows": [
            {
                "old": old,
                "new": new,
                "format": name,
                "embedder": embedder,
                "first": _figures(first, old, new, name, embedder),
                "second": _figures(second, old, new, name, embedder),
            }
            for old, new, name, embedder in sorted(_keys(first) | _keys(second))
        ],
    }


def _head(report: Report) -> dict[str, Any]:
    study, data = report["study"], report["data"]
    return {
        "title": study["title"],
        "labels": study["labels"],
        "file_sha256": data.get("file_sha256", ""),
        "answers": data["answers"],
        "histories": len(data["histories"]),
        "margin_pp": report["settings"]["margin_pp"],
    }


def _entries(report: Report) -> dict[tuple[str, str, str, str], Mapping[str, Any]]:
    return {
        (direction["old"], direction["new"], entry["format"], entry["embedder"]): entry
        for direction in report["directions"]
        for entry in direction["formats"]
    }


def _keys(report: Report) -> set[tuple[str, str, str, str]]:
    return set(_entries(report))


def _figures(report: Report, *key: str) -> dict[str, Any] | None:
    old, new, name, embedder = key
    entry = _entries(report).get((old, new, name, embedder))
    if entry is None:
        return None
    verdict = {part: entry["verdict"][part] for part in ("outcome", "heading", "sentence")}
    kept = ("value", "status", "reason", "low", "high", "n_histories")
    figures = {name: {part: entry[name][part] for part in kept} for name in FIGURES}
    return {"verdict": verdict, "planned": entry["planned"], **figures}
