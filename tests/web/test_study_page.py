import json
import re

import pytest
from django.test import Client

from analysis.results import kept_report
from experiments.models import Deviation, Run
from stores.models import Blob, Store
from stores.workload.types import Event, History, Probe, Scoring
from tests.answered import answered_study
from tests.factories import a_study
from tests.web.conftest import text_of


def page_of(client: Client, study) -> str:
    return text_of(client.get(f"/studies/{study.key}/"))


def words_of(page: str) -> str:
    """The text of a page, without tags and with single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&#x27;", "'")


def test_each_direction_and_format_has_its_verdict_beside_the_service_change(admin, study):
    words = words_of(page_of(admin, study))
    report = kept_report(study)
    assert len(report["directions"]) == 2
    for direction in report["directions"]:
        assert f"{direction['old']} → {direction['new']}" in words
        for entry in direction["formats"]:
            assert entry["verdict"]["sentence"] in words
    assert words.count("Service change") >= 8


def test_the_numbers_are_those_of_the_report(admin, study):
    words = words_of(page_of(admin, study))
    for direction in kept_report(study)["directions"]:
        for entry in direction["formats"]:
            assert f"{100 * entry['own']['value']:.1f} %" in words
            if entry["written"]:
                delta = f"{entry['swap_delta_pp']['value']:+.1f} pp".replace("-", "−")
                assert delta.replace("+0.0", "0.0") in words


def test_undefined_is_said_with_its_reason_and_never_as_a_number(admin):
    def nothing_of_its_own(history, form, writer, reader, probe, repeat):
        return writer != reader

    study = answered_study(right=nothing_of_its_own)
    words = words_of(page_of(admin, study))
    assert "undefined: no history has a value: own-store score below 0.20 above chance" in words
    assert "nan" not in words.lower()
    assert "None" not in words


def test_an_undecided_study_says_so_and_says_what_would_decide(admin):
    def better_in_every_second_history(history, form, writer, reader, probe, repeat):
        return probe < (5 if writer == reader else 8 if int(history[1:]) % 2 else 2)

    study = answered_study(right=better_in_every_second_history)
    report = kept_report(study)
    written = [e for d in report["directions"] for e in d["formats"] if e["written"]]
    assert {e["verdict"]["outcome"] for e in written} == {"undecided"}
    words = words_of(page_of(admin, study))
    assert "This study decides nothing yet" in words
    assert "would decide at this spread" in words


def test_a_scripted_study_is_stamped_everywhere_its_numbers_are(admin, study):
    for path in ("/", f"/studies/{study.key}/"):
        assert "Scripted</span>" in text_of(admin.get(path))


def test_what_was_not_measured_is_said(admin, study):
    words = words_of(page_of(admin, study))
    assert "– not measured no cell was read twice" in words
    assert words.count("– not measured") >= 5


def test_costs_are_shown_by_role_and_model(admin, study):
    words = words_of(page_of(admin, study))
    assert re.search(r"reader new \d+", words)
    assert "of engine time for the run" in words


def test_a_number_leads_to_the_answers_behind_it(admin, study):
    page = page_of(admin, study)
    link = re.search(r'href="(/studies/swap/answers/\?format=notes[^"]*writer=old)"', page)
    assert link
    answers = text_of(admin.get(link.group(1).replace("&amp;", "&")))
    assert "new reads what old wrote" in words_of(answers)
    assert "reads its own" not in words_of(answers)


def test_a_format_that_does_not_apply_is_named_with_its_reason(admin, workspace):
    events = (Event("a", 1, "Ada moved to Bern."), Event("b", 2, "It rained."))
    probe = Probe("q", "chat-1", "direct", "Where does Ada live?", "Bern", ("a",),
                  scoring=Scoring("exact"))  # fmt: skip
    chat = History("chat-1", events, "A chat", (probe,))
    study = a_study(workspace, key="chat", values=[chat], histories={"keys": ["chat-1"]})
    words = words_of(page_of(admin, study))
    assert "kg_fixed needs structured fields" in words


def test_a_study_without_answers_says_where_to_look(admin, workspace):
    study = a_study(workspace, n_histories=3, answered=0, state=Run.State.QUEUED)
    words = words_of(page_of(admin, study))
    assert "No answers yet" in words
    assert "watch the run" in words


def test_a_study_with_half_of_its_cells_says_that_no_direction_has_a_verdict(admin, workspace):
    study = a_study(workspace, n_histories=3, answered=0.5, state=Run.State.RUNNING)
    words = words_of(page_of(admin, study))
    assert words.count("No verdict: the study is not finished: 18 of 36 evaluations complete") == 4


def test_a_study_that_is_still_running_shows_numbers_but_no_verdict(admin, workspace):
    study = a_study(workspace, n_histories=3, answered=0.9, state=Run.State.RUNNING)
    words = words_of(page_of(admin, study))
    assert "No verdict: the study is not finished" in words


def test_a_store_that_was_changed_is_said_where_its_numbers_are(admin, study):
    store = Store.objects.filter(format="notes").first()
    Blob.objects.filter(pk=store.content_id).update(data=b"something else")
    assert "A store was changed after it was made" in page_of(admin, study)


def test_deviations_from_the_plan_are_listed(admin, study):
    Deviation.objects.create(study=study, what="The margin was argued about", why="Curiosity")
    words = words_of(page_of(admin, study))
    assert "The margin was argued about" in words
    assert "Curiosity" in words


def test_the_report_and_the_answers_can_be_downloaded(admin, study):
    report = admin.get(f"/studies/{study.key}/report.json")
    assert json.loads(report.content)["study"]["key"] == study.key
    table = admin.get(f"/studies/{study.key}/answers.csv")
    assert table["Content-Disposition"] == 'attachment; filename="swap-scripted-answers.csv"'
    assert len(text_of(table).splitlines()) == 1 + 3 * 12 * 5


def test_the_plan_is_shown_with_its_hash(admin, study):
    page = text_of(admin.get(f"/studies/{study.key}/plan/"))
    assert study.plan_sha256 in page
    assert "writer_swap" in page


@pytest.mark.parametrize("path", ["/", "/histories/", "/stores/"])
def test_an_empty_list_names_the_command_to_type_next(admin, path):
    assert "<pre>m" in text_of(admin.get(path))


def test_the_list_shows_state_and_headline_of_every_study(admin, study):
    words = words_of(text_of(admin.get("/")))
    assert study.title in words
    assert "✓ complete" in words
    for direction in kept_report(study)["directions"]:
        for entry in direction["formats"]:
            if entry["written"]:
                assert entry["verdict"]["heading"] in words
