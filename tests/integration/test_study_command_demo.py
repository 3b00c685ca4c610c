"""`memport demo`: from nothing to the verdicts; started again it measures nothing again."""

import signal
import socket
import urllib.error
import urllib.request

from tests.commands import end_of, memport, start_memport
from tests.integration.test_study_command_run import answers_in, plan_file


def test_the_demo_serves_measures_and_prints_its_verdicts_once(tmp_path):
    plan = plan_file(tmp_path)
    first = end_of(start_memport(tmp_path, "demo", "--no-serve", "--port", 0, "--plan", plan))
    assert first.code == 0, first.err
    assert "Dashboard: http://127.0.0.1:" in first.out
    assert "/sign-in/link/" in first.out
    assert "old → new" in first.out
    assert "Traceback" not in first.err
    measured = answers_in(tmp_path)
    assert measured == 48

    again = start_memport(tmp_path, "demo", "--port", 0, "--plan", plan)
    address = again.stdout.readline().split()[-1]
    with urllib.request.urlopen(f"{address}/sign-in/", timeout=30) as page:
        assert page.status == 200
    while "stays at" not in (line := again.stdout.readline()):
        assert line, end_of(again).err
    again.send_signal(signal.SIGINT)
    ended = end_of(again)
    assert ended.code == 0
    assert "nothing is measured again" in ended.err
    assert answers_in(tmp_path) == measured


def test_a_port_in_use_is_one_clear_message_and_nothing_is_left_behind(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = memport(capsys, "demo", "--port", port)
    assert ended.code == 2
    assert ended.err == (
        f"memport: --port: port {port} is in use. Stop what listens there, or choose another one, "
        f"such as --port {port + 1}.\n"
    )
    assert ended.out == ""


def test_the_plan_of_the_demo_is_the_one_that_is_documented():
    from experiments.plan.plan import load_plan
    from memport_site.commands.demo import demo_plans

    plan = load_plan(demo_plans()[0])
    assert [model.key for model in plan.models] == ["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"]
    assert len(plan.planned_directions) == 2
    assert set(plan.formats) == {"lc_raw", "rag", "notes", "kg_fixed"}
    assert all("price" in model.model_fields_set for model in plan.models)


def test_the_full_demo_is_all_four_tests_on_the_tiny_histories():
    from experiments.plan.expand import expand
    from experiments.plan.plan import load_plan
    from memport_site.commands.demo import demo_plans
    from stores.workload.generator import generate

    (path,) = demo_plans(full=True)
    plan = load_plan(path)
    counted = {
        name: sum(not cell.repeat for cell in work.counted)
        for name, work in expand(plan, generate("tiny", seed=7)).items()
    }
    assert counted.pop("gates")
    assert counted == {
        "writer_swap": 6 * 12, "embedding_upgrade": 6 * 8, "repair": 6 * 14,
        "controlled_evidence": 6 * 18,
    }  # fmt: skip
