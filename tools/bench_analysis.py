"""The whole analysis of 468,480 answers, and of ten times as many, against plain pandas.

`python -m tools.bench_analysis` prints the figures as JSON; `make bench` runs it. Ratios are taken
within one run; processor seconds are those of this process, whoever else works on the machine.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
import pandas as pd

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
django.setup()

from analysis.observations import read_table, to_cube
from analysis.report import answers_report
from analysis.settings import Settings
from tools.simulated import answers

KEYS = ["format", "writer", "reader", "condition", "index", "repair", "rung", "history"]
ROUNDS = 3
TIMES = 10


def main() -> None:
    """Measure both sizes, the small one first: the peak of memory is read after it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=48)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memport-bench-") as folder:
        path = Path(folder) / "answers.parquet"
        answers(histories=options.histories).to_parquet(path)
        usual = measure(path)
        usual["peak_memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answers(histories=TIMES * options.histories).to_parquet(path)
        large = measure(path)
    both = ("read_cpu_s", "report_cpu_s")
    growth = sum(large[name] for name in both) / sum(usual[name] for name in both)
    figures = {"usual": usual, "ten_times": large, "time_of_ten_times_the_rows": growth}
    json.dump(figures, sys.stdout, indent=2)


def measure(path: Path) -> dict[str, Any]:
    """Read and analyze one file; the reference reads it and groups it by cell and history."""
    reference_s = best_cpu_s(lambda: reference(path))
    read_s = best_cpu_s(lambda: read_table(path))
    pandas_read_s = best_cpu_s(lambda: pd.read_parquet(path))
    frame = read_table(path)
    n_rows = len(frame)
    cube = to_cube(frame)
    del frame
    report_s = best_cpu_s(lambda: answers_report(cube, Settings()))
    return {
        "rows": n_rows,
        "read_cpu_s": read_s,
        "rows_read_per_cpu_s": n_rows / read_s,
        "read_over_pandas_read": read_s / pandas_read_s,
        "report_cpu_s": report_s,
        "report_over_pandas_read_and_group": report_s / reference_s,
    }


def reference(path: Path) -> object:
    """What a person would write: accuracy per cell and history, then mean and standard error."""
    table = pd.read_parquet(path)
    table[KEYS] = table[KEYS].astype(str)
    return table.groupby(KEYS)["correct"].mean().groupby(KEYS[:-1]).agg(["mean", "sem"])


def best_cpu_s(work: Callable[[], object]) -> float:
    """The shortest of a few rounds, in processor seconds of all threads of this process."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        seconds.append(time.process_time() - started)
    return min(seconds)


if __name__ == "__main__":
    main()
