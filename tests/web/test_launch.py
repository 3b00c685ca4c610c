import html

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile

from experiments.models import Study
from stores.models import History
from tests.factories import plan_data
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of

FORM = {
    "key": "form-study", "title": "From the form", "histories": "preset:tiny", "seed": "3",
    "formats": ["lc_raw", "notes"], "old": "smollm2-135m-instruct-q4_1",
    "new": "qwen2.5-coder-0.5b-instruct-q4", "embedder": "all-minilm-l6-v2",
    "noise_repeats": "0", "context_tokens": "2048", "margin_pp": "5",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_models_here(settings, tmp_path):
    """The models of the catalogue are not fetched: nothing real is ever loaded."""
    settings.MODELS_DIR = tmp_path


def plan_text(**changes) -> str:
    return yaml.safe_dump(plan_data("launched", **changes))


def nothing_is_left_behind() -> bool:
    return not Study.objects.exists() and not History.objects.exists()


def test_a_pasted_plan_is_launched_and_locked(admin):
    response = admin.post("/studies/new/file/", {"plan": plan_text()}, follow=True)
    assert "its plan is locked" in words_of(text_of(response))
    study = Study.objects.get()
    assert study.locked_at is not None
    assert response.redirect_chain[-1][0] == f"/runs/{study.runs.get().pk}/"
    assert study.created_by.get_username() == "admin-default"


def test_an_uploaded_plan_is_launched(admin):
    file = SimpleUploadedFile("study.yaml", plan_text().encode())
    assert admin.post("/studies/new/file/", {"file": file}).status_code == 302
    assert Study.objects.get().key == "launched"


def test_a_typing_error_is_named_with_its_line_and_the_nearest_key(admin):
    text = plan_text().replace("formats:", "formts:")
    response = admin.post("/studies/new/file/", {"plan": text})
    words = words_of(text_of(response))
    assert response.status_code == 422
    assert "formts" in words
    assert "formats" in words
    assert "line" in words
    assert nothing_is_left_behind()


@pytest.mark.parametrize(
    "data",
    [b"", b"   ", b"\xff\xfe\x00", b"- just\n- a list", b"key: [", b"a: 1\na: 2", b"x" * 2_000_000],
    ids=["empty", "blank", "no text", "a list", "half a line", "a key twice", "too large"],
)
def test_what_is_no_plan_is_refused_in_words_and_leaves_nothing(admin, data):
    file = SimpleUploadedFile("study.yaml", data)
    response = admin.post("/studies/new/file/", {"file": file})
    assert response.status_code == 422
    assert "Nothing was launched, and nothing was kept." in text_of(response)
    assert nothing_is_left_behind()


def test_what_was_pasted_is_still_there_after_an_error(admin):
    response = admin.post("/studies/new/file/", {"plan": "key: <script>alert(1)</script>"})
    assert "&lt;script&gt;alert(1)" in text_of(response)
    assert "<script>alert(1)" not in text_of(response)


def test_a_wrong_field_of_the_form_has_its_error_beside_it(admin):
    response = admin.post("/studies/new/form/", {**FORM, "key": "not a key!", "margin_pp": "-1"})
    page = text_of(response)
    assert response.status_code == 422
    assert 'id="error_key"' in page
    assert 'id="error_margin_pp"' in page
    assert 'id="error_title"' not in page
    assert 'value="From the form"' in page
    assert nothing_is_left_behind()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"margin_pp": "five"}, "“five” is not a number."),
        ({"new": FORM["old"]}, "given twice"),
        ({"formats": []}, "nothing is named; expected at least 1"),
        ({"title": ""}, "field-error"),
        ({"histories": "collection:nowhere"}, "nowhere"),
        ({"old": "no-such-model"}, "no-such-model"),
    ],
)
def test_each_mistake_in_the_form_is_said_and_leaves_nothing(admin, change, said):
    response = admin.post("/studies/new/form/", {**FORM, **change})
    assert response.status_code == 422
    assert said in text_of(response)
    assert nothing_is_left_behind()


def test_the_form_offers_the_models_of_the_catalogue(admin):
    words = words_of(text_of(admin.get("/studies/new/")))
    assert "SmolLM2-135M-Instruct" in words
    assert "all-MiniLM-L6-v2" in words


def test_a_key_that_is_taken_by_another_plan_is_refused(admin):
    admin.post("/studies/new/file/", {"plan": plan_text()})
    response = admin.post("/studies/new/file/", {"plan": plan_text(title="Another question")})
    assert response.status_code == 422
    assert "locked to another plan" in words_of(text_of(response))
    assert Study.objects.count() == 1


def test_before_a_person_confirms_every_check_and_the_forecast_are_shown_and_nothing_is_kept(admin):
    response = admin.post("/studies/new/file/", {"plan": plan_text(), "step": "check"})
    page, words = text_of(response), words_of(text_of(response))
    assert response.status_code == 200
    for said in ("Preflight", "free disk", "tokenizer", "longest history", "embedder"):
        assert said in words
    for said in ("What it will take", "In all", "GPU-hours", "Disk", "Lock and launch"):
        assert said in words
    assert nothing_is_left_behind()
    plan = html.unescape(page.split('<textarea name="plan" hidden>')[1].split("</textarea>")[0])
    admin.post("/studies/new/file/", {"plan": plan, "step": "launch", "source": "plan.json"})
    assert Study.objects.get().key == "launched"


def test_the_form_shows_checks_first_too_and_a_refusal_cannot_be_confirmed(admin):
    too_small = {**FORM, "context_tokens": "704", "step": "check"}
    response = admin.post("/studies/new/form/", too_small)
    words = words_of(text_of(response))
    assert response.status_code == 422
    assert "It would be refused at preflight" in words
    assert "✗ failed" in words
    assert "Lock and launch" not in words
    assert nothing_is_left_behind()


def test_a_hostile_title_stays_text_between_check_and_launch(admin):
    title = 'Ünï <script>alert("1")</script> </textarea> 😀 \\ "'
    response = admin.post("/studies/new/file/", {"plan": plan_text(title=title), "step": "check"})
    page = text_of(response)
    assert "<script>alert" not in page
    plan = html.unescape(page.split('<textarea name="plan" hidden>')[1].split("</textarea>")[0])
    admin.post("/studies/new/file/", {"plan": plan, "source": "plan.json"})
    assert Study.objects.get().title == title


def test_the_run_page_sets_the_forecast_beside_the_run(admin):
    admin.post("/studies/new/file/", {"plan": plan_text()})
    words = words_of(text_of(admin.get(f"/runs/{Study.objects.get().runs.get().pk}/")))
    assert "Forecast and actual" in words
    assert "Prompt tokens computed" in words
    assert "Actual, so far" in words
