"""Rows of WorkerProcess: register this process, keep its heartbeat, find the others."""

import os
import threading
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from experiments.models import WorkerProcess
from experiments.runtime.whoami import is_alive, pid_started, this_host

_lock = threading.Lock()
# One row per (process, database): after a fork the id differs, and a child registers itself.
_rows: dict[tuple[int, str], WorkerProcess] = {}
_kind = WorkerProcess.Kind.COMMAND
_address = ""


def set_kind(kind: WorkerProcess.Kind) -> None:
    """Say as what this process (and its forked children) will register."""
    global _kind
    _kind = kind


def this_process(*, now: datetime | None = None) -> WorkerProcess:
    """Return this process's row; insert it at the first call."""
    key = (os.getpid(), str(transaction.get_connection().settings_dict["NAME"]))
    with _lock:
        if key not in _rows:
            _rows[key] = WorkerProcess.objects.create(
                kind=_kind,
                host=this_host(),
                pid=key[0],
                address=_address,
                pid_started=pid_started(key[0]),
                heartbeat_at=now or timezone.now(),
            )
        return _rows[key]


def beat(*, now: datetime | None = None) -> None:
    """Note that this process is alive; register it anew where its row is gone."""
    row = WorkerProcess.objects.filter(pk=this_process().pk)
    if not row.update(heartbeat_at=now or timezone.now(), stopped_at=None):
        forget()
        this_process(now=now)


def forget() -> None:
    """Forget under which row this process is registered: the next use registers it anew."""
    with _lock:
        _rows.clear()


def set_address(address: str) -> None:
    """Say under which address this process serves pages."""
    global _address
    _address = address
    if os.getpid() in {pid for pid, _ in _rows}:
        WorkerProcess.objects.filter(pk=this_process().pk).update(address=address)


def sign_off(*, now: datetime | None = None) -> None:
    """Note that this process works no more."""
    WorkerProcess.objects.filter(pk=this_process().pk).update(stopped_at=now or timezone.now())
    forget()


def is_gone(process: WorkerProcess) -> bool:
    """Whether this process surely works no more: signed off, or dead on this host."""
    if process.stopped_at is not None:
        return True
    return process.host == this_host() and not is_alive(
        pid=process.pid, started=process.pid_started
    )


def is_fresh(process: WorkerProcess, *, now: datetime) -> bool:
    """Whether this process may be counted on: a recent heartbeat, and not known to be gone."""
    recent = now - process.heartbeat_at <= timedelta(seconds=3 * settings.HEARTBEAT_S)
    return recent and not is_gone(process)


def live_workers(*, now: datetime | None = None) -> list[WorkerProcess]:
    """Return the other processes that work on this database now, servers first."""
    now = now or timezone.now()
    rows = WorkerProcess.objects.filter(stopped_at=None).order_by("-kind", "started_at")
    return [row for row in rows if row.pid != os.getpid() and is_fresh(row, now=now)]
