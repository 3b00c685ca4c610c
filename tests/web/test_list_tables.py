"""Tables whose rows are in the database: sorted there by the address, downloaded whole."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis import history_tables, selectors
from experiments.models import Call, Evaluation, Run
from experiments.run_costs import costs
from stores.models import History, Store
from stores.workload import types
from tests.factories import a_history, a_study
from tests.web.conftest import text_of
from tests.web.downloads import column, table_of
from tests.web.test_run_page import HTMX

PAGE_LIMIT_BYTES = 300_000


@pytest.fixture
def run(study) -> Run:
    return study.runs.get()


@pytest.fixture
def path(run) -> str:
    return reverse("run", args=[run.pk])


def shown(page: str, table: str) -> list[list[str]]:
    """The words of each row of a table of a page."""
    part = page[page.index(f'aria-labelledby="table-{table}" tabindex') :]
    body = part[part.index("<tbody>") : part.index("</tbody>")]
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return [[re.sub(r"<[^>]+>", " ", cell).strip() for cell in row] for row in cells]


def test_evaluations_sort_by_every_column_and_blank_values_stay_last(viewer, run, path):
    ready = run.evaluations.last()
    Call.objects.filter(attempt__evaluation=ready).update(engine_s=99.5)
    lost = run.evaluations.first()
    for answer in Call.objects.filter(attempt__evaluation=lost):
        answer.answer.delete()
        answer.delete()
    for sign, order in (("", sorted), ("-", lambda found: sorted(found, reverse=True))):
        found = column(viewer, path, "evaluations", "engine_s", sort=f"{sign}evaluations.engine_s")
        assert found[-1] == ""
        numbers = [float(one) for one in found if one]
        assert len(numbers) == 35
        assert numbers == order(numbers)
    readers = column(viewer, path, "evaluations", "reader", sort="-evaluations.reader")
    assert readers == sorted(readers, reverse=True)
    writers = column(viewer, path, "evaluations", "writer", sort="-evaluations.writer")
    known = [one for one in writers if one]
    assert known == sorted(known, reverse=True)
    assert writers[len(known) :] == [""] * (len(writers) - len(known)) != []


def test_the_page_shows_the_same_order_as_the_download(viewer, path):
    sort = "-evaluations.cost_usd"
    page = text_of(viewer.get(f"{path}?sort={sort}"))
    rows = table_of(viewer, path, "evaluations", sort=sort)
    assert [row[0] for row in shown(page, "evaluations")] == [row["history"] for row in rows]
    assert page.count('aria-sort="descending"') == 1
    assert "?sort=evaluations.cost_usd#table-evaluations" in page


def test_a_download_of_a_long_table_holds_every_row_with_all_digits(viewer, run, path):
    first = run.evaluations.first()
    Evaluation.objects.bulk_create(
        Evaluation(run=run, history=first.history, format="lc_raw", reader=f"m{n}", position=n)
        for n in range(1100)
    )
    Call.objects.filter(attempt__evaluation=first).update(cost_usd=0.1, engine_s=1 / 3)
    rows = table_of(viewer, path, "evaluations")
    assert len(rows) == 1100 + 36
    n = Call.objects.filter(attempt__evaluation=first).count()
    row = next(r for r in rows if r["cost_usd"] and float(r["cost_usd"]) > 0.1)
    assert float(row["engine_s"]) == pytest.approx(n / 3, rel=1e-15)
    assert len(row["engine_s"]) > 10
    page = text_of(viewer.get(f"{path}?sort=-evaluations.reader&evaluations=12"))
    assert "Page 12 of 12" in page
    # Another order begins at its first page.
    assert 'href="?sort=evaluations.reader#table-evaluations"' in page


@pytest.mark.parametrize("sort", ["evaluations.beauty", "evaluations.claim", "evaluations.", "x"])
def test_an_order_by_what_is_no_column_changes_nothing(viewer, path, sort):
    plain = table_of(viewer, path, "evaluations")
    assert table_of(viewer, path, "evaluations", sort=sort) == plain


def test_the_live_part_keeps_the_order_that_was_chosen(viewer, workspace):
    run = a_study(workspace, n_histories=3, answered=0.5, state=Run.State.RUNNING).runs.get()
    page = text_of(viewer.get(f"{reverse('run', args=[run.pk])}?sort=-stores.made_by"))
    address = page.split('hx-get="')[1].split('"')[0].replace("&amp;", "&")
    Evaluation.objects.filter(run=run, state="ready").update(state="running")
    news = text_of(viewer.get(address, headers=HTMX))
    assert 'aria-sort="descending"' in news
    makers = [row[2] for row in shown(news, "stores")]
    assert makers == [row[2] for row in shown(page, "stores")]
    known = [maker for maker in makers if maker != "nobody"]
    assert known == sorted(known, reverse=True)
    # What the script adds to its own request is no part of the addresses that people follow.
    assert "seen=" not in news.split("hx-trigger")[1]
    assert "sort=-stores.made_by" in news.split("hx-trigger")[0]


def test_stores_costs_forecast_and_checks_of_a_run_sort_and_download(viewer, run, path):
    run.preflight = [
        {"name": "room", "expected": "1 GiB", "found": "9 GiB", "ok": True, "subject": "",
         "hint": ""},
        {"name": "model", "expected": "old", "found": "other", "ok": False, "subject": "old",
         "hint": "=fetch it"},
    ]  # fmt: skip
    amount = {"value": 1 / 3, "status": "ok", "reason": ""}
    unknown = {"value": None, "status": "undefined", "reason": "a: not measured"}
    total = {"calls": 7, "prompt_tokens": 3, "computed_tokens": 3, "output_tokens": 2,
             "store_bytes": 9, "engine_s": amount, "cost_usd": unknown}  # fmt: skip
    run.forecast = {"total": total, "answers": 5, "basis": []}
    run.save()
    sizes = table_of(viewer, path, "stores", sort="stores.format")
    assert [row["format"] for row in sizes] == sorted(row["format"] for row in sizes)
    assert len(sizes) == run.store_builds.count()
    spent = {(row["role"], row["model"]): row for row in table_of(viewer, path, "costs")}
    for cost in costs(run):
        assert float(spent[cost.role, cost.model]["engine_s"]) == cost.engine_s
    taken = table_of(viewer, path, "forecast", sort="-forecast.forecast")
    assert taken[-1]["what"] == "Cost"
    assert {row["what"]: row["forecast"] for row in taken}["Engine time"] == repr(1 / 3)
    checks = table_of(viewer, path, "preflight", sort="preflight.result")
    assert [row["check"] for row in checks] == ["model", "room"]
    assert checks[0]["found_hint"] == "'=fetch it"
    page = text_of(viewer.get(path))
    for table in re.findall(r"csv=([^\"&]+)", page):
        assert table_of(viewer, path, table)
    assert page.count("<table") == len(re.findall(r"csv=([^\"&]+)", page)) == 5


def test_the_labels_of_a_study_stay_with_its_downloads(viewer, path):
    for table in ("evaluations", "stores", "costs"):
        assert {row["labels"][:8] for row in table_of(viewer, path, table)} == {"scripted"}


def test_histories_sort_and_download_whole(viewer, workspace):
    for n in range(120):
        events = tuple(types.Event(f"e{i}", i, "x") for i in range(1, n % 7 + 2))
        title = "" if n % 2 else f"Title {n:03}"
        a_history(workspace, types.History(f"h{n:03}", events, title), collection="c" * (n % 3))
    rows = table_of(viewer, "/histories/", "histories", sort="-histories.events")
    assert len(rows) == 120
    sizes = [int(row["events"]) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    names = column(viewer, "/histories/", "histories", "collection", sort="histories.collection")
    assert names == sorted(names, key=lambda one: (one == "", one))
    page = text_of(viewer.get("/histories/?sort=-histories.history&page=2"))
    assert "Page 2 of 2" in page
    assert len(shown(page, "histories")) == 20
    narrowed = table_of(viewer, "/histories/?collection=cc", "histories")
    assert {row["collection"] for row in narrowed} == {"cc"}


def test_stores_sort_by_size_and_by_the_evidence_that_they_keep(viewer, study):
    Store.objects.filter(pk=Store.objects.first().pk).update(coverage={}, notices=["a", "b"])
    rows = table_of(viewer, "/stores/", "stores", sort="-stores.size_bytes")
    assert [int(row["size_bytes"]) for row in rows] == sorted(
        Store.objects.values_list("size_bytes", flat=True), reverse=True
    )
    rows = table_of(viewer, "/stores/", "stores", sort="stores.evidence_kept")
    shares = [float(row["evidence_kept"]) for row in rows if row["evidence_kept"]]
    assert shares == sorted(shares)
    assert rows[-1]["evidence_kept"] == rows[-1]["evidence_kept_required"] == ""
    assert rows[0]["evidence_kept"] == repr(
        int(rows[0]["evidence_kept_spans"]) / int(rows[0]["evidence_kept_required"])
    )
    rows = table_of(viewer, "/stores/", "stores", sort="-stores.notices")
    assert (rows[0]["notices"], rows[0]["notices_text"]) == ("2", "a b")


def test_the_heat_map_sorts_by_a_cell_and_by_what_is_right(viewer, study):
    history = History.objects.first()
    path = reverse("history", args=[history.pk])
    rows = table_of(viewer, path, "heat")
    assert [row["probe_key"] for row in rows] == [p.key for p in history.probes.all()]
    names = [name for name in rows[0] if ": " in name]
    assert len(names) == 12
    assert all(int(row["right"]) == sum(int(row[name]) for name in names) for row in rows)
    cell = next(name for name in names if {row[name] for row in rows} == {"0", "1"})
    for sign, order in (("", ["0", "1"]), ("-", ["1", "0"])):
        results = [row[cell] for row in table_of(viewer, path, "heat", sort=f"{sign}heat.{cell}")]
        assert list(dict.fromkeys(results)) == order
    rights = [int(row["right"]) for row in table_of(viewer, path, "heat", sort="-heat.right")]
    assert rights == sorted(rights, reverse=True)
    page = text_of(viewer.get(path + "?sort=-heat.right"))
    assert [int(row[-1].split()[0]) for row in shown(page, "heat")] == rights


def test_a_heat_map_of_many_cells_shows_fewer_probes_at_once(study):
    history = History.objects.first()
    cells = selectors.cells_of(history, study, filters={})
    assert history_tables.heat(history, study, cells[:1], {}).page_size == 100
    assert history_tables.heat(history, study, cells, {}).page_size == 1000 // 12
    assert history_tables.heat(history, study, cells * 20, {}).page_size == 10


def test_the_probes_of_a_history_sort_apart_from_its_heat_map(viewer, study):
    history = History.objects.first()
    path = reverse("history", args=[history.pk])
    rows = table_of(viewer, path, "probes", sort="-probes.kind")
    assert [row["kind"] for row in rows] == sorted((r["kind"] for r in rows), reverse=True)
    assert len(rows) == history.probes.count()
    assert {row["question_key"] for row in rows} == {p.key for p in history.probes.all()}
    plain = shown(text_of(viewer.get(path)), "heat")
    page = text_of(viewer.get(f"{path}?sort=-probes.kind"))
    assert shown(page, "heat") == plain
    assert [row[2] for row in shown(page, "probes")] == [r["kind"].replace("_", "-") for r in rows]


def test_evidence_and_items_of_a_store_sort_and_download(viewer, study):
    store = Store.objects.filter(format="notes", writer="old").first()
    path = reverse("store", args=[store.pk])
    spans = [span for found in store.coverage["by_probe"].values() for span in found]
    rows = table_of(viewer, path, "probes", sort="probes.state")
    assert [row["state"] for row in rows] == sorted(span["state"] for span in spans)
    items = table_of(viewer, path, "items")
    turned = table_of(viewer, path, "items", sort="-items.item")
    assert turned != items
    assert turned == sorted(items, key=lambda row: row["item"].casefold(), reverse=True)


def test_a_download_neutralises_formulas_of_imported_text(viewer, workspace):
    probe = types.Probe("p", "h", "direct", '=HYPERLINK("x")', "@sum", ("e1",))
    history = types.History("h", (types.Event("e1", 1, "+1"),), "-2", (probe,))
    kept = a_history(workspace, history)
    assert table_of(viewer, "/histories/", "histories")[0]["history"] == "'-2"
    (row,) = table_of(viewer, reverse("history", args=[kept.pk]), "probes")
    assert (row["question"], row["answer"]) == ('\'=HYPERLINK("x")', "'@sum")


def test_odd_names_make_harmless_file_names(viewer, workspace):
    kept = a_history(workspace, types.History('a"b\r\nc/ü', (), "Odd"))
    response = viewer.get(reverse("history", args=[kept.pk]) + "?csv=probes")
    assert response.status_code == 200
    assert "\n" not in response["Content-Disposition"]


def test_whoever_is_not_signed_in_downloads_nothing(client, path):
    assert client.get(f"{path}?csv=evaluations").status_code == 302


def queries_and_bytes(client, path: str) -> tuple[int, int]:
    """How many queries a page makes whose study is known already, and how large it is."""
    client.get(path)
    with CaptureQueriesContext(connection) as asked:
        response = client.get(path)
        size = len(response.getvalue())
    return len(asked), size


def test_more_rows_ask_no_more_queries_and_stay_light(viewer, workspace):
    sizes = {}
    for n in (2, 8):
        study = a_study(workspace, key=f"of-{n}", n_histories=n)
        run = reverse("run", args=[study.runs.get().pk])
        answers = f"/studies/{study.key}/answers/"
        history = reverse("history", args=[study.runs.get().evaluations.first().history_id])
        for name, path in {
            "run": run, "turned": f"{run}?sort=-evaluations.cost_usd", "answers": answers,
            "by answer": f"{answers}?sort=answers.answer", "history": history,
            "heat": f"{history}?sort=-heat.right", "stores": "/stores/?sort=stores.writer",
            "histories": "/histories/", "csv": f"{run}?csv=evaluations",
            "answers csv": f"{answers}?csv=answers&sort=-answers.verdict",
        }.items():  # fmt: skip
            sizes.setdefault(name, []).append(queries_and_bytes(viewer, path))
    for name, ((few, _), (many, size)) in sizes.items():
        assert many <= few, (name, few, many)
        assert size < PAGE_LIMIT_BYTES or "csv" in name, (name, size)
