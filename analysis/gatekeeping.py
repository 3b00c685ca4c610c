"""The gates of a study, decided on its own gate cells; what follows for the runs that wait."""

from dataclasses import dataclass
from typing import Any

from analysis.arrays import to_cube
from analysis.observations import coverage_of, from_run
from analysis.settings import Settings
from analysis.stats.gates import Gate, all_gates
from experiments.models import Run, Study
from experiments.services.gating import ENDED, bar_runs, gate_runs, release_runs

SHOWN_FAILURES = 6


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Every gate with what follows. `stopping` are the failures that stop the study."""

    gates: tuple[Gate, ...]
    stopping: tuple[Gate, ...]
    unmeasured_because: str = ""

    @property
    def stops(self) -> bool:
        """Whether the study goes no further by itself."""
        return bool(self.stopping or self.unmeasured_because)

    @property
    def because(self) -> str:
        """Why it goes no further, in words; '' where it goes on."""
        said = [gate.sentence() for gate in self.stopping[:SHOWN_FAILURES]]
        more = len(self.stopping) - len(said)
        said += [f"and {more} more"] if more > 0 else []
        return "; ".join(filter(None, (self.unmeasured_because, *said)))


def decide(study: Study) -> GateDecision | None:
    """Decide the gates of a study; None while their cells are not all answered."""
    run = gate_runs(study).filter(state__in=ENDED).order_by("-number").first()
    if run is None:
        return None
    settings = Settings.of_document(study.plan)
    gates = gates_of(run, settings)
    stopping = tuple(
        gate
        for gate in gates
        if gate.status == "failed" and settings.gates.consequence(gate.name) == "stop"
    )
    unmeasured = ""
    if settings.gates.stopping and run.state == Run.State.INCOMPLETE:
        failed = run.evaluations.filter(state="failed").count()
        unmeasured = f"the gates are not fully measured: {failed} of their evaluations failed"
    return GateDecision(tuple(gates), stopping, unmeasured)


def gates_of(run: Run, settings: Settings) -> list[Gate]:
    """Return every gate as a run's own answers and stores decide it."""
    frame = from_run(run)
    if frame.empty:
        return []
    coverage = coverage_of(run.store_builds.all())
    return all_gates(to_cube(frame), chance=settings.chance, coverage=coverage)


def act_on_gates(*, study: Study, **_: Any) -> None:
    """Release the runs that waited for the gates, or bar them with the reason."""
    decision = decide(study)
    if decision is None:
        return
    if decision.stops:
        bar_runs(study=study, because=decision.because)
    else:
        release_runs(study=study)
