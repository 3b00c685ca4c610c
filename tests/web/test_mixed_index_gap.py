"""The mixed-index gap on the study's page, and the way down to every rank."""

import re

import pytest

from analysis.results import kept_report
from experiments.models import Evaluation
from experiments.runtime.pool import use_pool
from tests.integration.test_embedding_upgrade import INDEXES, UpgradePool, launched
from tests.runs import work_off
from tests.web.conftest import text_of
from tests.web.test_study_page import page_of, words_of
from tests.web.test_study_parts import table_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def make():
    def upgraded(**settings):
        use_pool(UpgradePool())
        try:
            run = launched(**{"n_histories": 3, "indexes": INDEXES, **settings})
            work_off()
        finally:
            use_pool(None)
        return run.study

    return upgraded


def gap_of(client, study, query=""):
    return text_of(client.get(f"/studies/{study.key}/indexes/{query}"))


def test_a_retrieval_only_study_says_that_answers_were_not_asked(make, admin):
    study = make(retrieval_only=True, dial=[0, 25, 100])
    page = page_of(admin, study)
    words = words_of(page)
    assert "answers were not asked" in words
    assert "rankings of which answers were not asked" in words
    assert "Unscored answers none" in words
    assert "Mixed against full, recall@8" in words
    assert "never scored" not in words
    assert "Accuracy" not in words
    words = words_of(gap_of(admin, study))
    assert "Accuracy" not in words
    assert "The dial" in words
    assert "mean cosine between the two vectors" in words


def test_what_can_be_deployed_and_the_oracle_stand_apart(make, admin):
    words = words_of(page_of(admin, make(retrieval_only=True)))
    deployable = words.index("What a service can deploy")
    oracle = words.index("Oracle: an upper bound")
    rows = ("dual_query each part", "version_filter only the migrated")
    assert all(deployable < words.index(row) < oracle for row in rows)
    assert words.index("router oracle") > oracle


def test_with_readers_the_accuracy_the_gain_and_each_reader_are_shown(make, admin):
    study = make()
    words = words_of(page_of(admin, study))
    assert "Mixed against full, accuracy" in words
    assert "H2" in words
    words = words_of(gap_of(admin, study))
    assert "Accuracy: gain over old, pp" in words
    assert "Accuracy: gain forfeited" in words
    alone = table_of(admin, study, "indexes/?reader=old", "indexes-rag")
    (part,) = kept_report(study)["embedding_upgrade"]
    deployable = [index for index in part["by_reader"]["old"] if index["deployable"]]
    for row, index in zip(alone, deployable, strict=True):
        assert row["index"] == index["index"]
        assert float(row["accuracy"]) == index["accuracy"]["value"]
    assert "Read by old alone" in words_of(gap_of(admin, study, "?reader=old"))


def test_the_gap_downloads_with_all_digits_and_sorts(make, admin):
    study = make()
    (part,) = kept_report(study)["embedding_upgrade"]
    mixed = next(row for row in part["indexes"] if row["index"] == "mixed")
    rows = {row["index"]: row for row in table_of(admin, study, "indexes/", "indexes-rag")}
    assert float(rows["mixed"]["accuracy_behind"]) == mixed["behind_full"]["accuracy_pp"]["value"]
    assert float(rows["mixed"]["mrr"]) == mixed["mrr"]["value"]
    assert rows["mixed"]["accuracy_n_histories"] == "3"
    assert rows["old"]["accuracy_gain"] == ""
    down = table_of(admin, study, "indexes/?sort=-indexes-rag.mrr", "indexes-rag")
    values = [float(row["mrr"]) for row in down]
    assert values == sorted(values, reverse=True)
    histories = table_of(admin, study, "indexes/", "histories-rag")
    assert [row["history"] for row in histories] == [
        one["history"] for one in mixed["mrr"]["per_history"]
    ]
    assert [row["index"] for row in table_of(admin, study, "indexes/", "oracle-rag")] == ["router"]


def test_every_index_leads_to_its_answers_its_histories_and_its_probes(make, admin):
    study = make(retrieval_only=True)
    page = gap_of(admin, study).replace("&amp;", "&")
    (address,) = set(re.findall(r'href="(/studies/[^"]*index=mixed)"', page))
    answers = text_of(admin.get(address))
    words = words_of(answers)
    assert "first evidence at rank" in words
    assert "Mean recall@8" in words
    assert "not asked" in words
    history = re.search(r'href="(/histories/\d+/\?study=[^"]*index=mixed)"', page)
    heat = text_of(admin.get(history[1]))
    assert 'class="num chosen"' in heat
    cell = Evaluation.objects.filter(index="mixed").first()
    probe = cell.history.probes.first()
    shown = words_of(text_of(admin.get(f"/probes/{probe.pk}/?study={study.key}")))
    for index in INDEXES:
        assert f"ranked, nobody reads (index {index})" in shown
    assert "not asked: the evidence was ranked alone" in shown
    assert "never scored" not in shown
    assert "Exact prompt" not in shown


def test_the_plain_cells_of_rag_are_not_mixed_with_the_indexes(make, admin):
    study = make()
    plain = text_of(admin.get(f"/studies/{study.key}/answers/?index=none"))
    assert "No answer matches these filters" in plain
    one = words_of(text_of(admin.get(f"/studies/{study.key}/answers/?index=old&reader=new")))
    assert "new reads (index old)" in one


def test_the_list_of_studies_says_what_was_found(make, admin):
    make(retrieval_only=True)
    words = words_of(text_of(admin.get("/")))
    assert "before against after" in words
    assert "Mixed against full, recall@8" in words


FORM = {
    "key": "up", "title": "Up", "histories": "preset:small", "seed": "3", "formats": ["rag"],
    "old": "", "new": "", "embedder": "paraphrase-minilm-l3-v2",
    "new_embedder": "all-minilm-l6-v2", "retrieval_only": "1",
    "noise_repeats": "0", "context_tokens": "2048", "margin_pp": "5",
}  # fmt: skip


def test_the_form_offers_an_embedding_upgrade_with_and_without_answers():
    from analysis.launching import plan_data
    from experiments.plan.embedding_upgrade import planned_indexes
    from experiments.plan.plan import parse_plan

    alone = parse_plan(plan_data(FORM))
    assert alone.models == ()
    assert alone.tests.writer_swap is None
    assert alone.tests.embedding_upgrade.retrieval_only
    assert [e.key for e in alone.embedders] == ["paraphrase-minilm-l3-v2", "all-minilm-l6-v2"]
    assert alone.tests.embedding_upgrade.dial == ()
    dialled = parse_plan(plan_data({**FORM, "dial": "1"}))
    assert planned_indexes(dialled.tests.embedding_upgrade) == (
        "old", "full", "mixed", "router", "dual_query", "version_filter",
        "mixed_0", "mixed_10", "mixed_25", "mixed_75", "mixed_90",
    )  # fmt: skip
    models = {"old": "smollm2-135m-instruct-q4_1", "new": "qwen2.5-coder-0.5b-instruct-q4"}
    both = parse_plan(plan_data({**FORM, **models, "retrieval_only": ""}))
    assert both.tests.writer_swap is not None
    assert not both.tests.embedding_upgrade.retrieval_only
    swap = parse_plan(plan_data({**FORM, **models, "retrieval_only": "", "new_embedder": ""}))
    assert swap.tests.embedding_upgrade is None


def test_a_retrieval_without_a_second_embedder_is_refused_beside_its_field(admin):
    response = admin.post("/studies/new/form/", {**FORM, "new_embedder": ""})
    assert response.status_code == 422
    words = words_of(text_of(response))
    assert "Nothing was launched" in words
    assert "all-MiniLM-L6-v2 paraphrase-MiniLM-L3-v2 '' cannot be a key" in words
