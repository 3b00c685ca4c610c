"""The addresses of one study's objects, for tests that go through all pages."""

from django.urls import reverse

from experiments.models import Answer, Study


def object_pages(study: Study) -> list[str]:
    """Return the address of every page about a study or about a part of it."""
    run = study.runs.get()
    evaluation = run.evaluations.select_related("history").first()
    answer = Answer.objects.filter(attempt__evaluation=evaluation).first()
    names = ("study", "plan", "answers", "report-json", "answers-csv")
    return [
        *(reverse(name, args=[study.key]) for name in names),
        reverse("run", args=[run.pk]),
        reverse("history", args=[evaluation.history_id]),
        reverse("store", args=[evaluation.build.store_id]),
        reverse("probe", args=[answer.probe_id]),
        reverse("prompt", args=[answer.pk]),
    ]


LIST_PAGES = ("studies", "new-study", "histories", "stores")


def all_pages(study: Study) -> list[str]:
    """Return the address of every page that shows something."""
    return [*(reverse(name) for name in LIST_PAGES), *object_pages(study)]
