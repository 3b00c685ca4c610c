"""The histories that a plan names: found, or generated where a preset has not been made yet."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from experiments.plan.schema import StudyPlan
from experiments.plan.translate import nearest
from experiments.selectors import probes_asked
from memport_site.accounts.models import User, Workspace
from stores.errors import InvalidInputError
from stores.models import History
from stores.selectors import history_value
from stores.services import keep_generated
from stores.workload import types
from stores.workload.generator import generate


@dataclass(frozen=True, slots=True)
class StudyHistories:
    """The histories of a study as values, with the probes that it asks.

    `rows` are those that exist; `generated` are those that a launch will have to keep.
    """

    values: tuple[types.History, ...]
    rows: tuple[History, ...] = ()
    generated: tuple[types.History, ...] = ()


def find_histories(*, plan: StudyPlan, workspace: Workspace) -> StudyHistories:
    """Return the histories that a plan names; writes nothing.

    Raises
    ------
    InvalidInputError
        A key or collection does not exist, a preset's key is taken by another content, or a
        history has no probe to ask.
    """
    if plan.histories.preset is not None:
        return _of_preset(plan, workspace)
    study_split = History.objects.filter(workspace=workspace, split=plan.histories.split)
    if plan.histories.collection is not None:
        rows = list(study_split.filter(collection=plan.histories.collection))
        if not rows:
            known = study_split.exclude(collection="").values_list("collection", flat=True)
            raise _unknown("collection", plan.histories.collection, set(known))
        return _of_rows(plan, rows)
    rows = list(study_split.filter(key__in=plan.histories.keys))
    if missing := sorted(set(plan.histories.keys) - {row.key for row in rows}):
        raise _unknown("history", missing[0], set(study_split.values_list("key", flat=True)))
    return _of_rows(plan, rows)


def keep_histories(
    found: StudyHistories, *, plan: StudyPlan, workspace: Workspace, user: User | None
) -> dict[str, History]:
    """Import what was generated and return every history of the study by its key."""
    if found.generated:
        assert plan.histories.preset is not None
        keep_generated(
            generated={plan.histories.split: found.generated},
            preset=plan.histories.preset,
            seed=plan.histories.seed,
            workspace=workspace,
            user=user,
        )
    keys = [value.key for value in found.values]
    return {row.key: row for row in History.objects.filter(workspace=workspace, key__in=keys)}


def _of_preset(plan: StudyPlan, workspace: Workspace) -> StudyHistories:
    preset = plan.histories.preset
    assert preset is not None
    split, seed = plan.histories.split, plan.histories.seed
    made = {history.key: history for history in generate(preset, seed=seed, split=split)}
    rows = list(History.objects.filter(workspace=workspace, key__in=made))
    for row in rows:
        if row.checksum != made[row.key].checksum():
            raise InvalidInputError(
                f"the history {row.key!r} exists with other events than this preset and seed give",
                where="histories",
                hint="Choose another seed, or name the kept histories by collection",
            )
    there = {row.key for row in rows}
    new = tuple(history for key, history in made.items() if key not in there)
    values = (*_of_rows(plan, rows).values, *(_asked(history, plan) for history in new))
    return StudyHistories(tuple(sorted(values, key=lambda h: h.key)), tuple(rows), new)


def _asked(history: types.History, plan: StudyPlan) -> types.History:
    return replace(history, probes=history.probes[: plan.histories.max_probes])


def _of_rows(plan: StudyPlan, rows: Iterable[History]) -> StudyHistories:
    values = []
    for row in sorted(rows, key=lambda row: row.key):
        asked = {probe.key for probe in probes_asked(row, plan)}
        value = history_value(row)
        if not asked:
            raise InvalidInputError(
                f"the history {row.key!r} has no probe to ask",
                where="histories",
                hint="Import probes for it, or leave it out",
            )
        kept = tuple(probe for probe in value.probes if probe.key in asked)
        values.append(replace(value, probes=kept))
    return StudyHistories(tuple(values), tuple(rows))


def _unknown(what: str, name: str, known: set[str]) -> InvalidInputError:
    hint = nearest(name, known) or "See `memport histories show`"
    return InvalidInputError(f"there is no {what} {name!r}", where="histories", hint=hint)
