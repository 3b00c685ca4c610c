"""The charts' script from the installed plotly package, and collecting what changed."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder, get_finders
from django.core.files.storage import FileSystemStorage, Storage
from django.core.management import call_command

PLOTLY_FILE = "plotly.min.js"
PLOTLY_PREFIX = "vendor/plotly"
STAMP = ".collected"


def plotly_folder() -> Path:
    """Where the installed plotly package keeps its script; found without importing plotly."""
    import importlib.util

    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("The plotly package is not installed: run `make setup`.")
    return Path(spec.origin).parent / "package_data"


class PlotlyFinder(BaseFinder):
    """Serves one file of the installed plotly package: the charts' script, always its version."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storage = FileSystemStorage(location=plotly_folder())
        # collectstatic puts the storage's files below this prefix.
        self.storage.prefix = PLOTLY_PREFIX  # type: ignore[attr-defined]

    def find(self, path: str, find_all: bool = False, **_: Any) -> Any:
        """Return the absolute path of the script, where `path` asks for it."""
        if path != f"{PLOTLY_PREFIX}/{PLOTLY_FILE}":
            return []
        found = self.storage.path(PLOTLY_FILE)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:  # noqa: ARG002
        """Name the one file."""
        yield PLOTLY_FILE, self.storage


def _fingerprint() -> str:
    """SHA-256 over name, size and time of every static file."""
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list([]), key=lambda found: str(found[0])):
            stat = Path(storage.path(path)).stat()
            digest.update(f"{path}|{stat.st_size}|{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect_static_files() -> bool:
    """Collect, hash and compress the static files unless that was done; True where it was needed.

    A server calls this before it takes requests, so that no separate step has to be remembered.
    """
    stamp = Path(settings.STATIC_ROOT) / STAMP
    fingerprint = _fingerprint()
    if stamp.exists() and stamp.read_text() == fingerprint:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(fingerprint)
    return True
