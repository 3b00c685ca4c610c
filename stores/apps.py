from django.apps import AppConfig


class StoresConfig(AppConfig):
    name = "stores"
    default_auto_field = "django.db.models.BigAutoField"
