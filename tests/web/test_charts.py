import json

import plotly.graph_objects as go
import pytest

from analysis import charts
from analysis.labels import FORMAT_NAMES
from analysis.results import kept_report
from tests.answered import answered_study


def no_url(direction, entry):
    return f"/studies/x/answers/?format={entry['format']}&writer={direction['old']}"


@pytest.fixture
def report(db):
    """The report of six histories with seeded answers."""
    return kept_report(answered_study())


def entry_of(report, old, name):
    direction = next(d for d in report["directions"] if d["old"] == old)
    return next(e for e in direction["formats"] if e["format"] == name)


@pytest.mark.parametrize("draw", [charts.swap_delta, charts.service_change])
def test_a_figure_is_one_that_plotly_takes(report, draw):
    figure = draw(report, FORMAT_NAMES, url_of=no_url)
    go.Figure(figure)
    json.dumps(figure, allow_nan=False)


def test_markers_and_intervals_are_the_numbers_of_the_report(report):
    figure = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)
    assert [trace["name"] for trace in figure["data"]] == ["alpha → beta", "beta → alpha"]
    for trace, old in zip(figure["data"], ("alpha", "beta"), strict=True):
        entries = [entry_of(report, old, name) for name in ("kg_fixed", "notes")]
        assert trace["x"] == [entry["swap_delta_pp"]["value"] for entry in entries]
        for at, entry in enumerate(entries):
            low = trace["x"][at] - trace["error_x"]["arrayminus"][at]
            assert low == pytest.approx(entry["verdict"]["interval"]["low"])


def test_directions_differ_by_marker_and_not_by_colour_alone(report):
    traces = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)["data"]
    assert len({trace["marker"]["symbol"] for trace in traces}) == len(traces)
    assert len({trace["marker"]["color"] for trace in traces}) == len(traces)


def test_the_band_is_the_margin_of_the_plan(report):
    shapes = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)["layout"]["shapes"]
    band = next(shape for shape in shapes if shape["name"] == "band")
    assert (band["x0"], band["x1"]) == (-5.0, 5.0)


def test_formats_that_nobody_writes_have_no_swap_delta_but_a_service_change(report):
    swap = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)
    service = charts.service_change(report, FORMAT_NAMES, url_of=no_url)
    assert "Raw transcript" not in swap["layout"]["yaxis"]["ticktext"]
    assert "Raw transcript" in service["layout"]["yaxis"]["ticktext"]


def test_an_undefined_estimate_is_written_and_not_drawn_at_zero(report):
    for direction in report["directions"]:
        for entry in direction["formats"]:
            entry["service_change_pp"] = {
                **entry["service_change_pp"], "value": None, "status": "undefined"
            }  # fmt: skip
    figure = charts.service_change(report, FORMAT_NAMES, url_of=no_url)
    assert [trace["x"] for trace in figure["data"]] == [[], []]
    assert {note["text"] for note in figure["layout"]["annotations"]} == {"undefined"}


def test_the_title_says_what_was_found(report):
    title = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)["layout"]["title"]["text"]
    title = title.replace("<br>", " ")
    for direction in report["directions"]:
        for entry in direction["formats"]:
            if entry["written"]:
                assert entry["verdict"]["heading"].lower() in title


def test_a_marker_leads_to_the_answers_behind_it(report):
    figure = charts.swap_delta(report, FORMAT_NAMES, url_of=no_url)
    assert figure["data"][0]["customdata"][1] == "/studies/x/answers/?format=notes&writer=alpha"
