"""A progress bar over the runs of a study: the step in words, and the time left."""

import time
from collections.abc import Callable, Sequence

from django.db import OperationalError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from experiments.models import Run, Study
from experiments.run_progress import Progress as RunProgress
from experiments.run_progress import progress

POLL_S = 0.5
# Where the output is no terminal: one line at least this far apart.
LINE_EVERY_S = 15.0
SHOWN_ERRORS = 5


def watch(
    study: Study,
    *,
    console: Console,
    still_watching: Callable[[], bool] = lambda: True,
) -> list[RunProgress]:
    """Show the progress of a study's runs until they are over; return how each one ended.

    `still_watching` is asked at every turn; when it says no, the watching ends early.
    """
    runs = list(study.runs.order_by("pk"))
    with _bar(console) as bar:
        tasks = {run.pk: bar.add_task(run.test, total=None, step="", left="") for run in runs}
        said_at = 0.0
        while True:
            seen = _look(runs)
            for run, now in zip(runs, seen, strict=True):
                _show(bar, tasks[run.pk], now)
            if not console.is_terminal and time.monotonic() - said_at >= LINE_EVERY_S:
                said_at = time.monotonic()
                console.print(_line(seen), markup=False, highlight=False, soft_wrap=True)
            if all(now.is_over for now in seen) or not still_watching():
                return seen
            time.sleep(POLL_S)


def ended_well(seen: Sequence[RunProgress]) -> bool:
    """Whether every run is complete."""
    return all(now.state == Run.State.COMPLETE for now in seen)


def how_it_ended(seen: Sequence[RunProgress], *, key: str) -> str:
    """Say in words how the runs of a study ended, with the first errors."""
    errors = list(dict.fromkeys(error for now in seen for error in now.errors))
    if ended_well(seen):
        return f"{key}: complete."
    if barred := [now for now in seen if now.state == Run.State.BARRED]:
        return (
            f"{key}: {barred[0].step}. `memport study resume {key} --in-spite-of-gates --why …`"
            " goes on all the same, and writes it to the deviations."
        )
    if any(now.state in (Run.State.STOPPED, Run.State.STOPPING) for now in seen):
        return f"{key}: stopped; `memport study resume {key}` goes on at the last answer."
    lines = [f"{key}: ended with failures; `memport study resume {key} --rerun-failed --why …`"
             " runs them again, whole:"]  # fmt: skip
    lines += [f"  - {error}" for error in errors[:SHOWN_ERRORS]]
    if len(errors) > SHOWN_ERRORS:
        lines.append(f"  … and {len(errors) - SHOWN_ERRORS} more")
    return "\n".join(lines)


def left_words(left_s: float | None) -> str:
    """The time left in words: `about 6 min left`, or that it cannot be estimated yet."""
    if left_s is None:
        return "estimating the time left"
    if left_s < 60:
        return f"about {max(1, round(left_s))} s left"
    if left_s < 3600 * 2:
        return f"about {round(left_s / 60)} min left"
    return f"about {left_s / 3600:.1f} h left"


def _look(runs: Sequence[Run]) -> list[RunProgress]:
    """Read the progress; a database that is busy for a moment is asked again."""
    for pause_s in (1.0, 2.0, 4.0):
        try:
            return [progress(run) for run in runs]
        except OperationalError:
            time.sleep(pause_s)
    return [progress(run) for run in runs]


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[step]}", markup=False),
        console=console,
        disable=not console.is_terminal,
    )


def _show(bar: Progress, task: TaskID, now: RunProgress) -> None:
    bar.update(
        task,
        total=now.jobs_total,
        completed=now.jobs_done,
        left="" if now.is_over else left_words(now.left_s),
        step=now.step,
    )


def _line(seen: Sequence[RunProgress]) -> str:
    """How far it is, what is being done now, and how long it will take."""
    done, total = sum(now.jobs_done for now in seen), sum(now.jobs_total for now in seen)
    active = [now for now in seen if not now.is_over] or list(seen)
    shown = next((now for now in active if now.is_working), active[0])
    lefts = [now.left_s for now in active]
    # One run of which nothing is known makes the sum unknown too.
    known = None if None in lefts else sum(left for left in lefts if left is not None)
    parts = [shown.step, "" if shown.is_over else left_words(known)]
    return f"[{done}/{total}] " + ", ".join(part for part in parts if part)
