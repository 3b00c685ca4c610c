"""How fast the pages of a study of 468,480 answers are, cold and warm, on one database.

`python -m tools.bench_pages` makes a database of its own below a temporary folder (SQLite), or
uses an empty PostgreSQL that DATABASE_URL names. `make bench` runs it for each.
"""

import argparse
import io
import json
import os
import sys
import tempfile
import time
from typing import Any

PAGES = (
    "", "swap/", "indexes/", "loss/", "tests/", "repair/", "screening/", "gates/", "planner/",
    "paper/",
    "answers/?format=notes&writer=Llama&reader=Qwen&condition=normal&repeat=0&index=none",
    "answers/",
)  # fmt: skip
REQUESTS = 200
PLAN = {
    "key": "bench-run", "title": "Bench run", "histories": {"preset": "paper", "seed": 1},
    "formats": ["lc_raw", "rag", "notes", "kg_fixed"],
    "models": [{"key": key, "engine": "scripted"} for key in ("Llama", "Qwen")],
    "embedders": [{"key": "bag", "engine": "scripted"}],
    "tests": {"writer_swap": {"noise_repeats": 0}},
}  # fmt: skip
ROWS_OF_AN_INSERT = 2000


def main() -> None:
    """Fill the database, open every page, print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=48)
    parser.add_argument("--probes", type=int, default=160)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memport-bench-") as folder:
        os.environ["MEMPORT_HOME"] = folder
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        figures = {
            source: measure(make(options.histories, options.probes), options.requests)
            for source, make in {"table": from_table, "run": from_run}.items()
        }
    json.dump(figures, sys.stdout, indent=2)


def from_table(histories: int, probes: int) -> Any:
    """A study whose answers were uploaded."""
    from django.core.files.base import ContentFile

    from analysis.table_import import TableUpload, import_table
    from memport_site.accounts.services import default_workspace
    from tools.simulated import answers

    file = io.BytesIO()
    answers(histories=histories, probes=probes).to_parquet(file)
    upload = TableUpload(
        file=ContentFile(file.getvalue()), name="bench.parquet", title="Bench table", simulated=True
    )
    return import_table(upload=upload, workspace=default_workspace(), user=None)


def from_run(histories: int, probes: int) -> Any:
    """The same answers as rows of a finished run, as an execution would have left them."""
    from experiments.models import Answer, Attempt, Evaluation, Run, Study
    from memport_site.accounts.services import default_workspace
    from stores.models import History, Probe
    from tools.simulated import KINDS, SCREENING, answers

    workspace = default_workspace()
    study = Study.objects.create(
        workspace=workspace, key="bench-run", title="Bench run", simulated=True, plan=PLAN,
        plan_sha256="0" * 64,
    )  # fmt: skip
    run = Run.objects.create(study=study, test="writer_swap", state=Run.State.COMPLETE)
    probes_of = {}
    for number in range(histories):
        history = History.objects.create(workspace=workspace, key=f"H{number:04}",
                                         source="synthetic", checksum=f"{number:064}")  # fmt: skip
        probes_of[history.key] = Probe.objects.bulk_create(
            Probe(history=history, key=f"p{at:04}", position=at, kind=KINDS[at % len(KINDS)],
                  question="?", answer="!", screening=at < SCREENING)
            for at in range(probes)
        )  # fmt: skip
    table = answers(histories=histories, probes=probes)
    table["rung"] = table["rung"].fillna(0)
    keys = ["history", "format", "writer", "reader", "condition", "index", "repair", "rung"]
    for place, (key, part) in enumerate(table.groupby(keys, observed=True, sort=False)):
        cell = dict(zip(keys, key, strict=True))
        history = cell.pop("history")
        cell["rung"] = int(cell["rung"])
        evaluation = Evaluation.objects.create(
            run=run, history=probes_of[history][0].history, position=place, state="complete", **cell
        )
        attempt = Attempt.objects.create(evaluation=evaluation, state="open")
        Answer.objects.bulk_create(
            (
                Answer(attempt=attempt, probe=probe, correct=bool(right), text="AB-1234")
                for probe, right in zip(probes_of[history], part["correct"], strict=True)
            ),
            batch_size=ROWS_OF_AN_INSERT,
        )
        Attempt.objects.filter(pk=attempt.pk).update(state="complete")
    return study


def measure(study: Any, requests: int) -> dict[str, Any]:
    """Open every page: first with nothing computed, then in a fresh process's state, then warm."""
    from django.conf import settings
    from django.test import Client

    from analysis.kept import LARGE, SMALL
    from analysis.models import AnalysisResult
    from memport_site.accounts.services import ensure_admin

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.force_login(ensure_admin())
    address = f"/studies/{study.key}/"
    AnalysisResult.objects.filter(study=study).delete()
    LARGE.clear()
    SMALL.clear()
    first_ever_s, first_ever_cpu_s, _ = _get_s(client, address)
    pages = {}
    for page in PAGES:
        LARGE.clear()
        SMALL.clear()
        cold_s, cold_cpu_s, size = _get_s(client, address + page)
        warm = [_get_s(client, address + page) for _ in range(requests)]
        pages[page or "verdicts"] = {
            "cold_ms": 1000 * cold_s,
            "cold_cpu_ms": 1000 * cold_cpu_s,
            "warm_p95_ms": 1000 * _p95([one[0] for one in warm]),
            "warm_p95_cpu_ms": 1000 * _p95([one[1] for one in warm]),
            "kilobytes": size / 1000,
        }
        print(study.key, page, pages[page or "verdicts"], file=sys.stderr)
    return {
        "nothing_computed_yet_s": first_ever_s,
        "nothing_computed_yet_cpu_s": first_ever_cpu_s,
        "pages": pages,
    }


def _p95(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]


def _get_s(client: Any, address: str) -> tuple[float, float, int]:
    """The whole page, in seconds on the clock and of the processor, and its size."""
    started, worked = time.perf_counter(), time.process_time()
    response = client.get(address)
    taken, cpu = time.perf_counter() - started, time.process_time() - worked
    if response.status_code != 200:
        raise SystemExit(f"{address} answered {response.status_code}")
    return taken, cpu, len(response.content)


if __name__ == "__main__":
    main()
