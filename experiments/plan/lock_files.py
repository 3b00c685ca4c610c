"""A lock as a folder of five files, so that anybody can check it without memport."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.plan.lock import SignedPlan, key_id
from stores.errors import InvalidInputError

PLAN, HASH, SIGNATURE, KEY, ABOUT = (
    "plan.json", "plan.sha256", "plan.sig", "public_key.pem", "lock.json"
)  # fmt: skip


def write_lock(folder: Path, signed: SignedPlan, *, about: Mapping[str, Any]) -> list[Path]:
    """Write a lock's files and return their paths; equal files that are there may stay.

    Raises
    ------
    InvalidInputError
        The folder cannot be written, or holds another lock.
    """
    texts = {
        PLAN: signed.plan,
        HASH: f"{signed.sha256}  {PLAN}\n".encode(),
        SIGNATURE: signed.signature,
        KEY: signed.public_key.encode(),
        ABOUT: (
            json.dumps({**about, "key_id": key_id(signed.public_key)}, indent=2) + "\n"
        ).encode(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        existing = folder / PLAN
        if existing.exists() and existing.read_bytes() != signed.plan:
            raise InvalidInputError(
                "the folder holds the lock of another plan",
                where=str(folder),
                hint="Give another folder with --output",
            )
        for name, data in texts.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise InvalidInputError(
            f"the lock cannot be written: {error.strerror or error}", where=str(folder)
        ) from None
    return [folder / name for name in texts]


def read_lock(folder: Path) -> SignedPlan:
    """Read the files of a lock; what they hold is checked by `check_signed`.

    Raises
    ------
    InvalidInputError
        A file is missing or cannot be read, or the hash file holds no hash.
    """
    stated = _read(folder, HASH).decode("ascii", errors="replace").split()
    if not stated:
        raise InvalidInputError("the file is empty", where=str(folder / HASH))
    return SignedPlan(
        plan=_read(folder, PLAN),
        sha256=stated[0],
        signature=_read(folder, SIGNATURE),
        public_key=_read(folder, KEY).decode("utf-8", errors="replace"),
    )


def read_about(folder: Path) -> dict[str, Any]:
    """Return what `lock.json` says; it is not signed. Empty where it is missing or broken."""
    try:
        value = json.loads(_read(folder, ABOUT))
    except (InvalidInputError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise InvalidInputError(
            f"the lock's file cannot be read: {error.strerror or error}",
            where=str(folder / name),
            hint="A lock is the folder that `memport study lock` wrote",
        ) from None
