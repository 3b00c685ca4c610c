"""SQLite and PostgreSQL themselves refuse to change a locked plan, also after migrations."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction

from experiments.guards import drop_guards
from experiments.lock_checks import check_lock
from experiments.models import PlanLock, Study
from experiments.plan.plan import parse_plan
from experiments.services.locking import lock_study
from memport_site.accounts.services import default_workspace
from tests.unit.plans import plan_values

CHANGES = [{"plan": {}}, {"plan_sha256": "0" * 64}, {"locked_at": None}, {"key": "x"}]


@pytest.fixture(params=["sqlite_file", "postgres_database"])
def any_database(request: pytest.FixtureRequest, settings, tmp_path) -> None:
    settings.HOME = tmp_path
    request.getfixturevalue(request.param)


def refused(change: dict) -> bool:
    try:
        with transaction.atomic():
            Study.objects.update(**change)
    except IntegrityError as error:
        return "locked and cannot change" in str(error)
    return False


@pytest.mark.services
def test_no_statement_changes_a_locked_plan_and_a_migration_brings_the_guard_back(any_database):
    study = lock_study(plan=parse_plan(plan_values()), workspace=default_workspace(), user=None)
    assert all(refused(change) for change in CHANGES)
    with pytest.raises(IntegrityError, match="cannot change"), transaction.atomic():
        PlanLock.objects.update(signature=b"")
    Study.objects.update(simulated=True)
    drop_guards()
    Study.objects.update(simulated=False)
    assert not refused({"locked_at": study.locked_at})
    call_command("migrate", verbosity=0)
    assert all(refused(change) for change in CHANGES)
    assert all(check.ok for check in check_lock(Study.objects.get()))
