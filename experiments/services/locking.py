"""Lock a plan: write it down signed, before results exist, so that it cannot change any more."""

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from experiments.lock_checks import check_lock, has_results
from experiments.models import Deviation, PlanLock, Study
from experiments.plan.lock import key_id, sign_plan
from experiments.plan.plan import canonical_json, differences, parse_plan, plan_sha256, plan_value
from experiments.plan.schema import StudyPlan
from experiments.plan.signing_key import signing_key
from experiments.preflight import refusal
from memport_site.accounts.models import AuditEntry, User, Workspace
from stores.errors import InvalidInputError

AFTER_RESULTS = "the plan was locked after results existed"


def lock_study(
    *, plan: StudyPlan, workspace: Workspace, user: User | None, after_results_because: str = ""
) -> Study:
    """Lock a plan without launching it; return its study.

    Locking the same plan again changes nothing.

    Parameters
    ----------
    after_results_because
        Why a plan is locked although results exist: the lock is marked with it, written to the
        deviations, and nothing in the plan counts as planned. Without it that is refused.

    Raises
    ------
    InvalidInputError
        The key is locked to another plan, or results exist and no reason is given.
    """
    signing_key(settings.HOME)  # made outside the transaction, and refused before it
    try:
        with transaction.atomic():
            return _locked(plan, workspace, user, after_results_because.strip())
    except IntegrityError:
        # Somebody locked the same key a moment ago: the same plan, or a refusal.
        with transaction.atomic():
            return _locked(plan, workspace, user, after_results_because.strip())


def _locked(plan: StudyPlan, workspace: Workspace, user: User | None, because: str) -> Study:
    study = Study.objects.filter(workspace=workspace, key=plan.key).first()
    if study is None:
        study = Study.objects.create(
            workspace=workspace, key=plan.key, title=plan.title, created_by=user
        )
    elif study.locked_at is not None:
        refuse_another_plan(study, plan)
        if PlanLock.objects.filter(study=study).exists():
            return study
    late = has_results(study)
    if late and not because:
        raise InvalidInputError(
            "results exist already: a plan that is locked now does not precede them",
            where=f"study {plan.key!r}",
            hint="Lock a plan before its study is run; or give the reason with --after-results,"
            " and nothing will count as planned",
        )
    write_lock_row(study, plan, user=user, after_results_because=because if late else "")
    return study


def write_lock_row(
    study: Study, plan: StudyPlan, *, user: User | None, after_results_because: str = ""
) -> PlanLock:
    """Sign a plan and keep it with its study; call it inside the transaction that needs it."""
    if study.locked_at is None:
        study.plan, study.plan_sha256 = plan_value(plan), plan_sha256(plan)
        study.locked_at = timezone.now()
        study.save(update_fields=["plan", "plan_sha256", "locked_at"])
    signed = sign_plan(canonical_json(study.plan), signing_key(settings.HOME))
    lock = PlanLock.objects.create(
        study=study,
        plan_json=signed.plan,
        sha256=signed.sha256,
        signature=signed.signature,
        public_key=signed.public_key,
        key_id=key_id(signed.public_key),
        after_results_because=after_results_because,
        locked_by=user,
    )
    if after_results_because:
        Deviation.objects.create(
            study=study, by=user, what=AFTER_RESULTS, why=after_results_because,
            touches=[signed.sha256],
        )  # fmt: skip
    AuditEntry.objects.create(
        workspace=study.workspace,
        user=user,
        action="study.lock",
        subject=study.key,
        detail={"plan_sha256": signed.sha256, "key_id": lock.key_id},
    )
    return lock


def refuse_another_plan(study: Study, plan: StudyPlan) -> None:
    """Raise InvalidInputError, with what differs, where a locked study has another plan."""
    locked = parse_plan(study.plan, source=f"study {study.key!r}")
    if plan_sha256(locked) != plan_sha256(plan):
        changed = "; ".join(differences(plan_value(locked), plan_value(plan)))
        raise InvalidInputError(
            f"this key is locked to another plan ({changed})",
            where=f"study {study.key!r}",
            hint="Choose another key for the new study",
        )


def refuse_broken_lock(study: Study) -> None:
    """Raise InvalidInputError where a study's lock no longer holds, with every check that fails."""
    if failed := refusal(check_lock(study)):
        raise InvalidInputError(
            f"the lock of the plan does not hold: {failed}",
            where=f"study {study.key!r}",
            hint="Find out who changed it; a new study needs another key",
        )
