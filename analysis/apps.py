from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class AnalysisConfig(AppConfig):
    name = "analysis"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analysis.gatekeeping import act_on_gates
        from analysis.warming import warm_large_study
        from experiments.signals import gates_measured, run_ended

        run_ended.connect(warm_large_study, dispatch_uid="analysis.warm_large_study")
        gates_measured.connect(act_on_gates, dispatch_uid="analysis.act_on_gates")
        pre_migrate.connect(_without_marks, sender=self)
        post_migrate.connect(_with_marks, sender=self)


def _without_marks(using: str, **_: Any) -> None:
    from analysis.change_marks import drop_marks

    drop_marks(using=using)


def _with_marks(using: str, **_: Any) -> None:
    from analysis.change_marks import make_marks

    make_marks(using=using)
