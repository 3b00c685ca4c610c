from django.urls import reverse

from stores.models import Blob, Store
from tests.web.conftest import text_of
from tests.web.test_study_page import words_of


def page_of(client, store) -> str:
    return text_of(client.get(reverse("store", args=[store.pk])))


def test_every_format_shows_its_items_and_where_they_come_from(admin, study):
    for name in ("lc_raw", "rag", "notes", "kg_fixed"):
        store = Store.objects.filter(format=name).first()
        words = words_of(page_of(admin, store))
        assert "✓ content matches its checksum" in words
        assert "This store holds nothing" not in words
        assert store.checksum in words
        assert store.history.title in words


def test_each_evidence_span_is_kept_changed_or_missing(admin, study):
    store = Store.objects.filter(format="notes", writer="old").first()
    words = words_of(page_of(admin, store))
    coverage = store.coverage
    assert f"{coverage['spans_kept']} of {coverage['spans_required']}" in words
    states = [span["state"] for spans in coverage["by_probe"].values() for span in spans]
    assert words.count("✓ kept") == states.count("kept")
    assert words.count("✗ missing") == states.count("missing") > 0


def test_content_that_no_longer_matches_is_said_loudly(admin, study):
    store = Store.objects.filter(format="notes").first()
    Blob.objects.filter(pk=store.content_id).update(data=b'{"format":"notes","notes":[]}')
    words = words_of(page_of(admin, store))
    assert "✗ content does not match its checksum" in words
    assert "This store was changed after it was made" in words


def test_content_that_cannot_be_read_is_said_and_the_page_still_opens(admin, study):
    store = Store.objects.filter(format="kg_fixed").first()
    Blob.objects.filter(pk=store.content_id).update(data=b"\xff\xfe")
    assert "The content cannot be read" in page_of(admin, store)


def test_a_format_of_another_version_is_named(admin, study):
    store = Store.objects.filter(format="notes").first()
    Store.objects.filter(pk=store.pk).update(format="dreams")
    assert "knows no format “dreams”" in page_of(admin, store)


def test_notices_of_the_writer_are_shown(admin, study):
    store = Store.objects.first()
    Store.objects.filter(pk=store.pk).update(notices=["The output hit its limit in window 2."])
    assert "The output hit its limit in window 2." in page_of(admin, store)


def test_the_list_can_be_narrowed_by_format_and_history(admin, study):
    page = text_of(admin.get("/stores/?format=rag&history=tiny-s7-01"))
    assert page.count('<th scope="row"><a href="/stores/') == 1
