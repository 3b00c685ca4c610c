"""The plan that an answers table is analyzed with: a plan file, or the folder of a lock."""

from dataclasses import dataclass
from pathlib import Path

from analysis.settings import Settings
from experiments.plan.lock import check_signed, key_id
from experiments.plan.lock_files import read_about, read_lock
from experiments.plan.plan import load_plan, load_plan_text, plan_sha256
from experiments.preflight import refusal
from stores.errors import InvalidInputError

NO_PLAN = "unplanned: no plan was given, margin and contrasts are the defaults"
NOT_LOCKED = "the plan is not locked: nothing shows that it is older than the answers"


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How a table is judged, the hash of its plan, and what must be said about it."""

    settings: Settings
    sha256: str
    label: str


def table_plan(path: Path | None) -> TablePlan:
    """Read the plan of a table; None: the defaults, and everything is unplanned.

    Raises
    ------
    InvalidInputError
        The plan cannot be taken, or the lock does not hold (says which check fails).
    """
    if path is None:
        return TablePlan(Settings(), "", NO_PLAN)
    if not path.is_dir():
        plan = load_plan(path)
        return TablePlan(Settings.of_plan(plan), plan_sha256(plan), NOT_LOCKED)
    signed = read_lock(path)
    signer = key_id(signed.public_key)
    if failed := refusal(check_signed(signed, known_keys={signer})):
        raise InvalidInputError(f"the lock of the plan does not hold: {failed}", where=str(path))
    settings = Settings.of_plan(load_plan_text(signed.plan, source=str(path / "plan.json")))
    late = str(read_about(path).get("after_results_because", ""))
    label = f"the plan was locked and signed by key {signer[:16]}"
    if late:
        label = f"unplanned: the plan was locked after results existed ({late})"
    return TablePlan(settings.locked_late(late), signed.sha256, label)
