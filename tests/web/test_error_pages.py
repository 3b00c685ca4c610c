import pytest
from django.test import Client

from tests.web.conftest import text_of


@pytest.mark.parametrize(
    "path",
    ["/studies/none/", "/runs/99/", "/histories/99/", "/stores/99/", "/probes/99/", "/nowhere/",
     "/answers/99/prompt/", "/studies/none/answers/", "/studies/none/report.json"],
)  # fmt: skip
def test_what_does_not_exist_is_said_in_plain_words(admin, path):
    response = admin.get(path)
    assert response.status_code == 404
    assert "There is nothing here" in text_of(response)


def test_a_failure_is_said_in_plain_words_without_details(admin, monkeypatch):
    from analysis import study_view

    def fails(study):
        raise RuntimeError("the secret detail")

    monkeypatch.setattr("analysis.selectors.studies", fails)
    assert study_view
    admin.raise_request_exception = False
    response = admin.get("/")
    assert response.status_code == 500
    assert "Something went wrong here" in text_of(response)
    assert "secret detail" not in text_of(response)


@pytest.mark.parametrize("query", ["?page=x", "?page=-3", "?page=9999999999999999999999", "?page="])
def test_a_page_number_that_is_none_shows_a_page(admin, study, query):
    for path in ("/", "/histories/", "/stores/", "/studies/swap/answers/", "/histories/1/"):
        assert admin.get(path + query).status_code in (200, 404)
    assert admin.get("/studies/swap/answers/" + query).status_code == 200


@pytest.mark.parametrize("query", ["?repeat=x", "?format=%00", "?correct=maybe", "?history=%27--"])
def test_a_filter_that_makes_no_sense_shows_an_empty_list(admin, study, query):
    assert admin.get("/studies/swap/answers/" + query).status_code == 200


def test_the_icon_is_there_for_everybody(db):
    assert Client().get("/favicon.ico").status_code == 302
