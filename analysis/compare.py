"""Two reports side by side: what differs in each direction and format, and in every other part."""

from collections.abc import Iterator, Mapping
from typing import Any

Report = Mapping[str, Any]
Figure = Mapping[str, Any]
Place = tuple[str, str, str]
FIGURES = ("own", "inherited", "swap_delta_pp", "retained_performance", "service_change_pp")
INDEX_FIGURES = ("accuracy", "gain_pp", "recall_at_8", "mrr")


def compare_reports(first: Report, second: Report) -> dict[str, Any]:
    """Return both reports' figures side by side, JSON-ready; null where one has none.

    `rows` are the directions and formats of the writer swap; `figures` the other parts, each named
    by its `part`, by what it is `of` and by its `figure`. Nothing is tested between the two: they
    are other histories, other probes or other models.
    """
    one, other = dict(_figures(first)), dict(_figures(second))
    return {
        "reports": [_head(first), _head(second)],
        "note": "side by side; no test is made between two reports",
        "rows": [
            {
                "old": old,
                "new": new,
                "format": name,
                "embedder": embedder,
                "first": _swap(first, old, new, name, embedder),
                "second": _swap(second, old, new, name, embedder),
            }
            for old, new, name, embedder in sorted(_entries(first).keys() | _entries(second).keys())
        ],
        "figures": [
            {
                "part": place[0],
                "of": place[1],
                "figure": place[2],
                "first": one.get(place),
                "second": other.get(place),
            }
            for place in dict.fromkeys([*one, *other])
        ],
        "gates": {
            gate: {
                "first": first["gates"]["by_gate"].get(gate),
                "second": second["gates"]["by_gate"].get(gate),
            }
            for gate in {**first["gates"]["by_gate"], **second["gates"]["by_gate"]}
        },
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


def _swap(report: Report, *key: str) -> dict[str, Any] | None:
    old, new, name, embedder = key
    entry = _entries(report).get((old, new, name, embedder))
    if entry is None:
        return None
    verdict = {part: entry["verdict"][part] for part in ("outcome", "heading", "sentence")}
    figures = {name: _figure(entry[name]) for name in FIGURES}
    return {"verdict": verdict, "planned": entry["planned"], **figures}


def _figures(report: Report) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the figures beside the writer swap, each with its place."""
    for block in report.get("embedding_upgrade") or ():
        for index in block["indexes"]:
            of = f"{block['format']}, index {index['index']}"
            for name in INDEX_FIGURES:
                yield ("embedding_upgrade", of, name), _figure(index[name])
    for loss in report.get("loss_decomposition") or ():
        for name, part in {"total": loss["total"], **loss["components"]}.items():
            yield ("loss_decomposition", loss["format"], name), _figure(part)
    for style in report.get("style_rewrite") or ():
        of = f"{style['format']} of {style['writer']}, rewritten by {style['rewriter']}"
        yield ("style_rewrite", of, "accuracy_change"), _figure(style["accuracy_change"])
    yield from _repairs(report.get("repair") or {})
    for contrast in (report.get("planned_tests") or {}).get("contrasts", ()):
        of = f"{contrast['key']}: {contrast['definition']}"
        yield ("planned_tests", of, "estimate"), _figure(contrast["estimate"])
        yield ("planned_tests", of, "p_holm"), _figure(contrast["p_holm"])
    if report.get("screening"):
        yield ("screening", "all formats", "rho"), _figure(report["screening"]["rho"])
    yield ("noise_floor", "all cells", "noise_floor_pp"), _figure(report["noise_floor_pp"])


def _repairs(repair: Mapping[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    for row in repair.get("usd", ()):
        of = (
            f"{row['format']}, {row['old']} → {row['new']}, {row['method']}, "
            f"{round(100 * row['target'])} % of own"
        )
        reached = {"n_success": row["n_success"], "n_histories": row["n_histories"]}
        yield ("repair", of, "median_cost_usd"), {**_figure(row["median_cost"]), **reached}


def _figure(figure: Figure) -> dict[str, Any]:
    """The number, what it is, and how sure; not its values by history."""
    kept = ("value", "status", "reason", "unit", "low", "high", "n_histories", "planned")
    return {part: figure[part] for part in kept if part in figure}
