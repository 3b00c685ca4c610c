"""Run the command line inside the test's process, or in one of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memport_site.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


def memport(capsys: pytest.CaptureFixture[str], *arguments: Any) -> Ended:
    """Run a command in this process and return what it printed and its exit code."""
    capsys.readouterr()
    code = 0
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(bool(end.code))
    printed = capsys.readouterr()
    return Ended(code, printed.out, printed.err)


def start_memport(home: Path, *arguments: Any, **environment: str) -> subprocess.Popen[str]:
    """Start a command in a process of its own, with `home` as its place for everything."""
    return subprocess.Popen(
        [sys.executable, "-c", "from memport_site.cli import main; main()", *map(str, arguments)],
        env={**os.environ, "MEMPORT_HOME": str(home), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end_of(process: subprocess.Popen[str], *, seconds: float = 120) -> Ended:
    """Wait for a started command."""
    out, err = process.communicate(timeout=seconds)
    return Ended(process.returncode, out, err)
