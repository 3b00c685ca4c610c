from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from analysis.gatekeeping import act_on_gates
        from experiments.signals import gates_measured

        gates_measured.connect(act_on_gates, dispatch_uid="analysis.act_on_gates")
