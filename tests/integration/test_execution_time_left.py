"""The time left is estimated from measured steps, and is unknown before there are any."""

from typing import Any

import pytest

from experiments.models import Call, Run, StoreBuild
from experiments.run_progress import progress
from experiments.time_left import time_left_s
from memport_site.commands.watching import left_words
from tests.runs import a_launched_run

pytestmark = pytest.mark.django_db


def done(job: Any, *, seconds: float, calls: int = 1, state: str = "complete") -> None:
    """Give a job calls that took so many seconds together."""
    model = type(job)
    owner = {"build": job} if model is StoreBuild else {"attempt": job.attempts.create(number=1)}
    for n in range(calls):
        Call.objects.create(
            **owner, role="writer" if model is StoreBuild else "reader", model="m", position=n,
            request_sha256="", finish_reason="stop", engine_s=seconds / calls,
        )  # fmt: skip
    if state != "complete" or model is not StoreBuild:
        model._default_manager.filter(pk=job.pk).update(state=state)
    else:
        StoreBuild.objects.filter(pk=job.pk).update(state="complete", store=_any_store(job))


def _any_store(build: StoreBuild) -> Any:
    from stores.formats.base import WriteBudget, Written
    from stores.keeping import keep_store

    return keep_store(
        workspace=build.run.study.workspace, identity=build.store_key, history=build.history,
        format=build.format, written=Written(b"x"), coverage=(),
        budget=WriteBudget(writer_output_tokens=1),
    )  # fmt: skip


def builds(run: Run, **of: str) -> list[StoreBuild]:
    return list(run.store_builds.filter(**of).order_by("position"))


def test_nothing_is_said_before_a_writer_was_measured() -> None:
    run = a_launched_run()
    assert time_left_s(run) is None
    done(builds(run, format="lc_raw")[0], seconds=0, calls=0)
    done(builds(run, format="rag")[0], seconds=0.2)
    assert time_left_s(run) is None


def test_each_kind_counts_with_its_own_mean_and_an_unmeasured_one_with_the_slowest() -> None:
    run = a_launched_run(formats=["notes", "kg_fixed"])
    run.evaluations.all().delete()
    done(builds(run, format="notes", writer="old")[0], seconds=10)
    assert time_left_s(run) == pytest.approx(30)
    done(builds(run, format="kg_fixed", writer="old")[0], seconds=20)
    assert time_left_s(run) == pytest.approx(20 + 20)


def test_a_job_that_takes_longer_than_its_kind_is_not_said_to_end_at_once() -> None:
    run = a_launched_run(formats=["notes"])
    run.evaluations.all().delete()
    done(builds(run, writer="old")[0], seconds=10)
    done(builds(run, writer="new")[0], seconds=25, state="running")
    assert time_left_s(run) == pytest.approx(1)


@pytest.mark.parametrize(
    ("left_s", "words"),
    [
        (None, "estimating the time left"),
        (0.2, "about 1 s left"),
        (59.6, "about 60 s left"),
        (600, "about 10 min left"),
        (9000, "about 2.5 h left"),
    ],
)
def test_the_time_left_in_words(left_s: float | None, words: str) -> None:
    assert left_words(left_s) == words


def test_cheap_stores_alone_say_nothing_about_the_time_left() -> None:
    run = a_launched_run(n_histories=2)
    cheap = [*builds(run, format="lc_raw"), *builds(run, format="rag")]
    for build in cheap:
        done(build, seconds=0.01)
    seen = progress(run)
    assert (seen.jobs_done, seen.left_s) == (4, None)


def test_what_a_running_job_has_done_already_is_taken_off() -> None:
    run = a_launched_run(n_histories=2, formats=["notes"])
    run.evaluations.all().delete()
    first, second = builds(run, writer="old")
    done(first, seconds=10)
    done(second, seconds=4, state="running")
    assert time_left_s(run) == pytest.approx(6 + 10 + 10)


def test_evaluations_are_guessed_from_writer_calls_until_one_is_measured() -> None:
    run = a_launched_run(formats=["notes"])
    for build in builds(run):
        done(build, seconds=6, calls=2)
    assert time_left_s(run) == pytest.approx(4 * 2 * 3)
    evaluation = run.evaluations.order_by("position").first()
    assert evaluation is not None
    done(evaluation, seconds=5)
    assert time_left_s(run) == pytest.approx(3 * 5)
