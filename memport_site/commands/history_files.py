"""Folders with `histories.jsonl` and `probes.jsonl`: read, and written whole or not at all."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from stores.errors import InvalidInputError
from stores.workload.bundle import Bundle, read_bundle
from stores.workload.jsonl import HISTORIES_FILE, PROBES_FILE, write_histories, write_probes
from stores.workload.names import CODE_PATTERN
from stores.workload.probes_csv import PROBES_CSV_FILE, write_probes_csv
from stores.workload.source_file import Limits, SourceFile, read_source
from stores.workload.types import History


def limits() -> Limits:
    """Return the limits of this installation."""
    return Limits(file_bytes=settings.MAX_UPLOAD_BYTES)


def sources(folder: Path) -> tuple[SourceFile, SourceFile]:
    """Return the histories and the probes (JSONL, or else CSV) of a folder."""
    if not folder.is_dir():
        raise InvalidInputError(
            "there is no such folder",
            where=str(folder),
            expected=f"a folder with {HISTORIES_FILE} and {PROBES_FILE} (or {PROBES_CSV_FILE})",
        )
    csv_alone = not (folder / PROBES_FILE).exists() and (folder / PROBES_CSV_FILE).exists()
    probes = folder / (PROBES_CSV_FILE if csv_alone else PROBES_FILE)
    return (
        read_source(folder / HISTORIES_FILE, limits=limits()),
        read_source(probes, limits=limits()),
    )


def read_folder(
    folder: Path, *, code_pattern: str = CODE_PATTERN, ignore_unknown: bool = False
) -> Bundle:
    """Read and check a folder; what is wrong is in the bundle's problems."""
    histories, probes = sources(folder)
    return read_bundle(
        histories,
        probes,
        code_pattern=code_pattern,
        limits=limits(),
        ignore_unknown=ignore_unknown,
    )


def write_folder(folder: Path, histories: Sequence[History], *, csv: bool = False) -> list[Path]:
    """Write the files of some histories and return their paths.

    Raises
    ------
    InvalidInputError
        When a file is there already with other content, or cannot be written.
    """
    contents = {HISTORIES_FILE: write_histories(histories), PROBES_FILE: write_probes(histories)}
    if csv:
        contents[PROBES_CSV_FILE] = write_probes_csv(histories)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            path = folder / name
            if path.exists() and path.read_bytes() != content:
                raise InvalidInputError(
                    "the file is there already, with other content",
                    where=str(path),
                    hint="Choose another --out folder, or remove it first",
                )
        return _write_all(folder, contents)
    except OSError as error:
        raise InvalidInputError(
            f"cannot be written ({error.strerror})", where=str(error.filename or folder)
        ) from error


def _write_all(folder: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Write every file beside its place first, so that a full disk leaves nothing half-written."""
    written: list[tuple[Path, Path]] = []
    try:
        for name, content in contents.items():
            handle, beside = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
            written.append((Path(beside), folder / name))
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(beside, 0o644)
        for beside_path, path in written:
            beside_path.replace(path)
    except BaseException:
        for beside_path, _ in written:
            beside_path.unlink(missing_ok=True)
        raise
    return [path for _, path in written]
