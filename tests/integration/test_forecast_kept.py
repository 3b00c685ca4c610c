"""The forecast of a launch is kept with its run, and set beside what the run took."""

import json

import pytest
import yaml

from experiments.engines.scripted import ScriptedModel
from experiments.forecast_actual import forecast_and_actual
from experiments.models import Study
from experiments.plan.plan import parse_plan
from experiments.services import forecasting
from experiments.services.forecasting import forecast_study
from experiments.services.launch import launch_study
from memport_site.accounts.services import default_workspace
from stores.roles import EngineError
from tests.commands import memport
from tests.runs import work_off
from tests.unit.engines import FakeChat, around
from tests.unit.plans import plan_values

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings, tmp_path):
    settings.HOME = tmp_path


def launch(**changes) -> Study:
    return launch_study(
        plan=parse_plan(plan_values(**changes)), workspace=default_workspace(), user=None,
    )  # fmt: skip


def test_forecast_and_actual_agree_where_the_plan_decides():
    study = launch(formats=["lc_raw", "notes"])
    run = study.runs.get()
    before = forecast_and_actual(run)
    assert before["actual"]["calls"] == 0
    assert not before["finished"]
    work_off()
    compared = forecast_and_actual(run)
    rows = {row["what"]: row for row in compared["rows"]}
    assert rows["answers"]["ratio"] == 1
    assert rows["calls"]["ratio"] == 1
    assert rows["prompt_tokens"]["ratio"] == pytest.approx(1, abs=0.25)
    assert rows["store_bytes"]["ratio"] == pytest.approx(1, abs=0.25)
    json.dumps(compared, allow_nan=False)


def test_show_holds_forecast_and_actual(capsys):
    launch(formats=["lc_raw"])
    work_off()
    shown = json.loads(memport(capsys, "study", "show", "two-models", "--json").out)
    (run,) = shown["runs"]
    assert run["forecast"]["actual"]["answers"] == 60
    assert run["forecast"]["forecast"]["total"]["calls"] == 60


def test_a_model_that_cannot_be_opened_is_said_to_be_not_measured():
    def broken(key):
        raise EngineError("the file model.gguf is not here.")

    made = forecast_study(
        plan=parse_plan(plan_values()), workspace=default_workspace(),
        surroundings=around(chat=broken),
    ).as_json()  # fmt: skip
    assert made["total"]["engine_s"]["value"] is None
    assert "old: not measured: the file model.gguf is not here" in made["basis"]


def test_each_model_is_timed_once_for_confirming_and_launching(monkeypatch):
    timed = []
    real = forecasting.warm_up
    monkeypatch.setattr(forecasting, "warm_up", lambda chat: timed.append(1) or real(chat))
    plan, workspace = parse_plan(plan_values()), default_workspace()
    forecast_study(plan=plan, workspace=workspace)
    launch()
    assert len(timed) == 2


def test_without_a_warm_up_no_model_is_opened(monkeypatch, tmp_path, capsys):
    def opened(*args, **kwargs):
        raise AssertionError("a model was opened")

    monkeypatch.setattr(ScriptedModel, "chat", opened)
    monkeypatch.setattr(forecasting, "surroundings_of", opened)
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(plan_values(formats=["lc_raw"])))
    ended = memport(capsys, "study", "forecast", path, "--no-warm-up", "--json")
    document = json.loads(ended.out)
    assert document["total"]["engine_s"]["status"] == "undefined"
    assert not Study.objects.exists()


def test_the_command_prints_every_total_and_its_basis(capsys):
    ended = memport(capsys, "study", "forecast", "--preset", "demo", "--no-warm-up")
    words = " ".join(ended.out.split())
    assert "writer_swap: 36 stores, 73 evaluations, 365 answers" in words
    for said in ("In all:", "GPU-hours: 0.00", "not measured: the model was not opened", "disk:"):
        assert said in words


def test_a_plan_or_a_preset_is_needed_and_not_both(capsys, tmp_path):
    assert memport(capsys, "study", "forecast").code == 2
    assert memport(capsys, "study", "forecast", tmp_path / "p.yaml", "--preset", "demo").code == 2


ENDPOINT = {
    "key": "new", "engine": "openai_api", "base_url": "http://127.0.0.1:9/v1", "model": "m",
    "price": {"prompt_usd_per_mtok": 1},
}  # fmt: skip


@pytest.mark.parametrize(
    ("chars", "said"),
    [
        (4, "tokens by 4.0 characters a token, from a sample that it counted: new"),
        (1, "tokens by 2.8 characters a token: new"),
    ],
)
def test_an_endpoint_counts_one_sample_and_is_never_timed(chars, said):
    counted = []

    class Endpoint(FakeChat):
        def count_tokens(self, text):
            counted.append(text)
            return round(len(text) / chars)

    models = [{"key": "old", "engine": "scripted", "price": {}}, ENDPOINT]
    made = forecast_study(
        plan=parse_plan(plan_values(models=models)), workspace=default_workspace(),
        surroundings=around(chat=lambda key: Endpoint(key) if key == "new" else FakeChat(key)),
    ).as_json()  # fmt: skip
    assert said in made["basis"]
    assert len(counted) == 1
    assert "new: not measured: an endpoint's speed is not this machine's" in made["basis"]
    (test,) = made["tests"]
    new = next(x for x in test["lines"] if (x["role"], x["model"]) == ("reader", "new"))
    assert new["cost_usd"]["value"] == pytest.approx(new["computed_tokens"] / 1e6)
