"""The key that signs plans: made at first use, one for each installation, readable by its owner."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from stores.errors import InvalidInputError

KEY_NAME = "plan_signing_key.pem"


def signing_key(home: Path) -> Ed25519PrivateKey:
    """Return the key of an installation; make it, with mode 0600, where there is none.

    Raises
    ------
    InvalidInputError
        The file holds no Ed25519 key, or others may read it.
    """
    path = home / KEY_NAME
    if not path.exists():
        _make(path)
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise InvalidInputError(
            f"others may read the signing key: its mode is {mode:04o}",
            where=str(path),
            expected="mode 0600",
            hint=f"chmod 600 {path}; if somebody may have read it, move it away: a new one is made",
        )
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInputError(
            "the file holds no Ed25519 key",
            where=str(path),
            hint="Move it away: a new one is made at the next lock; old locks keep their own key",
        )
    return key


def _make(path: Path) -> None:
    """Write a new key; of two processes that do so at once, the first one's stays."""
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    # mkstemp makes the file with mode 0600; a link never replaces what is there.
    number, written = tempfile.mkstemp(dir=path.parent, prefix=".plan_signing_key")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(written, path)
    finally:
        os.unlink(written)
