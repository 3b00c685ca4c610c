"""The Celery application. Embedded and clustered workers run the same tasks."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")

app = Celery("memport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
