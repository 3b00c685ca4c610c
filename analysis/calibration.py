"""What a study's calibration found: its gates, and the spread that the planner sizes with."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.gatekeeping import GateDecision, decide
from analysis.results import kept_report
from analysis.stats.planning import plan_sample
from experiments.models import Study
from experiments.plan.calibration import calibration_key


@dataclass(frozen=True, slots=True)
class Spread:
    """The spread of a contrast across calibration histories, pp; None: undefined, and why.

    `histories_needed` are those for a true effect one margin above the margin, at a power of 0.80.
    `lowest_coverage` is the smallest share of evidence that a writer's notes kept.
    """

    contrast: str
    sd_pp: float | None
    margin_pp: float
    n_histories: int
    histories_needed: int | None
    lowest_coverage: float | None
    reason: str
    warnings: tuple[str, ...] = ()


def calibration_of(study: Study) -> Study | None:
    """Return the study that calibrates this one, if it was run."""
    return Study.objects.filter(workspace=study.workspace, key=calibration_key(study.key)).first()


def spreads(calibration: Study) -> list[Spread]:
    """Return the spread of every contrast that the calibration measured, for the planner."""
    decision = decide(calibration)
    lowest = _lowest_coverage(decision)
    tested = kept_report(calibration).get("planned_tests") or {"contrasts": []}
    return [_spread(contrast, lowest) for contrast in tested["contrasts"]]


def summary(calibration: Study) -> dict[str, Any]:
    """Return gates, consequence and spreads of a calibration, JSON-ready."""
    decision = decide(calibration)
    return {
        "study": calibration.key,
        "gates": decision_json(decision),
        "spreads": [asdict(spread) for spread in spreads(calibration)],
    }


def decision_json(decision: GateDecision | None) -> dict[str, Any]:
    """Return a decision on gates, JSON-ready."""
    if decision is None:
        return {"stops": None, "because": "the gates are not measured yet", "each": []}
    return {
        "stops": decision.stops,
        "because": decision.because,
        "each": [gate.as_json() for gate in decision.gates],
    }


def _lowest_coverage(decision: GateDecision | None) -> float | None:
    values = [
        gate.figure.value
        for gate in (decision.gates if decision else ())
        if gate.name == "coverage" and gate.figure.value is not None
    ]
    return min(values, default=None)


def _spread(contrast: dict[str, Any], lowest: float | None) -> Spread:
    estimate, margin = contrast["estimate"], float(contrast["margin_pp"])
    sd, needed = estimate["sd"]["value"], None
    warnings: tuple[str, ...] = ()
    if sd is not None and margin > 0:
        size = plan_sample(effect_pp=2 * margin, margin_pp=margin, sd_pp=sd, coverage=lowest)
        found = size.n_histories.value
        needed, warnings = None if found is None else int(found), size.warnings
    return Spread(
        contrast=contrast["key"],
        sd_pp=sd,
        margin_pp=margin,
        n_histories=estimate["n_histories"],
        histories_needed=needed,
        lowest_coverage=lowest,
        reason=estimate["sd"]["reason"] if sd is None else "",
        warnings=warnings,
    )
