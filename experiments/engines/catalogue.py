"""The model catalogue: which models there are, and whether their files are what they should be."""

import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments.engines.catalogue_schema import CatalogueEntry, CatalogueFile, read_document
from stores.errors import InvalidInputError
from stores.roles import EngineError

FileState = Literal["ok", "missing", "wrong_size", "wrong_hash"]


class ModelFileError(EngineError):
    """A model's file is missing, damaged, or cannot be had from any source."""


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file of an entry and the state that it was found in."""

    entry: str
    file: str
    state: FileState
    size_bytes: int
    found_bytes: int
    found_sha256: str = ""


def nearest(name: str, known: list[str]) -> str:
    """Return a hint that names the known name most like this one, or all of them."""
    if close := difflib.get_close_matches(name, known, n=1, cutoff=0.35):
        return f"Did you mean {close[0]!r}?"
    return f"Known: {', '.join(sorted(known)) or 'none'}"


def file_sha256(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes; releases the GIL while it reads."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Catalogue:
    """The catalogue file at `path`, with the models' files below `models_dir`/<entry>/.

    Raises `InvalidInputError` where the catalogue file cannot be read or has a mistake.
    """

    def __init__(self, path: Path, models_dir: Path) -> None:
        self.path = path
        self.models_dir = models_dir
        self._entries = read_document(path).models

    def keys(self) -> list[str]:
        """Return the names of all entries, in the file's order."""
        return list(self._entries)

    def entry(self, key: str) -> CatalogueEntry:
        """Return one entry; raises `InvalidInputError` that names the nearest known one."""
        if key not in self._entries:
            raise InvalidInputError(
                f"unknown model {key!r}",
                where=str(self.path.name),
                expected="a model of the catalogue",
                hint=nearest(key, self.keys()),
            )
        return self._entries[key]

    def folder(self, key: str) -> Path:
        """Return the folder of an entry's files."""
        return self.models_dir / key

    def file_path(self, key: str, name: str) -> Path:
        """Return where one file of an entry lies, or will lie."""
        return self.folder(key) / name

    def is_present(self, key: str) -> bool:
        """Return whether every file is there with its right size; cheap, and no proof."""
        return all(
            _size(self.file_path(key, file.name)) == file.size_bytes
            for file in self.entry(key).files
        )

    def check(self, key: str) -> Iterator[FileCheck]:
        """Hash every file of an entry and yield the state of each."""
        for file in self.entry(key).files:
            yield self._check_file(key, file)

    def verified(self, key: str) -> Path:
        """Return an entry's folder after hashing every file in it, as every load does.

        Hashing takes less than a second per gigabyte, so nothing is taken on trust from earlier
        loads. Raises `ModelFileError` when a file is missing or not what it should be.
        """
        for check in self.check(key):
            if check.state != "ok":
                raise ModelFileError(explain(check, self.file_path(key, check.file)))
        return self.folder(key)

    def fingerprint(self, key: str) -> str:
        """SHA-256 over the hashes of an entry's files; of a single file, its own hash."""
        files = self.entry(key).files
        if len(files) == 1:
            return f"sha256:{files[0].sha256}"
        rows = "".join(f"{f.sha256}  {f.name}\n" for f in sorted(files, key=lambda f: f.name))
        return f"sha256:{hashlib.sha256(rows.encode()).hexdigest()}"

    def _check_file(self, key: str, file: CatalogueFile) -> FileCheck:
        path = self.file_path(key, file.name)
        found = _size(path)
        if found is None:
            return FileCheck(key, file.name, "missing", file.size_bytes, 0)
        if found != file.size_bytes:
            return FileCheck(key, file.name, "wrong_size", file.size_bytes, found)
        digest = file_sha256(path)
        state: FileState = "ok" if digest == file.sha256 else "wrong_hash"
        return FileCheck(key, file.name, state, file.size_bytes, found, digest)


def explain(check: FileCheck, path: Path) -> str:
    """Say in one sentence what is wrong with a file and what to do."""
    hint = f"run `memport models fetch {check.entry}`"
    match check.state:
        case "missing":
            return f"model {check.entry!r}: {path} is missing; {hint}."
        case "wrong_size":
            return (
                f"model {check.entry!r}: {path} has {check.found_bytes:,} bytes, expected "
                f"{check.size_bytes:,}; {hint}."
            )
        case "wrong_hash":
            return (
                f"model {check.entry!r}: {path} has SHA-256 {check.found_sha256}, which is not the "
                f"catalogue's; it is not loaded; {hint}."
            )
        case _:
            return f"model {check.entry!r}: {path} is what it should be."


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
