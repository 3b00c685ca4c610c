"""What a store holds, checked against what was kept."""

import hashlib

from stores.errors import InvalidInputError
from stores.models import Store


def checked_content(store: Store) -> bytes:
    """Return a store's content; raise InvalidInputError where it is not what was kept."""
    content = bytes(store.content.data)
    if hashlib.sha256(content).hexdigest() != store.checksum:
        raise InvalidInputError(
            "the content of the store no longer matches its checksum",
            where=f"store {store.pk}",
            hint="Build it anew; numbers from this store cannot be trusted",
        )
    return content
