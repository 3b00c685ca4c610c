"""Names a process so that another one can tell later whether it still lives."""

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

PROC = Path("/proc")


@cache
def this_host() -> str:
    """Name the place in which a process id means something: machine, boot and pid namespace.

    Two containers may share a host name and not their process ids; a reboot starts them anew.
    """
    parts = [platform.node()]
    boot = PROC / "sys/kernel/random/boot_id"
    if boot.exists():
        parts.append(boot.read_text().strip()[:8])
    namespace = PROC / "self/ns/pid"
    if namespace.exists():
        parts.append(os.readlink(namespace).removeprefix("pid:").strip("[]"))
    return "/".join(parts)


def pid_started(pid: int) -> str:
    """Return when the process with this id started, as the system words it; '' if none runs.

    Together with the id it names one process for good: ids are used again, start times are not.
    """
    if PROC.joinpath("self/stat").exists():
        try:
            stat = PROC.joinpath(str(pid), "stat").read_text()
        except OSError:
            return ""
        # The name in parentheses may hold spaces: count the fields after it.
        fields = stat.rpartition(")")[2].split()
        state, ticks = fields[0], fields[19]
        return "" if state in "ZX" else ticks
    answer = subprocess.run(  # noqa: S603
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def is_alive(*, pid: int, started: str) -> bool:
    """Whether that very process still runs on this host."""
    return started != "" and pid_started(pid) == started
