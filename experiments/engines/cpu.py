"""How many threads a model may use here and now."""

import os
import time
from collections.abc import Callable
from pathlib import Path

STAT = Path("/proc/stat")
SAMPLE_S = 0.25
MOST_THREADS = 4
# Columns of /proc/stat's first line: user nice system idle iowait irq softirq steal.
IDLE_COLUMNS = (3, 4)
COLUMNS = 8


def free_threads(
    *,
    stat: Path = STAT,
    sample_s: float = SAMPLE_S,
    sleep: Callable[[float], None] = time.sleep,
    cpus: int | None = None,
) -> int:
    """Return how many threads find a processor free: at least 1, at most `MOST_THREADS`.

    llama.cpp's threads wait for each other several hundred times per token. Where one of them has
    no processor of its own, all of them wait for the scheduler each time: measured on two busy
    processors, two threads decoded 4 to 14 times slower than one. The number of threads changes
    no bit of an answer, so it is chosen when a model is loaded and is no part of its identity.
    """
    cpus = cpus or _allowed_cpus()
    most = min(cpus, MOST_THREADS)
    try:
        before = _ticks(stat)
        sleep(sample_s)
        after = _ticks(stat)
    except (OSError, ValueError, IndexError):
        return most
    passed = sum(after) - sum(before)
    idle = sum(after[c] - before[c] for c in IDLE_COLUMNS)
    if passed <= 0:
        return most
    all_cpus = os.cpu_count() or cpus
    return max(1, min(most, round(all_cpus * idle / passed)))


def _allowed_cpus() -> int:
    """Processors that this process may run on; fewer than the machine has, in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _ticks(stat: Path) -> list[int]:
    first = stat.read_text().splitlines()[0].split()
    if first[0] != "cpu":
        raise ValueError("no line of all processors")
    return [int(value) for value in first[1 : COLUMNS + 1]]
