"""`memport serve` and `memport worker` as processes of their own, on one SQLite file."""

import http.client
import re
import signal
import socket
from pathlib import Path

import pytest

from experiments.models import Answer, Run, WorkerProcess
from experiments.runtime.processes import live_workers
from experiments.runtime.standby import ensure_worker
from memport_site.cli import main
from tests.processes import running
from tests.runs import a_launched_run, wait_until_over


@pytest.fixture(autouse=True)
def _one_home(tmp_path: Path, settings: object) -> None:
    """This process and the started ones share a home, and so the worker's seat."""
    settings.HOME = tmp_path  # type: ignore[attr-defined]


def first_answer(address: str) -> tuple[int, str]:
    """Return the status of the front page and where it sends a stranger to."""
    host, port = address.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=300)
    connection.request("GET", "/")
    response = connection.getresponse()
    return response.status, response.headers.get("Location", "")


def address_in(line: str) -> str:
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found is not None
    return found[0]


def listening_addresses(port: int) -> list[str]:
    """Return the local addresses that listen on a port, as the kernel writes them."""
    tables = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    return re.findall(rf"^ *\d+: ([0-9A-F]+):{port:04X} \S+ 0A ", tables, re.MULTILINE)


def test_a_server_on_the_loopback_interface_works_a_command_hands_over_and_everything_ends_cleanly(
    tmp_path: Path, sqlite_file: str
) -> None:
    run = a_launched_run()
    with running("serve", "--port", "0", home=tmp_path, database=sqlite_file) as server:
        address = address_in(server.wait_for("memport serves"))
        assert first_answer(address) == (302, "/sign-in/?next=/")
        assert listening_addresses(int(address.rpartition(":")[2])) == ["0100007F"]
        with ensure_worker() as worker:
            assert not worker.works_here
            wait_until_over(run)
            assert worker.who() == f"the server at {address} (pid {server.process.pid})"
        assert run.state == Run.State.COMPLETE
        found = next(iter(live_workers()), None)
        assert found is not None
        assert (found.address, found.pid) == (address, server.process.pid)
        assert server.end(signal.SIGINT) == 0
    assert "Traceback" not in server.output
    assert live_workers() == []
    assert WorkerProcess.objects.get(kind="server").stopped_at is not None


def test_a_second_server_serves_but_does_not_work_until_the_first_is_gone(
    tmp_path: Path, sqlite_file: str
) -> None:
    with running("serve", "--port", "0", home=tmp_path, database=sqlite_file) as first:
        first.wait_for("memport serves")
        with running("serve", "--port", "0", home=tmp_path, database=sqlite_file) as second:
            second.wait_for("It does not work itself")
            first.process.kill()
            first.process.wait(10)
            run = wait_until_over(a_launched_run())
            assert run.state == Run.State.COMPLETE
            workers = set(Answer.objects.values_list("call__worker__pid", flat=True))
            assert workers == {second.process.pid}
            assert second.end() == 0


def test_a_port_in_use_is_named_and_nothing_is_left_behind(
    sqlite_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit) as left:
            main(["serve", "--port", str(port)])
    assert left.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"memport: --port: port {port} is in use. Stop what listens there")
    assert not WorkerProcess.objects.exists()


def test_a_worker_without_a_broker_is_the_one_worker(tmp_path: Path, sqlite_file: str) -> None:
    run = a_launched_run()
    with running("worker", home=tmp_path, database=sqlite_file) as worker:
        worker.wait_for("This process works")
        assert wait_until_over(run).state == Run.State.COMPLETE
        assert worker.end() == 0
    assert "Traceback" not in worker.output
