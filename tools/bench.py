"""`make bench`: speed and memory as ratios within one run, on whatever machine this is.

Absolute seconds are printed for orientation only: machines are shared and noisy, ratios hold.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django
import numpy as np
import pandas as pd
from django.conf import settings
from rich.console import Console
from rich.table import Table

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
django.setup()

from analysis.observations import read_table, to_cube
from analysis.report import answers_report
from analysis.settings import Settings
from experiments.engines.catalogue import Catalogue
from experiments.engines.engines import open_chat_model, open_embedder
from experiments.plan.schema import Embedder, Model
from stores.formats.base import WriteBudget
from stores.formats.formats import FORMATS
from stores.formats.reading import reader_request
from stores.workload.generator import generate

SMALLEST = "smollm2-135m-instruct-q4_1"
MINILM = "all-minilm-l6-v2"
ROUNDS = 3


def main() -> None:
    """Run every measurement, print the report, write it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=settings.HOME / "bench.json")
    parser.add_argument("--long", action="store_true", help="Read 50 million rows, too.")
    options = parser.parse_args()
    output: Path = options.output
    report: dict[str, Any] = {"machine": machine()}
    for name, measure in {
        "shared prefix": shared_prefix,
        "embedding": embedding,
        "analysis": analysis,
        "analysis of 468,480 answers": analysis_at_scale,
        **{f"pages at that scale, {name}": measure for name, measure in pages_at_scale()},
        **({"a CSV of 50 million answers": long_table} if options.long else {}),
    }.items():
        report[name] = measure()
        show(name, report[name])
    report["peak_memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    output.write_text(json.dumps(report, indent=2) + "\n")
    Console().print(f"Peak memory {report['peak_memory_mib']} MiB. Written to {output}.")


def machine() -> dict[str, Any]:
    """Say what this was measured on."""
    return {
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def shared_prefix() -> dict[str, float]:
    """Read raw transcripts with the prefix computed once, against once for every question."""
    model = open_chat_model(
        Model(key="bench", engine="llama_cpp", catalogue=SMALLEST),
        context_tokens=2048,
        catalogue=catalogue(),
    )
    budget = WriteBudget(writer_output_tokens=512)
    history = generate("tiny", seed=1)[0]
    raw = FORMATS["lc_raw"]
    content = raw.write(history, writer=None, embedder=None, budget=budget).content
    readings = raw.read(content, history.probes, embedder=None, budget=budget)
    requests = [reader_request(r, max_output_tokens=16, seed=0) for r in readings]

    def ask(*, forgetting: bool) -> int:
        model.forget()
        computed = 0
        for request in requests:
            if forgetting:
                model.forget()
            reply = model.chat([request])[0]
            computed += reply.prompt_tokens - reply.cached_tokens + reply.primed_tokens
        return computed

    one_pass = model.count_tokens(requests[0].system + requests[0].prefix)
    questions = sum(model.count_tokens(request.suffix) for request in requests)
    shared_s = best_s(lambda: ask(forgetting=False))
    anew_s = best_s(lambda: ask(forgetting=True))
    computed = ask(forgetting=False)
    model.close()
    return {
        "computed_tokens_over_one_pass_and_questions": computed / (one_pass + questions),
        "seconds_anew_over_seconds_shared": anew_s / shared_s,
        "seconds_per_read_shared": shared_s / len(requests),
    }


def embedding() -> dict[str, float]:
    """Embed texts in batches, against one at a time."""
    embedder = open_embedder(
        Embedder(key="bench", engine="onnx", catalogue=MINILM), catalogue=catalogue()
    )
    texts = [event.text for event in generate("small", seed=1)[0].events]
    together_s = best_s(lambda: embedder.embed_passages(texts))
    alone_s = best_s(lambda: [embedder.embed_passages([text]) for text in texts])
    embedder.close()
    return {
        "seconds_one_by_one_over_batched": alone_s / together_s,
        "texts_per_second_batched": len(texts) / together_s,
    }


def analysis() -> dict[str, float]:
    """Read and analyse a simulated writer swap, against pandas reading the file and grouping it."""
    frame = simulated_answers(histories=48, probes=160)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        frame.to_csv(path, index=False)

        def reference() -> object:
            table = pd.read_csv(path, keep_default_na=False)
            keys = ["format", "writer", "reader", "history"]
            return table.groupby(keys)["correct"].mean().groupby(keys[:3]).agg(["mean", "sem"])

        reference_s = best_s(reference)
        read_s = best_s(lambda: read_table(path))
        cube = to_cube(read_table(path))
        report_s = best_s(lambda: answers_report(cube, Settings()))
    return {
        "rows": float(len(frame)),
        "read_and_report_over_pandas_read_and_group": (read_s + report_s) / reference_s,
        "seconds_to_read": read_s,
        "seconds_to_report": report_s,
    }


def analysis_at_scale() -> dict[str, float]:
    """Analyze a table of the published size and ten times it, in a process of its own."""
    found = in_process("tools.bench_analysis")
    usual = found["usual"]
    return {
        **{name: usual[name] for name in usual if name != "rows"},
        "time_of_ten_times_the_rows": found["time_of_ten_times_the_rows"],
    }


def long_table() -> dict[str, Any]:
    """Read a CSV of 50 million rows in a process of its own; find the key that occurs twice."""
    return in_process("tools.bench_long_table")


def pages_at_scale() -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """Open every page of a study of that size: on SQLite, and on PostgreSQL where it is named."""
    yield "SQLite", lambda: page_figures({"DATABASE_URL": ""})
    if url := os.environ.get("MEMPORT_BENCH_POSTGRESQL", ""):
        yield "PostgreSQL", lambda: page_figures({"DATABASE_URL": url})


def page_figures(environment: dict[str, str]) -> dict[str, float]:
    """The slowest page of each source: ms to the whole page, and its kilobytes."""
    figures: dict[str, float] = {}
    for source, found in in_process("tools.bench_pages", environment).items():
        figures[f"{source}: first view, nothing computed, s"] = found["nothing_computed_yet_s"]
        for name in ("cold_ms", "warm_p95_ms", "warm_p95_cpu_ms", "kilobytes"):
            slowest = max(page[name] for page in found["pages"].values())
            figures[f"{source}: {name.replace('_', ' ')}, at most"] = slowest
    return figures


def in_process(module: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a measurement in a process of its own, so that memory and caches are its own."""
    wanted = {**os.environ, **(environment or {})}
    wanted = {name: value for name, value in wanted.items() if value}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", module], env=wanted, check=True, stdout=subprocess.PIPE, text=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def simulated_answers(*, histories: int, probes: int) -> pd.DataFrame:
    """Return a simulated answers table of a writer swap with all twelve cells per history."""
    rng = np.random.default_rng(0)
    cells = [("lc_raw", "", "a"), ("lc_raw", "", "b"), ("rag", "", "a"), ("rag", "", "b")]
    cells += [(f, w, r) for f in ("notes", "kg_fixed") for w in "ab" for r in "ab"]
    kinds = ("direct", "temporal", "contradiction", "multi_hop", "alias")
    index = pd.MultiIndex.from_product(
        [[f"h{n:02}" for n in range(histories)], range(len(cells)), range(probes)]
    )
    history, cell, probe = (index.get_level_values(level) for level in range(3))
    return pd.DataFrame({
        "history": history,
        "format": [cells[n][0] for n in cell],
        "writer": [cells[n][1] for n in cell],
        "reader": [cells[n][2] for n in cell],
        "condition": "normal",
        "index": "",
        "repair": "",
        "rung": "",
        "cost_usd": "",
        "repeat": 0,
        "probe": [f"p{n:03}" for n in probe],
        "kind": [kinds[n % len(kinds)] for n in probe],
        "screening": (np.asarray(probe) < 20).astype(int),
        "correct": (rng.random(len(index)) < 0.6).astype(int),
        "rank": "",
        "recall": "",
    })  # fmt: skip


def catalogue() -> Catalogue:
    """Return the catalogue that the product uses."""
    return Catalogue(settings.CATALOGUE, settings.MODELS_DIR)


def best_s(work: Callable[[], object]) -> float:
    """Return the shortest of a few rounds: the one that was disturbed least."""
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def show(name: str, figures: dict[str, float]) -> None:
    """Print one measurement as a table."""
    table = Table(title=name, title_justify="left", show_header=False)
    for label, value in figures.items():
        table.add_row(label.replace("_", " "), f"{value:,.3g}")
    Console().print(table)


if __name__ == "__main__":
    main()
