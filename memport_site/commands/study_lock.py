"""`memport study lock` and `memport study verify`: a plan that cannot change, and the proof."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from experiments.lock_checks import check_lock, known_keys, signed_plan
from experiments.models import Study
from experiments.plan.lock import check_signed
from experiments.plan.lock_files import read_lock, write_lock
from experiments.plan.plan import load_plan
from experiments.services.locking import lock_study
from experiments.surroundings import Check
from memport_site.accounts.services import default_workspace, ensure_admin
from memport_site.commands.study_text import print_checks
from memport_site.database import needs_database
from memport_site.studies import find_study

NO = 100


@click.command("lock")
@click.argument("plan", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="The folder to write the lock to.  [default: KEY-lock]",
)
@click.option(
    "--after-results",
    "because",
    metavar="WHY",
    default="",
    help="Lock although results exist. The lock says so and why; nothing counts as planned.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@needs_database
def lock(plan: Path, output: Path | None, because: str, as_json: bool) -> None:
    """Lock the PLAN file before results exist: canonical JSON, SHA-256, Ed25519 signature.

    Writes plan.json, plan.sha256, plan.sig, public_key.pem and lock.json. After this the plan
    cannot change; `memport study run PLAN` launches it. docs/plan-lock.md says how to check it
    with OpenSSL alone.

    \b
    Example:
      memport study lock my-study.yaml --output my-study-lock
    """
    loaded = load_plan(plan)
    study = lock_study(
        plan=loaded,
        workspace=default_workspace(),
        user=ensure_admin(),
        after_results_because=because,
    )
    kept = study.plan_lock
    about = _about(study)
    paths = write_lock(output or Path(f"{study.key}-lock"), signed_plan(kept), about=about)
    if as_json:
        click.echo(json.dumps({**about, "files": [str(path) for path in paths]}, indent=2))
        return
    click.echo(f"{study.key}: locked at {about['locked_at']}, plan SHA-256 {kept.sha256},")
    click.echo(f"signed by key {kept.key_id}. Its files are in {paths[0].parent}.")
    if kept.after_results_because:
        click.echo(
            f"Marked: locked after results existed ({kept.after_results_because}). Nothing that "
            "this plan names counts as planned."
        )


@click.command("verify")
@click.argument("lock", metavar="KEY|DIR")
@click.option(
    "--key-id",
    "trusted",
    multiple=True,
    metavar="ID",
    help="Trust this key too: the id that the signer's own `study lock` printed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@needs_database
def verify(lock: str, trusted: tuple[str, ...], as_json: bool) -> None:
    """Check the lock of the study KEY, or the lock in the folder DIR.

    Exit code 0: it holds; 100: it does not, and what fails is said.

    \b
    Example:
      memport study verify my-study
      memport study verify my-study-lock
    """
    folder = Path(lock)
    checks = _of_folder(folder, trusted) if folder.is_dir() else check_lock(find_study(lock))
    print_checks(checks, as_json=as_json)
    holds = all(check.ok for check in checks)
    if not as_json:
        click.echo("The lock holds." if holds else "The lock does NOT hold.")
    if not holds:
        sys.exit(NO)


def _of_folder(folder: Path, trusted: tuple[str, ...]) -> list[Check]:
    """The files by themselves; and against the study of this installation that has the key."""
    signed = read_lock(folder)
    checks = check_signed(signed, known_keys=known_keys() | set(trusted))
    try:
        key = json.loads(signed.plan)["key"]
    except (ValueError, KeyError, TypeError):
        return checks
    study = Study.objects.filter(workspace=default_workspace(), key=str(key)).first()
    if study is not None:
        checks.append(
            Check(
                "study here",
                f"the plan that {study.key!r} has here",
                "the same plan" if study.plan_sha256 == signed.sha256 else "another plan",
                study.plan_sha256 == signed.sha256,
            )
        )
    return checks


def lock_summary(study: Study) -> dict[str, Any]:
    """What `memport study show --json` says of a study's lock."""
    checks = check_lock(study)
    return {
        "holds": all(check.ok for check in checks),
        **(_about(study) if hasattr(study, "plan_lock") else {}),
        "checks": [asdict(check) for check in checks],
    }


def _about(study: Study) -> dict[str, Any]:
    kept = study.plan_lock
    return {
        "study": study.key,
        "plan_sha256": kept.sha256,
        "key_id": kept.key_id,
        "locked_at": kept.locked_at.isoformat(timespec="seconds"),
        "after_results_because": kept.after_results_because,
    }
