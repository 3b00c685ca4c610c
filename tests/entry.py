"""The `memport` command line with watched models in place of the catalogue's, without static files.

Run as `python -m tests.entry …`; children that it starts for noise repeats are this entry again.
"""

import faulthandler
import os
import signal
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")


def install(**options: float) -> None:
    """Replace the pool of this process and of its forks, and the program of its children."""
    import django

    django.setup()
    from experiments.runtime import elsewhere, pool
    from tests.models import WatchedPool

    pool.catalogue_pool = lambda: WatchedPool(**options)
    elsewhere.child_command[:] = [sys.executable, "-m", "tests.entry", "worker"]


if __name__ == "__main__":
    # A test that waits in vain asks where every thread stands.
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    install(delay_s=float(os.environ.get("TEST_CALL_S", "0")))
    import memport_site.serving
    from memport_site.cli import main

    # Compressing them takes longer than all that these tests look at.
    memport_site.serving.collect_static_files = lambda: False

    main()
