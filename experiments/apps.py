from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class ExperimentsConfig(AppConfig):
    name = "experiments"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(_guard, sender=self)


def _guard(using: str, **_: Any) -> None:
    from experiments.guards import make_guards

    make_guards(using=using)
