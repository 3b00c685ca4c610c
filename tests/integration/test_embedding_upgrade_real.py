"""Two real embedders of one size under an index: what mixing does, in seconds, without an LLM."""

import json

import pytest

from experiments.models import Answer, Evaluation
from experiments.runtime.pool import use_pool
from memport_site.accounts.services import default_workspace
from stores.services import import_histories
from stores.workload.generator import generate
from tests.commands import memport

PLAN = """\
key: real-upgrade
title: Two real embedders
histories: {collection: all, max_probes: 10}
formats: [rag]
models: [{key: reader, engine: scripted, price: {}}]
embedders:
  - {key: l3, engine: onnx, catalogue: paraphrase-minilm-l3-v2, options: {threads: 1}, price: {}}
  - {key: l6, engine: onnx, catalogue: all-minilm-l6-v2, options: {threads: 1}, price: {}}
tests: {embedding_upgrade: {old: l3, new: l6}}
"""


@pytest.fixture
def run(sqlite_file, capsys):
    use_pool(None)
    yield lambda *arguments: memport(capsys, "study", *arguments)
    use_pool(None)


def test_retrieval_alone_finds_that_a_half_migrated_index_is_measurably_below_a_full_one(
    run, tmp_path
):
    import_histories(
        histories=generate("small", seed=7), workspace=default_workspace(), collection="all"
    )
    path = tmp_path / "study.yaml"
    path.write_text(PLAN)
    ended = run("run", path, "--retrieval-only")
    assert (ended.code, ended.out) == (0, "real-upgrade-retrieval: complete.\n")
    assert Answer.objects.count() == 8 * 4 * 10
    assert not Evaluation.objects.exclude(reader="").exists()

    report = json.loads(run("report", "real-upgrade-retrieval", "--json").out)
    (part,) = report["embedding_upgrade"]
    rows = {row["index"]: row for row in part["indexes"]}
    assert rows["mixed"]["behind_full"]["recall_at_8"]["high"] < 0
    assert rows["mixed"]["behind_full"]["mrr"]["high"] < 0
    assert rows["router"]["mrr"]["value"] >= rows["mixed"]["mrr"]["value"]
    assert all("measurably below" in line for line in part["finding"])
    assert (report["data"]["unscored"], report["data"]["not_asked"]) == (0, 320)

    check = report["space_check"]
    assert (check["old_dimension"], check["new_dimension"]) == (384, 384)
    assert check["mean_cosine"] == pytest.approx(0.19, abs=0.03)
    assert 0 < check["neighbour_overlap"] < 0.5

    words = run("report", "real-upgrade-retrieval").out
    assert "answers were not asked" in words
    assert "router (oracle)" in words
    assert "nobody can deploy" in words


def test_a_plan_without_an_upgrade_has_nothing_to_rank(run, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(PLAN.replace("embedding_upgrade: {old: l3, new: l6}", "writer_swap: {}")
                    .replace("models: [", "models: [{key: other, engine: scripted}, "))  # fmt: skip
    ended = run("run", path, "--retrieval-only")
    assert ended.code == 2
    assert "nothing to retrieve without answers" in ended.err
