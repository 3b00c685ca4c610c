"""`memport study lock` and `verify`, and the check of a lock with OpenSSL alone."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from experiments.models import Study
from tests.answered import answered_study
from tests.commands import memport
from tests.unit.plans import plan_values

pytestmark = pytest.mark.django_db
DOCS = Path(__file__).parents[2] / "docs" / "plan-lock.md"


@pytest.fixture(autouse=True)
def here(settings, tmp_path, monkeypatch) -> Path:
    settings.HOME = tmp_path / "home"
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def locked(here, capsys) -> Path:
    (here / "plan.yaml").write_text(yaml.safe_dump(plan_values()))
    ended = memport(capsys, "study", "lock", "plan.yaml", "--output", "lock")
    assert ended.code == 0, ended.err
    return here / "lock"


def flip(path: Path, at: int = -1) -> None:
    data = bytearray(path.read_bytes())
    data[at if at >= 0 else len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def test_a_lock_is_five_files_and_holds(locked, capsys):
    assert sorted(path.name for path in locked.iterdir()) == [
        "lock.json", "plan.json", "plan.sha256", "plan.sig", "public_key.pem",
    ]  # fmt: skip
    assert len((locked / "plan.sig").read_bytes()) == 64
    for what in ("lock", "two-models"):
        ended = memport(capsys, "study", "verify", what)
        assert (ended.code, ended.out.splitlines()[-1]) == (0, "The lock holds.")


def test_the_commands_of_the_page_check_it_with_openssl_alone(locked):
    block = DOCS.read_text().split("## Check it with OpenSSL alone")[1]
    digest, verify, identity = re.findall(r"^openssl .*$", block, re.MULTILINE)

    def run(command: str) -> subprocess.CompletedProcess[str]:
        assert shutil.which("openssl"), "openssl is not installed: apt-get install openssl"
        return subprocess.run(command, shell=True, cwd=locked, capture_output=True, text=True)

    assert run(digest).stdout.split()[0] == (locked / "plan.sha256").read_text().split()[0]
    assert "Signature Verified Successfully" in run(verify).stdout
    about = json.loads((locked / "lock.json").read_text())
    assert run(identity).stdout.split()[0] == about["key_id"]
    flip(locked / "plan.json")
    assert run(verify).returncode != 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("plan.json", ("NO  SHA-256", "NO  signature")),
        ("plan.sig", ("NO  signature",)),
        ("public_key.pem", ("NO  signature", "NO  signer")),
    ],
)
def test_one_flipped_byte_is_found_and_said(locked, capsys, name, said):
    flip(locked / name)
    ended = memport(capsys, "study", "verify", "lock")
    assert ended.code == 100
    assert all(words in ended.out for words in said)
    assert ended.out.splitlines()[-1] == "The lock does NOT hold."


def test_every_single_byte_of_a_signature_counts(locked, capsys):
    for at in (0, 31, 32, 63):
        flip(locked / "plan.sig", at)
        assert memport(capsys, "study", "verify", "lock").code == 100
        flip(locked / "plan.sig", at)
    assert memport(capsys, "study", "verify", "lock").code == 0


def test_a_changed_hash_file_is_found(locked, capsys):
    text = (locked / "plan.sha256").read_text()
    (locked / "plan.sha256").write_text(("0" if text[0] != "0" else "1") + text[1:])
    ended = memport(capsys, "study", "verify", "lock", "--json")
    failed = [check["name"] for check in json.loads(ended.out) if not check["ok"]]
    assert failed == ["SHA-256", "study here"]


def test_a_missing_file_and_a_missing_study_are_named(locked, capsys):
    (locked / "plan.sig").unlink()
    ended = memport(capsys, "study", "verify", "lock")
    assert (ended.code, "plan.sig" in ended.err) == (2, True)
    ended = memport(capsys, "study", "verify", "two-model")
    assert (ended.code, "Did you mean 'two-models'?" in ended.err) == (2, True)


def test_the_key_of_another_installation_is_trusted_when_it_is_named(locked, capsys, settings):
    settings.HOME = locked.parent / "elsewhere"
    assert memport(capsys, "study", "verify", "lock").code == 100
    identity = json.loads((locked / "lock.json").read_text())["key_id"]
    assert memport(capsys, "study", "verify", "lock", "--key-id", identity).code == 0


def test_the_same_plan_locks_again_and_another_one_is_refused(locked, capsys):
    first = (locked / "plan.sig").read_bytes()
    assert memport(capsys, "study", "lock", "plan.yaml", "-o", "lock").code == 0
    assert (locked / "plan.sig").read_bytes() == first
    Path("plan.yaml").write_text(yaml.safe_dump(plan_values(seed=5)))
    ended = memport(capsys, "study", "lock", "plan.yaml")
    assert (ended.code, "seed: locked 0, given 5" in ended.err) == (2, True)
    Path("plan.yaml").write_text(yaml.safe_dump(plan_values(key="other")))
    ended = memport(capsys, "study", "lock", "plan.yaml", "-o", "lock")
    assert (ended.code, "holds the lock of another plan" in ended.err) == (2, True)


def test_a_late_lock_needs_its_reason_and_says_so_everywhere(here, capsys):
    answered_study(key="two-models", n_histories=2)
    Path("plan.yaml").write_text(yaml.safe_dump(plan_values()))
    assert memport(capsys, "study", "lock", "plan.yaml").code == 2
    ended = memport(
        capsys, "study", "lock", "plan.yaml", "--after-results", "it was run by hand", "--json"
    )
    assert json.loads(ended.out)["after_results_because"] == "it was run by hand"
    ended = memport(capsys, "study", "verify", "two-models")
    assert (ended.code, "after results existed: it was run by hand" in ended.out) == (100, True)
    shown = json.loads(memport(capsys, "study", "show", "two-models", "--json").out)["lock"]
    assert (shown["holds"], shown["after_results_because"]) == (False, "it was run by hand")
    assert Study.objects.get().deviations.count() == 1
