"""The worker's seat: at most one embedded worker per database and machine.

A lock on a file, because the kernel frees it however its holder dies: two commands started at the
same moment cannot both load a model.
"""

import fcntl
import hashlib
import os
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import connection


def database_name() -> str:
    """Name the database that this process uses."""
    parts = connection.settings_dict
    return "/".join(str(parts.get(key) or "") for key in ("ENGINE", "HOST", "PORT", "NAME"))


class Seat:
    """Take it before loading a model in an embedded worker, free it afterwards."""

    def __init__(self, path: Path | None = None) -> None:
        digest = hashlib.sha256(database_name().encode()).hexdigest()[:12]
        self.path = path or settings.HOME / f"worker-{digest}.lock"
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """Take the seat if it is free; say whether it is ours now."""
        if self._file is not None:
            return True
        file = self.path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        self._file = file
        return True

    def free(self) -> None:
        """Let somebody else have it."""
        if self._file is not None:
            self._file.close()
            self._file = None
