"""Starts `python -m tests.entry …` on a database and waits for what it says."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Program:
    """A running `memport` command; its output is collected line by line."""

    def __init__(self, *arguments: str, home: Path, database: str, **environment: str) -> None:
        env = {
            **os.environ, "MEMPORT_HOME": str(home), "DATABASE_URL": database,
            "PYTHONUNBUFFERED": "1", **environment,
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.entry", *arguments],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    @property
    def output(self) -> str:
        """All that it has said."""
        return "\n".join(self.lines)

    def wait_for(self, text: str, *, seconds: float = 300) -> str:
        """Return the first line that holds the text; fail where the program ends before."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            ended = self.process.poll() is not None
            if ended:
                self._reader.join(5)
            for line in list(self.lines):
                if text in line:
                    return line
            if ended:
                break
            time.sleep(0.05)
        raise AssertionError(f"{text!r} was not said:\n{self.output}")

    def show_threads(self) -> None:
        """Let it say where every thread stands, for a test that failed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)

    def end(self, how: signal.Signals = signal.SIGTERM, *, seconds: float = 30) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(how)
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code


@contextmanager
def running(*arguments: str, home: Path, database: str, **environment: str) -> Iterator[Program]:
    """Run a command until the block ends; kill it where it still runs then."""
    program = Program(*arguments, home=home, database=database, **environment)
    try:
        yield program
    except BaseException:
        program.show_threads()
        code = program.process.poll()
        how = "still runs" if code is None else f"ended with exit code {code}"
        print(f"memport {' '.join(arguments)} {how} and said:\n{program.output}")
        raise
    finally:
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait(10)
