"""The page of losses: bars, tables, and exactly the probes behind each bar."""

import json
import re

import pytest
from django.urls import reverse

from analysis.results import kept_report
from experiments.models import Study
from experiments.plan.plan import parse_plan
from experiments.runtime.pool import use_pool
from experiments.services.launch import launch_study
from stores.workload.generator import generate
from tests.factories import a_history, a_workspace, plan_data
from tests.runs import work_off
from tests.web.conftest import signed_in
from tests.web.downloads import table_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(study):
    """A client signed in as somebody who may only look."""
    return signed_in(study.workspace, "viewer")


@pytest.fixture
def study():
    """A study of scripted models that forget and misread, with stored and raw evidence."""
    use_pool(None)
    workspace, values = a_workspace(), generate("tiny", seed=7)[:2]
    for value in values:
        a_history(workspace, value)
    data = plan_data(
        "losing",
        histories={"keys": [value.key for value in values]},
        formats=["notes", "rag", "kg_fixed"],
        budgets={"context_tokens": 4096, "top_k": 2},
        models=[
            {"key": "old", "engine": "scripted", "options": {"keep": 0.5}},
            {"key": "new", "engine": "scripted", "options": {"accuracy": 0.8}},
        ],
        tests={"writer_swap": {}, "controlled_evidence": {}},
    )
    made = launch_study(plan=parse_plan(data), workspace=workspace, user=None, preflight=False)
    work_off()
    yield made
    use_pool(None)


def parts_of(study: Study):
    return {part["format"]: part for part in kept_report(study)["loss_decomposition"]}


def listed(client, url: str) -> int:
    """The number of rows that a list of probes shows over all of its pages."""
    page, rows = 1, 0
    while True:
        body = client.get(f"{url}&page={page}").content.decode()
        rows += len(re.findall(r"<tr><th scope=\"row\"", body))
        if "Next ›" not in body:
            return rows
        page += 1


def figure_of(body: str):
    found = re.search(r'<script id="[^"]+" type="application/json">(.*?)</script>', body, re.DOTALL)
    return json.loads(found[1])


def test_a_hatched_bar_has_a_ground_in_its_own_colour(client, study):
    figure = figure_of(client.get(reverse("loss", args=[study.key])).content.decode())
    grounds = [trace["marker"]["pattern"]["bgcolor"] for trace in figure["data"]]
    assert grounds == [trace["marker"]["color"] for trace in figure["data"]]
    assert len(set(grounds)) == len(grounds) == 3


def test_each_bar_and_each_stage_lead_to_exactly_the_probes_that_they_count(client, study):
    body = client.get(reverse("loss", args=[study.key])).content.decode()
    figure = figure_of(body)
    parts = parts_of(study)
    seen = 0
    for trace in figure["data"]:
        for value, url in zip(trace["x"], trace["customdata"], strict=True):
            name, part = re.search(r"format=(\w+)&part=(\w+)", url).groups()
            counts = parts[name]["probes_by_component"][part]
            assert listed(client, url) == counts["lost"] + counts["regained"]
            share = (counts["lost"] - counts["regained"]) / parts[name]["probes_counted"]
            assert value == pytest.approx(100 * share)
            seen += 1
    assert seen >= 6

    assert "Notes loses" in body
    assert "Style rewrite" in body
    left = parts_of(study)["kg_fixed"]["left_out_because"]
    assert ("Knowledge graph is left out" in body) == bool(left)

    for name, part in parts_of(study).items():
        for stage, count in part["probes_by_stage"].items():
            url = f"{reverse('loss-probes', args=[study.key])}?format={name}&part=stage:{stage}"
            assert listed(client, url) == count


def test_a_part_that_there_is_not_is_not_found_and_rewrites_tell_their_shares(client, study):
    url = reverse("loss-probes", args=[study.key])
    for query in ("", "?format=notes", "?format=notes&part=magic", "?format=lc_raw&part=reader"):
        assert client.get(url + query).status_code == 404
    rows = kept_report(study)["style_rewrite"]
    assert {(row["writer"], row["rewriter"]) for row in rows} == {("old", "new"), ("new", "old")}
    for row in rows:
        assert row["reached"]["value"] is not None
        assert row["drops_identifier"]["status"] in ("ok", "undefined")
    forgetful = next(row for row in rows if row["rewriter"] == "old")
    assert forgetful["drops_identifier"]["value"] > 0


def test_the_probes_of_a_part_sort_and_download_over_all_pages(client, study):
    name, part = next((n, p) for n, p in parts_of(study).items() if any(p["probes_by_stage"]))
    counts = part["probes_by_component"]["reader"]
    path = f"{reverse('loss-probes', args=[study.key])}?format={name}&part=reader"
    plain = table_of(client, path, "probes")
    assert len(plain) == counts["lost"] + counts["regained"] > 0
    kinds = [row["kind"] for row in table_of(client, path, "probes", sort="-probes.kind")]
    assert kinds == sorted(kinds, reverse=True)
    assert {row["labels"][:8] for row in plain} == {"scripted"}
    assert table_of(client, path, "probes", sort="probes.beauty") == plain
    body = client.get(f"{path}&sort=-probes.probe").content.decode()
    assert 'aria-sort="descending"' in body
    names = [f"{row['probe_history']} {row['probe_key']}"
             for row in table_of(client, path, "probes", sort="-probes.probe")]  # fmt: skip
    assert names == sorted(names, reverse=True)
