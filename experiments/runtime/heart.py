"""The heartbeat: says that this process lives, and prolongs the leases of what it works on."""

from django.conf import settings

from experiments.runtime.claims import renew_held
from experiments.runtime.processes import beat
from experiments.runtime.ticker import Ticker


def _tick() -> None:
    beat()
    renew_held()


def new_heart() -> Ticker:
    """Make the heartbeat of this process; the caller starts and stops it."""
    return Ticker("memport-heart", _tick, interval_s=settings.HEARTBEAT_S)
