"""A CSV of 50 million answers: read whole, and once more with one key that occurs twice.

`python -m tools.bench_long_table` prints the figures as JSON; `make bench LONG=1` runs it. It takes
some ten minutes and 5 GB of disk for as long.
"""

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import django
import pandas as pd

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
django.setup()

from analysis.tables import read_cube
from stores.errors import InvalidInputError
from tools.simulated import answers


def main() -> None:
    """Write the table, read it, add the row that is there already, and have it found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    wanted: int = parser.parse_args().rows
    with tempfile.TemporaryDirectory(prefix="memport-bench-") as folder:
        path = Path(folder) / "answers.csv"
        first_row, rows = write(path, wanted)
        started = time.perf_counter()
        cells, probes = read_cube(path).correct.shape
        read_s = time.perf_counter() - started
        with path.open("a") as file:
            file.write(first_row)
        found = lines_of_the_double(path)
    json.dump(
        {
            "rows": rows,
            "cells": cells,
            "probes": probes,
            "rows_read_per_s": rows / read_s,
            "first_line_of_the_double": found[0],
            "last_line_of_the_double": found[1],
            "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        },
        sys.stdout,
        indent=2,
    )


def write(path: Path, wanted: int) -> tuple[str, int]:
    """Write copies of a simulated study, each with histories of its own; return the first row."""
    frame = answers()
    names = frame["history"].astype(str)
    rows = 0
    with path.open("w") as file:
        while rows < wanted:
            piece: pd.DataFrame = frame.assign(history=f"c{rows // len(frame)}-" + names)
            piece = piece.head(wanted - rows)
            piece.to_csv(file, index=False, header=not rows)
            rows += len(piece)
    with path.open() as file:
        next(file)
        return next(file), rows


def lines_of_the_double(path: Path) -> tuple[int, int]:
    """Read a table in which one key occurs twice; return the two lines that the refusal names."""
    try:
        read_cube(path)
    except InvalidInputError as error:
        first, second = re.findall(r"line (\d+)", str(error))[:2]
        return int(first), int(second)
    raise AssertionError("a key that occurs twice was not found")


if __name__ == "__main__":
    main()
