"""Histories in the database: whole or not at all, and never changed."""

from dataclasses import replace

import pytest

from memport_site.accounts.models import AuditEntry
from memport_site.accounts.services import default_workspace
from stores import models
from stores.errors import InvalidInputError
from stores.selectors import history_rows, history_value
from stores.services import import_histories, keep_generated
from stores.workload.generator import generate
from stores.workload.types import Event, History, Probe, Scoring

pytestmark = pytest.mark.django_db


def keep(histories, **options):
    options.setdefault("collection", "c")
    return import_histories(histories=histories, workspace=default_workspace(), **options)


def kept_rows() -> tuple[int, int, int]:
    return tuple(m.objects.count() for m in (models.History, models.Event, models.Probe))


def test_what_is_kept_reads_back_as_the_same_value():
    free = Probe(
        "p1",
        "h1",
        "open",
        "Why?",
        "because",
        ("e1",),
        "task",
        Scoring("token_f1", 0.5),
        True,
        ("t",),
    )
    event = Event("e1", 1, "Because.", "2026-01-05T09:00Z", "clerk", {"op": "note", "n": [1, None]})
    value = History("h1", (event,), "A title", (free,))

    report = keep([value, *generate("tiny", seed=7)])

    assert (len(report.created), report.unchanged) == (7, ())
    assert history_value(models.History.objects.get(key="h1")) == value
    for made in generate("tiny", seed=7):
        row = models.History.objects.get(key=made.key)
        assert history_value(row) == made
        assert row.checksum == made.checksum()
    assert AuditEntry.objects.get(action="histories.import").detail["histories"] == 7


def test_the_same_content_again_changes_nothing():
    made = generate("tiny", seed=7)
    keep(made)
    before = kept_rows()

    report = keep(made)

    assert report.created == ()
    assert report.unchanged == tuple(h.key for h in made)
    assert kept_rows() == before


def changed(history: History, part: str) -> History:
    if part == "events":
        events = (replace(history.events[0], text="Another text."), *history.events[1:])
        return replace(history, events=events)
    if part == "title":
        return replace(history, title="Another title")
    return replace(history, probes=history.probes[:-1])


@pytest.mark.parametrize("part", ["events", "title", "probes"])
def test_other_content_under_a_kept_key_is_refused_and_nothing_is_kept(part):
    first, second, third = generate("tiny", seed=7)[:3]
    keep([third])
    before = kept_rows()

    with pytest.raises(InvalidInputError, match="'tiny-s7-03' is kept already, with other"):
        keep([first, second, changed(third, part)])

    assert kept_rows() == before
    assert history_value(models.History.objects.get(key=third.key)) == third


def test_a_calibration_history_cannot_become_a_reported_one():
    made = generate("tiny", seed=7, split="calibration")
    keep(made, split="calibration")

    with pytest.raises(InvalidInputError, match="is kept as one of the calibration split"):
        keep(made, split="study")
    with pytest.raises(InvalidInputError, match="is kept in collection 'c', not 'd'"):
        keep(made, split="calibration", collection="d")


def test_a_failure_on_the_way_leaves_nothing_behind():
    first, second = generate("tiny", seed=7)[:2]
    twice = replace(second, events=(second.events[0], second.events[0]))

    with pytest.raises(Exception, match=r"UNIQUE|unique"):
        keep([first, twice])

    assert kept_rows() == (0, 0, 0)


def test_a_quarantined_probe_is_left_out_unless_asked_for():
    made = generate("tiny", seed=7)[0]
    keep([made])
    models.Probe.objects.filter(key="alias-01").update(quarantined_because="wrong gold answer")
    row = models.History.objects.get(key=made.key)

    assert len(history_value(row).probes) == 4
    assert history_value(row, with_quarantined=True) == made
    assert keep([made]).unchanged == (made.key,)


def test_generated_histories_know_preset_seed_and_split():
    made = {split: generate("tiny", seed=3, split=split) for split in ("study", "calibration")}
    report = keep_generated(generated=made, preset="tiny", seed=3, workspace=default_workspace())

    assert (len(report.created), report.events, report.probes) == (9, 99, 45)
    row = models.History.objects.get(key="tiny-s3-cal-02")
    assert (row.split, row.collection, row.source) == ("calibration", "tiny-s3", "synthetic")
    assert row.source_detail["seed"] == 3
    rows = history_rows(workspace=default_workspace())
    assert [(r["events"], r["probes"]) for r in rows] == [(11, 5)] * 9
