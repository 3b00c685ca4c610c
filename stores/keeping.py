"""Keep a store: inserted complete, once per identity, never changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from django.db import transaction

from memport_site.accounts.models import Workspace
from stores.errors import InvalidInputError
from stores.formats.base import ProbeCoverage, WriteBudget, Written
from stores.formats.notes import KIBIBYTE, Notes
from stores.models import Blob, History, Store
from stores.roles import EmbeddingGeneration, ModelIdentity

# `top_k` is a matter of the read path: it decides no byte of a store.
READ_ONLY_BUDGETS = ("top_k",)


def code_version() -> str:
    """Return the version of memport that builds stores."""
    try:
        return version("memport")
    except PackageNotFoundError:
        return "unknown"


def identity_hash(
    *,
    history_checksum: str,
    format: str,
    writer: ModelIdentity | None,
    embedder: EmbeddingGeneration | None,
    budget: WriteBudget,
    recipe: Mapping[str, str],
    index: str = "",
    parent: str = "",
) -> str:
    """SHA-256 (hex) over everything that decides the content of a store.

    `recipe` is what the format itself contributes: the versions and hashes of its prompts and its
    schema. `parent` is the identity of the store that this one is made from.
    """
    parts = {
        "history": history_checksum,
        "format": format,
        "writer": asdict(writer) if writer else None,
        "embedder": asdict(embedder) if embedder else None,
        "budget": {k: v for k, v in asdict(budget).items() if k not in READ_ONLY_BUDGETS},
        "recipe": dict(recipe),
        "index": index,
        "parent": parent,
        "code": code_version(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def find_store(*, workspace: Workspace, identity: str) -> Store | None:
    """Return the store with this identity, if it was ever kept."""
    return Store.objects.filter(workspace=workspace, identity=identity).first()


@transaction.atomic
def keep_store(
    *,
    workspace: Workspace,
    identity: str,
    history: History,
    format: str,
    written: Written,
    coverage: Sequence[ProbeCoverage],
    budget: WriteBudget,
    writer: ModelIdentity | None = None,
    embedder: EmbeddingGeneration | None = None,
    index: str = "",
    parent: Store | None = None,
) -> Store:
    """Insert a store with its content; where its identity exists already, return that one.

    Two workers that built the same store at the same time both end with the first one's.

    Raises
    ------
    InvalidInputError
        Notes that outgrow their cap, whoever wrote, rewrote or repaired them.
    """
    _check_cap(format, written.content, budget)
    store, _ = Store.objects.get_or_create(
        workspace=workspace,
        identity=identity,
        defaults={
            "history": history,
            "history_checksum": history.checksum,
            "format": format,
            "writer": writer.key if writer else "",
            "writer_identity": asdict(writer) if writer else {},
            "embedder": embedder.key if embedder else "",
            "embedder_generation": asdict(embedder) if embedder else {},
            "index": index,
            "parent": parent,
            "prompt_version": written.prompt_version,
            "prompt_sha256": written.prompt_sha256,
            "schema_version": written.schema_version,
            "budget": asdict(budget),
            "seed": budget.seed,
            "code_version": code_version(),
            "content": _keep_blob(written.content),
            "checksum": hashlib.sha256(written.content).hexdigest(),
            "size_bytes": len(written.content),
            "notices": list(written.notices),
            "coverage": coverage_summary(coverage),
        },
    )
    return store


def _check_cap(format: str, content: bytes, budget: WriteBudget) -> None:
    cap = budget.notes_kib * KIBIBYTE
    if format == Notes.name and len(content) > cap:
        raise InvalidInputError(
            f"these notes have {len(content):,} bytes and outgrow their cap of {cap:,}",
            where="budgets.notes_kib",
            hint="Whatever writes notes cuts them at the cap; this is a mistake of memport",
        )


def _keep_blob(data: bytes) -> Blob:
    blob, _ = Blob.objects.get_or_create(
        sha256=hashlib.sha256(data).hexdigest(), defaults={"data": data, "size_bytes": len(data)}
    )
    return blob


def coverage_summary(coverage: Sequence[ProbeCoverage]) -> dict[str, Any]:
    """Return what Store.coverage holds: counts, and every span of every probe."""
    spans = [span for probe in coverage for span in probe.spans]
    measured = [probe for probe in coverage if probe.spans]
    undefined = {p.probe: p.undefined_because for p in coverage if p.undefined_because}
    return {
        "spans_required": len(spans),
        "spans_kept": sum(span.state == "kept" for span in spans),
        "spans_with_entity": sum(
            span.state == "kept" and span.with_entity is True for span in spans
        ),
        "probes": len(measured),
        "probes_whole": sum(probe.whole for probe in measured),
        "by_probe": {probe.probe: [asdict(span) for span in probe.spans] for probe in coverage},
        "undefined_because": undefined,
    }
