"""An answers table becomes a study: read whole and checked first, kept only where it holds."""

import hashlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils.text import slugify

from analysis import results
from analysis.table_report import SIMULATED_SHA256, table_report
from experiments.models import Study
from experiments.plan.plan import canonical_json, load_plan_text, plan_sha256
from experiments.plan.schema import StudyPlan
from memport_site.accounts.models import AuditEntry, User, Workspace
from stores.errors import InvalidInputError
from stores.models import Blob

ENDINGS = (".csv", ".csv.gz", ".parquet")
KEY_LENGTH = 80
TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class TableUpload:
    """What a person brings: the file and its name, a title, a plan, and whether it is simulated."""

    file: "File[bytes]"
    name: str
    title: str = ""
    plan: bytes = b""
    plan_name: str = "plan"
    simulated: bool = False


def import_table(*, upload: TableUpload, workspace: Workspace, user: User | None) -> Study:
    """Make a study of an answers table; its report is computed and kept at once.

    Raises
    ------
    InvalidInputError
        The file is too large, no table, or a faulty one (with the line), or the plan is none.
        Nothing is kept then.
    """
    name = _file_name(upload.name)
    if not name.lower().endswith(ENDINGS):
        raise InvalidInputError(
            "this file is no answers table", where=name or "no file",
            expected=" or ".join(ENDINGS), hint="docs/answers.md describes the table",
        )  # fmt: skip
    plan = load_plan_text(upload.plan, source=upload.plan_name) if upload.plan.strip() else None
    with tempfile.TemporaryDirectory(prefix="memport-upload-") as folder:
        path = Path(folder) / name
        _copy(upload.file, path)
        _try(path, plan)
        data = path.read_bytes()
    study = _keep(data, name=name, upload=upload, plan=plan, workspace=workspace, user=user)
    results.warm(study)
    return study


def _file_name(given: str) -> str:
    """The end of a name, without its folders, as long as any file system takes."""
    name = Path(given.replace("\\", "/")).name
    return name.encode()[-TITLE_LENGTH:].decode(errors="ignore")


def _copy(file: "File[bytes]", path: Path) -> None:
    limit = settings.MAX_UPLOAD_BYTES
    with path.open("wb") as copy:
        for chunk in file.chunks():
            copy.write(chunk)
        size = copy.tell()
    if size > limit:
        raise InvalidInputError(
            f"the file is {size / 2**20:,.0f} MiB large", where=path.name,
            expected=f"at most {limit / 2**20:,.0f} MiB (MEMPORT_MAX_UPLOAD_MIB)",
            hint="Use `memport analyze` for larger tables; it has no limit",
        )  # fmt: skip


def _try(path: Path, plan: StudyPlan | None) -> None:
    """Compute everything once: a table or a plan that does not hold is refused here."""
    written = None
    if plan is not None:
        written = path.with_name("plan.json")
        written.write_bytes(canonical_json(plan))
    table_report(path, plan=written)


def _keep(
    data: bytes, *, name: str, upload: TableUpload, plan: StudyPlan | None, workspace: Workspace,
    user: User | None,
) -> Study:  # fmt: skip
    digest = hashlib.sha256(data).hexdigest()
    title = upload.title.replace("\x00", "").strip()[:TITLE_LENGTH] or name
    with transaction.atomic():
        blob, _ = Blob.objects.get_or_create(
            sha256=digest, defaults={"size_bytes": len(data), "data": data}
        )
        study = Study.objects.create(
            workspace=workspace,
            key=_free_key(workspace, title),
            title=title,
            source=Study.Source.TABLE,
            table=blob,
            table_name=name,
            simulated=upload.simulated or digest in SIMULATED_SHA256,
            plan={} if plan is None else json.loads(canonical_json(plan)),
            plan_sha256="" if plan is None else plan_sha256(plan),
            created_by=user,
        )
        AuditEntry.objects.create(
            workspace=workspace, user=user, action="study.import_table", subject=study.key,
            detail={"file": name, "sha256": digest, "simulated": study.simulated},
        )  # fmt: skip
    return study


# Addresses below /studies/ that are no study.
TAKEN = frozenset({"new"})


def _free_key(workspace: Workspace, title: str) -> str:
    stem = slugify(title.replace(".", "-"))[: KEY_LENGTH - 6] or "table"
    keys = (
        set(
            Study.objects.filter(workspace=workspace, key__startswith=stem).values_list(
                "key", flat=True
            )
        )
        | TAKEN
    )
    if stem not in keys:
        return stem
    return next(key for n in range(2, len(keys) + 3) if (key := f"{stem}-{n}") not in keys)
