"""The space check of a study on all of its texts: from the vectors that its stores hold."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from experiments.models import StoreBuild, Study
from stores.errors import InvalidInputError
from stores.formats.rag import stored_index
from stores.models import Store
from stores.roles import Vectors
from stores.vectors.spaces import compare_spaces

# Neighbours are looked for among this many texts at most; more would take memory, and tell no more.
COMPARED_TEXTS = 2_000


def space_check(study: Study) -> dict[str, Any] | None:
    """Compare the old and the full index of every history, text by text.

    Returns
    -------
    dict or None
        `status`, `reason` and the parts of `SpaceCheck`; None for a study without an embedding
        upgrade. Nearest neighbours are looked for among the texts of all histories.
    """
    upgrade = study.plan.get("tests", {}).get("embedding_upgrade")
    if upgrade is None:
        return None
    head = {"old": upgrade["old"], "new": upgrade["new"]}
    stores = {name: _stores(study, name) for name in ("old", "full")}
    both = sorted(set(stores["old"]) & set(stores["full"]))
    if not both:
        reason = "no history has its old and its full index yet"
        return {**head, "status": "undefined", "reason": reason}
    try:
        old, new = (_vectors(stores[name][key] for key in both) for name in ("old", "full"))
    except InvalidInputError as error:
        return {**head, "status": "undefined", "reason": str(error)}
    at = np.unique(np.linspace(0, len(old) - 1, min(len(old), COMPARED_TEXTS)).astype(np.int64))
    found = compare_spaces(old[at], new[at])
    return {**head, "status": "ok", "reason": "", "n_histories": len(both), **found.as_json()}


def _stores(study: Study, index: str) -> dict[str, Store]:
    builds = StoreBuild.objects.filter(
        run__study=study, run__test="embedding_upgrade", spec__index=index, store__isnull=False
    )
    return {
        build.history.key: build.store
        for build in builds.select_related("history", "store__content").order_by("pk")
        if build.store is not None
    }


def _vectors(stores: Iterable[Store]) -> Vectors:
    found = [stored_index(bytes(store.content.data)).vectors for store in stores]
    return np.concatenate(found)
