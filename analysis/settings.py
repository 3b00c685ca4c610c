"""How results are judged: the plan's own words, or the defaults where there is no plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from experiments.plan.gates import GatePolicy
from experiments.plan.schema import Contrast, StudyPlan

DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Margin, chance, gates, directions and contrasts.

    `planned`: a plan named them before results existed. `late`: why its lock came after them.
    """

    margin_pp: float = 5.0
    second_margin_pp: float = 10.0
    alpha: float = 0.05
    chance: float = 0.0
    bootstrap_resamples: int = 10_000
    seed: int = DEFAULT_SEED
    gates: GatePolicy = field(default_factory=GatePolicy)
    directions: tuple[tuple[str, str], ...] = ()
    readers: tuple[str, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    formats: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    noise_repeats: int = 0
    secondary: tuple[str, ...] = ()
    planned: bool = False
    late: str = ""
    scripted: tuple[str, ...] = ()

    @classmethod
    def of_plan(cls, plan: StudyPlan) -> "Settings":
        """Return what a plan decides; no directions in a plan are all ordered pairs of models."""
        models = tuple(model.key for model in plan.models)
        pairs = tuple((old, new) for old in models for new in models if old != new)
        scripted = [model.key for model in plan.models if model.engine == "scripted"]
        scripted += [part.key for part in plan.embedders if part.engine == "scripted"]
        return cls(
            margin_pp=plan.analysis.margin_pp,
            alpha=plan.analysis.alpha,
            chance=plan.analysis.chance,
            bootstrap_resamples=plan.analysis.bootstrap_resamples,
            seed=plan.seed,
            gates=plan.analysis.gates,
            directions=plan.directions or pairs,
            readers=models,
            contrasts=plan.analysis.contrasts,
            formats=plan.formats,
            tests=tuple(name for name, settings in plan.tests if settings is not None),
            noise_repeats=sum(
                getattr(settings, "noise_repeats", 0) for _, settings in plan.tests if settings
            ),
            secondary=plan.analysis.secondary,
            planned=True,
            scripted=tuple(scripted),
        )

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> "Settings":
        """Return the settings of a stored plan; an empty one gives the defaults."""
        return cls.of_plan(StudyPlan.model_validate(dict(document))) if document else cls()

    def locked_late(self, because: str) -> "Settings":
        """Return the settings of a plan whose lock came after the results: nothing is planned."""
        return replace(self, planned=False, late=because) if because else self

    def as_json(self) -> dict[str, Any]:
        """Return what the numbers depend on."""
        return {
            "margin_pp": self.margin_pp,
            "second_margin_pp": self.second_margin_pp,
            "alpha": self.alpha,
            "chance": self.chance,
            "interval_level": 0.95,
            "bootstrap_resamples": self.bootstrap_resamples,
            "seed": self.seed,
            "gates": self.gates.model_dump(),
            "planned": self.planned,
        }
