"""The Celery application. Embedded and clustered workers run the same tasks."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memport_site.settings")
# Django's system checks import every view; `migrate` and the tests run them, a worker need not.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("memport")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
