"""What is said wherever a study's numbers are shown: who answered, what is missing or damaged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.kept import at_hand
from analysis.labels import FORMAT_NAMES
from analysis.selectors import counted_attempts
from analysis.settings import Settings
from analysis.store_contents import damaged_stores
from experiments.lock_checks import lock_of
from experiments.models import Answer, Evaluation, Run, Study
from stores.counting import count_of, was_or_were
from stores.models import History, Store

COMPLETE = Evaluation.State.COMPLETE
ENDED = (Run.State.COMPLETE, Run.State.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class Notices:
    """What stands above the numbers of one study, or of one history in it.

    Attributes
    ----------
    labels
        Simulated or scripted, in words; empty where real models answered.
    damaged
        Stores whose content no longer matches their checksum.
    unscored
        How many answers were never scored.
    unfinished
        Why there can be no verdict yet; empty once the runs have ended.
    failed
        What failed in runs that have ended, in words.
    others
        What else a table's own report says: cells that were asked different probes.
    """

    labels: tuple[str, ...]
    damaged: tuple[Store, ...]
    unscored: int
    unfinished: str
    failed: str
    others: tuple[str, ...] = ()

    @property
    def unscored_words(self) -> str:
        """Say that answers were never scored, and what follows."""
        never = f"{count_of(self.unscored, 'answer')} {was_or_were(self.unscored)} never scored"
        return f"{never}: verdicts that rest on such answers are withheld"

    def lines(self) -> list[str]:
        """Everything but the labels, each in one sentence without a full stop."""
        lines = [damage_words(store) for store in self.damaged]
        if self.unscored:
            lines.append(self.unscored_words)
        return lines + [text for text in (self.unfinished, self.failed) if text]


def notices_of(study: Study, *, history: History | None = None) -> Notices:
    """Return what must be said beside the numbers of a study, or of one history in it."""
    counted = counted_attempts(study, history)
    # Of an index that nobody reads no answer was asked: nothing is missing there.
    unscored = Answer.objects.filter(attempt__in=counted, correct=None).exclude(
        attempt__evaluation__reader=""
    )
    return Notices(
        labels=tuple(labels_of(study)),
        damaged=tuple(damaged_stores(study, history=history)),
        unscored=unscored.count(),
        unfinished=unfinished(study),
        failed=failed(study),
    )


def shown_notices(study: Study, report: Mapping[str, Any]) -> Notices:
    """Return what stands above a study's report; of an answers table, what its report says."""
    if study.source == Study.Source.TABLE:
        labels, unscored = tuple(report["study"]["labels"]), report["data"]["unscored"]
        others = tuple(report.get("notices", ()))
        return Notices(labels, (), unscored, unfinished="", failed="", others=others)
    return kept_notices(study)


def kept_notices(study: Study) -> Notices:
    """The notices of a whole study; of one that has ended, looked up once per version of it."""
    notices: Notices = at_hand(study, "notices", lambda: notices_of(study))
    return notices


def labels_of(study: Study) -> list[str]:
    """Say whether models gave the answers at all, and whether the plan is older than they are."""
    labels = []
    if study.simulated:
        labels.append("simulated: no model gave these answers")
    if study.plan.get("histories", {}).get("split") == "calibration":
        labels.append("calibration: these histories size a study and are never part of its results")
    if names := Settings.of_document(study.plan).scripted:
        labels.append(f"scripted ({', '.join(names)}): no real model gave these answers")
    lock = lock_of(study)
    if lock is not None and lock.after_results_because:
        because = lock.after_results_because
        labels.append(f"unplanned: the plan was locked after results existed ({because})")
    return labels


def stamp_of(study: Study) -> str:
    """One word for the name of an exported file: `simulated`, `scripted`, or nothing."""
    if study.simulated:
        return "simulated"
    return "scripted" if Settings.of_document(study.plan).scripted else ""


def unfinished(study: Study) -> str:
    """Say how far a study is that has not ended; nothing where it has."""
    barred = study.runs.filter(state=Run.State.BARRED).first()
    if barred is not None:
        return f"the study was stopped by its gates: {barred.note}"
    if not study.runs.exclude(state__in=ENDED).exists():
        return ""
    evaluations = Evaluation.objects.filter(run__study=study)
    complete, total = evaluations.filter(state=COMPLETE).count(), evaluations.count()
    return f"the study is not finished: {complete} of {count_of(total, 'evaluation')} complete"


def failed(study: Study) -> str:
    """Say what failed in a study whose runs have ended; nothing where nothing did."""
    lost = Evaluation.objects.filter(run__study=study, run__state__in=ENDED).exclude(state=COMPLETE)
    number = lost.count()
    words = f"the study ended with failures: {count_of(number, 'evaluation')} did not end"
    return words if number else ""


def damage_words(store: Store) -> str:
    """Say which store was changed, and what follows."""
    by = f" by {store.writer}" if store.writer else ""
    name = FORMAT_NAMES.get(store.format, store.format)
    return (
        f"{name} of {store.history.key}{by} was changed after it was made: its content does not "
        "match its checksum"
    )
