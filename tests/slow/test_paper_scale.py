"""The whole answers table at the paper's size (468,480 simulated answers), read from its file.

It lies beside the checkout, in ../shared/data, or where MEMPORT_SHARED says. Without it these tests
say so and do not run; tests/reference/test_paper_tables.py compares the same figures from counts.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.arrays import to_cube
from analysis.report import answers_report
from analysis.settings import Settings
from analysis.tables import read_table, write_parquet
from memport_site.commands.analyze import command
from tests.reference.published import assert_published, printed

SHARED = Path(os.environ.get("MEMPORT_SHARED") or Path(__file__).parents[3] / "shared")
TABLE = SHARED / "data" / "paper_scale_answers.csv.gz"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not TABLE.is_file(),
        reason=f"needs {TABLE.name}: set MEMPORT_SHARED to the folder that holds data/{TABLE.name}",
    ),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analysis")
    result = CliRunner().invoke(
        command,
        [str(TABLE), "--json", str(folder / "report.json"), "--html", str(folder / "report.html")],
    )
    assert result.exit_code == 0, result.output
    return result.output, json.loads((folder / "report.json").read_text()), folder


def test_the_command_reproduces_the_published_tables(written):
    _, report, _ = written
    assert_published(report)
    indexes = {row["index"]: row for row in report["embedding_upgrade"][0]["indexes"]}
    assert indexes["old"]["recall_at_8"]["value"] == printed(0.4846, 4)


def test_it_says_that_the_answers_are_simulated_and_what_was_not_measured(written):
    text, report, folder = written
    page = (folder / "report.html").read_text()
    for place in (text, page, json.dumps(report["study"]["labels"])):
        assert "simulated: no model gave these answers" in place
    assert report["gates"]["status"] == "not measured"
    assert "Noise floor: not measured" in " ".join(text.split())
    assert "noise floor: not measured" in page


def test_the_page_loads_nothing(written):
    page = (written[2] / "report.html").read_text()
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<script") == page.count("<script>") == 1  # its own, in the page itself
    assert len(page.encode()) < 300_000


def test_reading_and_computing_stay_within_their_time(tmp_path):
    parquet = tmp_path / "answers.parquet"
    write_parquet(read_table(TABLE), parquet)
    started = time.process_time()
    frame = read_table(parquet)
    read_s = time.process_time() - started
    started = time.process_time()
    answers_report(to_cube(frame), Settings())
    computed_s = time.process_time() - started
    print(f"read {len(frame) / read_s:,.0f} rows a second, computed in {computed_s:.2f} s of CPU")
    assert len(frame) / read_s > 1_000_000
    assert computed_s < 1.5


def test_the_whole_analysis_stays_below_600_mb():
    code = (
        "import atexit, resource, sys; from memport_site.cli import main; "
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "atexit.register(lambda: print(peak(), file=sys.stderr)); main()"
    )
    done = subprocess.run([sys.executable, "-c", code, "analyze", str(TABLE)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stderr.split()[-1]) * 1024 < 600e6
