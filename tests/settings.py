"""The project's settings with a home of the tests' own: of var/ only the models are read.

Loaded before anything else of the project (DJANGO_SETTINGS_MODULE in pyproject.toml).
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path


def _make_home() -> None:
    root = Path(__file__).resolve().parents[1]
    usual = Path(os.environ.get("MEMPORT_HOME", root / "var"))
    home, owner = tempfile.mkdtemp(prefix="memport-tests-"), os.getpid()
    os.environ.setdefault("MEMPORT_MODELS_DIR", str(usual.resolve() / "models"))
    os.environ["MEMPORT_HOME"] = home
    static = Path(home, "static")
    static.mkdir()
    os.environ["MEMPORT_STATIC_ROOT"] = str(static)
    # A developer's own database and broker are none of the tests' business.
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        os.environ.pop(name, None)
    # Programs that tests start take the real settings, with whatever home their test gives them.
    os.environ["DJANGO_SETTINGS_MODULE"] = "memport_site.settings"

    def remove() -> None:
        if os.getpid() == owner:  # and not a fork of it
            shutil.rmtree(home, ignore_errors=True)

    atexit.register(remove)


_make_home()

from memport_site.settings import *  # noqa: E402, F403
