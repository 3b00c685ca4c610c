"""Whether the lock of a study still holds, and whether its results are older than its plan."""

from pathlib import Path

from django.conf import settings

from experiments.models import Answer, PlanLock, Study
from experiments.plan.lock import SignedPlan, check_signed, key_id, sign_plan
from experiments.plan.plan import canonical_json
from experiments.plan.signing_key import KEY_NAME, signing_key
from experiments.surroundings import Check
from stores.errors import InvalidInputError


def has_results(study: Study) -> bool:
    """Whether any answer of a study exists, counted here or brought in with a table."""
    if study.source == Study.Source.TABLE:
        return True
    return Answer.objects.filter(attempt__evaluation__run__study=study).exists()


def lock_of(study: Study) -> PlanLock | None:
    """The lock of a study; None for one that was never locked, or before plans were signed."""
    return PlanLock.objects.filter(study=study).first()


def signed_plan(lock: PlanLock) -> SignedPlan:
    """A lock's row as the value that was signed."""
    return SignedPlan(
        bytes(lock.plan_json), lock.sha256, bytes(lock.signature), str(lock.public_key)
    )


def check_lock(study: Study) -> list[Check]:
    """Check the lock of a study, and that the study still has the plan that was locked."""
    lock = lock_of(study)
    if lock is None:
        found = "never locked" if study.locked_at is None else "locked without a signature"
        return [Check("lock", "a signed plan", found, False)]
    signed = signed_plan(lock)
    checks = check_signed(signed, known_keys=known_keys())
    same = canonical_json(study.plan) == signed.plan
    checks.append(
        Check(
            "plan in use",
            "the plan that was locked",
            "the plan that was locked" if same else "another plan than the one that was locked",
            same,
        )
    )
    return [*checks, check_hash_in_use(study, signed), before_results(lock)]


def check_hash_in_use(study: Study, signed: SignedPlan) -> Check:
    """The hash that the study's pages and exports name is that of the lock."""
    same = study.plan_sha256 == signed.sha256
    return Check("hash in use", signed.sha256, study.plan_sha256 or "none", same)


def before_results(lock: PlanLock) -> Check:
    """A lock precedes the results, or says why it does not."""
    because = lock.after_results_because
    found = f"after results existed: {because}" if because else "before any result existed"
    return Check("time of the lock", "before any result existed", found, not because)


def known_keys() -> frozenset[str]:
    """Ids of the keys that this installation trusts: its own, where it has made one."""
    home = Path(settings.HOME)
    if not (home / KEY_NAME).exists():
        return frozenset()
    try:
        key = signing_key(home)
    except InvalidInputError:
        return frozenset()  # a key that others could read vouches for nothing
    return frozenset({key_id(sign_plan(b"", key).public_key)})
