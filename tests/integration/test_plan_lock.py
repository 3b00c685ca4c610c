"""A plan is locked before results exist; after that it cannot change, and a change is found."""

import stat
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from experiments.guards import drop_guards
from experiments.lock_checks import check_lock
from experiments.models import Deviation, PlanLock, Study
from experiments.plan.plan import canonical_json, parse_plan
from experiments.plan.signing_key import KEY_NAME
from experiments.services.launch import launch_study
from experiments.services.locking import AFTER_RESULTS, lock_study
from memport_site.accounts.services import default_workspace, ensure_admin
from stores.errors import InvalidInputError
from tests.answered import answered_study
from tests.unit.engines import around
from tests.unit.plans import plan_values

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def home(settings, tmp_path) -> Path:
    settings.HOME = tmp_path
    return tmp_path


def lock(*, because="", **changes) -> Study:
    return lock_study(
        plan=parse_plan(plan_values(**changes)), workspace=default_workspace(),
        user=ensure_admin(), after_results_because=because,
    )  # fmt: skip


def launch(**changes) -> Study:
    return launch_study(
        plan=parse_plan(plan_values(**changes)), workspace=default_workspace(),
        user=ensure_admin(), surroundings=around(),
    )  # fmt: skip


def failed(study: Study) -> list[str]:
    return [check.name for check in check_lock(Study.objects.get(pk=study.pk)) if not check.ok]


def test_a_lock_keeps_the_very_bytes_their_hash_and_a_signature(home):
    study = lock()
    kept = study.plan_lock
    assert bytes(kept.plan_json) == canonical_json(parse_plan(plan_values()))
    assert kept.sha256 == study.plan_sha256
    assert study.locked_at is not None
    assert failed(study) == []
    assert stat.S_IMODE((home / KEY_NAME).stat().st_mode) == 0o600


def test_locking_again_changes_nothing_and_another_plan_is_refused_with_what_differs():
    study = lock()
    assert lock() == study
    assert PlanLock.objects.count() == 1
    with pytest.raises(InvalidInputError, match=r"budgets\.top_k: locked 8, given 5"):
        lock(budgets={"top_k": 5})


def test_a_launch_locks_at_the_latest():
    assert failed(launch()) == []


def test_a_locked_plan_is_launched_as_it_was_locked():
    locked = lock()
    launched = launch()
    assert launched == locked
    assert launched.runs.count() == 1
    assert PlanLock.objects.count() == 1
    with pytest.raises(InvalidInputError, match="locked to another plan"):
        launch(seed=3)


@pytest.mark.parametrize(
    "change", [{"plan": {"seed": 1}}, {"plan_sha256": "0" * 64}, {"locked_at": None}, {"key": "x"}]
)
def test_the_database_refuses_to_change_a_locked_plan(change):
    study = lock()
    with pytest.raises(IntegrityError, match="locked and cannot change"), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(**change)
    Study.objects.filter(pk=study.pk).update(simulated=True)
    assert failed(study) == []


def test_the_database_refuses_to_change_the_lock():
    study = lock()
    with pytest.raises(IntegrityError, match="locked and cannot change"), transaction.atomic():
        PlanLock.objects.filter(study=study).update(sha256="0" * 64)
    with pytest.raises(IntegrityError), transaction.atomic():
        PlanLock.objects.create(study=study, plan_json=b"", sha256="0", signature=b"")


def test_a_plan_that_was_changed_behind_the_guard_is_found():
    study = lock()
    drop_guards()
    Study.objects.filter(pk=study.pk).update(plan={**study.plan, "seed": 9})
    assert failed(study) == ["plan in use"]


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("plan_json", {"SHA-256", "signature", "plan in use"}),
        ("signature", {"signature"}),
        ("public_key", {"signature", "signer"}),
    ],
)
def test_one_flipped_byte_in_plan_signature_or_key_is_found(part, found):
    study = lock()
    drop_guards()
    value = getattr(study.plan_lock, part)
    broken = flipped(value.encode()).decode() if part == "public_key" else flipped(bytes(value))
    PlanLock.objects.filter(study=study).update(**{part: broken})
    assert found <= set(failed(study))
    with pytest.raises(InvalidInputError, match="the lock of the plan does not hold"):
        launch()


def test_a_lock_by_another_installation_names_its_signer(settings, tmp_path_factory):
    study = lock()
    settings.HOME = tmp_path_factory.mktemp("elsewhere")
    lock(key="own")
    assert failed(study) == ["signer"]


def test_locking_after_results_exist_is_refused_or_marked_with_the_reason():
    study = answered_study(key="two-models", n_histories=1)
    with pytest.raises(InvalidInputError, match="results exist already"):
        lock()
    assert not PlanLock.objects.exists()
    assert lock(because="  the plan was lost with a disk ") == study
    (check,) = [check for check in check_lock(Study.objects.get(pk=study.pk)) if not check.ok]
    assert check.name == "time of the lock"
    assert check.found == "after results existed: the plan was lost with a disk"
    deviation = Deviation.objects.get(study=study)
    assert (deviation.what, deviation.why) == (AFTER_RESULTS, "the plan was lost with a disk")


def test_a_reason_for_a_late_lock_is_not_kept_where_the_lock_is_in_time():
    study = lock(because="just in case")
    assert study.plan_lock.after_results_because == ""
    assert failed(study) == []


def test_a_key_that_others_may_read_signs_nothing(home):
    lock()
    (home / KEY_NAME).chmod(0o644)
    with pytest.raises(InvalidInputError, match="its mode is 0644"):
        lock(key="second")
    assert not Study.objects.filter(key="second").exists()


def test_a_file_that_is_no_key_is_said(home):
    (home / KEY_NAME).write_text("no key")
    (home / KEY_NAME).chmod(0o600)
    with pytest.raises(InvalidInputError, match="holds no Ed25519 key"):
        lock()
