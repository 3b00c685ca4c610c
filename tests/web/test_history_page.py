import re

from django.urls import reverse

from experiments.models import Answer
from stores.models import Event, History
from stores.workload import types
from tests.factories import a_history, a_study, a_workspace
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of


def page_of(client, history, query: str = "") -> str:
    return text_of(client.get(reverse("history", args=[history.pk]) + query))


def a_cell(page: str, css: str) -> int:
    return len(re.findall(rf'<td class="{css}', page))


def test_the_heat_map_has_a_sign_and_a_link_for_every_answer(admin, study):
    history = History.objects.first()
    page = page_of(admin, history)
    answers = Answer.objects.filter(probe__history=history)
    assert a_cell(page, "right") == answers.filter(correct=True).count()
    assert a_cell(page, "wrong") == answers.filter(correct=False).count()
    assert page.count('<span aria-label="right">✓</span>') == a_cell(page, "right")
    assert len(re.findall(r'href="/probes/\d+/\?study=swap#cell-\d+"', page)) == answers.count()


def test_each_row_counts_what_is_right(admin, study):
    history = History.objects.first()
    words = words_of(page_of(admin, history))
    for probe in history.probes.all():
        right = Answer.objects.filter(probe=probe, correct=True).count()
        assert f"{right} of 12" in words


def test_events_come_in_time_order_with_their_keys(admin, study):
    history = History.objects.first()
    page = page_of(admin, history)
    keys = re.findall(r'id="event-(\w+)"', page)
    assert keys == [event.key for event in history.events.all()]


def test_a_history_that_no_study_has_read_says_so(admin, workspace):
    probe = types.Probe("p", "alone", "direct", "Who?", "Ada", ("e1",))
    value = types.History("alone", (types.Event("e1", 1, "Ada left."),), "Alone", (probe,))
    assert "No study has read this history yet" in page_of(admin, a_history(workspace, value))


def test_a_long_history_comes_in_pages(admin, workspace):
    events = tuple(types.Event(f"e{n:03}", n, f"Event number {n}.") for n in range(1, 251))
    history = a_history(workspace, types.History("long", events, "Long"))
    first, last = page_of(admin, history), page_of(admin, history, "?events=3")
    assert "Page 1 of 3" in first
    assert first.count('<li class="event"') == 100
    assert last.count('<li class="event"') == 50
    assert "Event number 250." in last
    assert "Page 3 of 3" in page_of(admin, history, "?events=99999")


def test_the_list_can_be_narrowed_to_a_collection(admin, study):
    other = a_history(a_workspace(), types.History("x1", (), "Other"), collection="x")
    words = words_of(text_of(admin.get("/histories/?collection=x")))
    assert other.title in words
    assert "Synthetic history" not in words


def test_an_event_without_time_or_actor_reads_well(admin, workspace):
    history = a_history(workspace, types.History("h", (types.Event("e1", 1, "Ada left."),)))
    words = words_of(page_of(admin, history))
    assert "no time" in words
    assert Event.objects.get().text in words


def test_cells_that_were_read_twice_are_shown_on_demand(admin, workspace):
    plan = {"tests": {"writer_swap": {"noise_repeats": 12}}}
    study = a_study(workspace, n_histories=1, histories={"keys": ["tiny-s7-01"]}, **plan)
    history = History.objects.get()
    without, with_repeats = page_of(admin, history), page_of(admin, history, "?repeats=1")
    assert study.runs.get().evaluations.count() == 24
    assert "repeat 1" not in without
    assert with_repeats.count("repeat 1") == 12


def test_a_link_to_an_event_opens_the_page_that_holds_it(admin, workspace):
    events = tuple(types.Event(f"e{n:03}", n, f"Event number {n}.") for n in range(1, 251))
    history = a_history(workspace, types.History("long", events, "Long"))
    for key, number in (("e001", 1), ("e100", 1), ("e101", 2), ("e250", 3)):
        page = page_of(admin, history, f"?event={key}")
        assert f'id="event-{key}"' in page
        assert f"Page {number} of 3" in page
