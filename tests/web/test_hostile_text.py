"""Imported text is data: whatever stands in it, the pages show it and never run it."""

from experiments.models import Answer, Call, Study
from stores.workload.types import Event, History, Probe, Scoring
from tests.factories import a_study
from tests.web.conftest import text_of
from tests.web.pages import all_pages

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"{{ 7|add:7 }}"


def test_hostile_text_is_escaped_on_every_page(admin, workspace):
    events = tuple(Event(f"e{n}", n, f"{HOSTILE} {n}", actor=HOSTILE) for n in range(1, 4))
    probe = Probe("q", "bad", HOSTILE[:50], HOSTILE, HOSTILE, ("e1",), scoring=Scoring("exact"))
    history = History("bad", events, HOSTILE[:200], (probe,))
    study = a_study(workspace, key="bad", values=[history], histories={"keys": ["bad"]})
    Study.objects.filter(pk=study.pk).update(title=HOSTILE)
    Answer.objects.update(text=HOSTILE)
    Call.objects.update(reply_text=HOSTILE, served_model=HOSTILE)
    for path in all_pages(study):
        response = admin.get(path)
        assert response.status_code == 200
        if response["Content-Type"].startswith("text/html"):
            page = text_of(response)
            assert "<script>alert" not in page, path
            assert "<img src=x" not in page, path
            assert "add:7" in page or "alert" not in page, path


def test_pages_carry_no_inline_script_and_a_strict_policy(admin, study):
    for path in all_pages(study):
        response = admin.get(path)
        policy = response["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "script-src" not in policy
        if response["Content-Type"].startswith("text/html"):
            page = text_of(response)
            for tag in page.split("<script")[1:]:
                head = tag.split(">")[0]
                assert " src=" in head or 'type="application/json"' in head, path
            assert " onclick=" not in page
            assert "javascript:" not in page
            assert "//cdn" not in page
            assert "https://" not in page.replace("http://www.w3.org", "")
