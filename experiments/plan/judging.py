"""How a plan says that results will be judged: contrasts, margin, correction, exclusion rules."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from experiments.plan.gates import GatePolicy
from experiments.plan.part import Key, PlanPart

ContrastKey = Literal["H1", "H2", "H4a", "H7a"]
# What a plan may name beyond its tests' own figures; what it does not name is unplanned.
Secondary = Literal["by_kind", "by_memory_class", "screening", "contrast_parts"]
# What each contrast is. The words are part of the locked plan.
DEFINITIONS: dict[str, str] = {
    "H1": "mean over histories of P_notes, P = 100 x the mean over the planned directions of 1 - r,"
    " r = (inherited - chance) / (own - chance)",
    "H2": "mean over histories of 100 x the mean over readers of a_full - a_mixed",
    "H4a": "mean over histories of P_notes - P_kg_fixed, P as in H1",
    "H7a": "mean over histories of 100 x the mean over direction x rung of a_raw - a_store",
}


class Contrast(PlanPart):
    """A planned contrast: positive favours the claim. One family is corrected together.

    `definition` is the program's own; a plan may repeat it, to the letter. `equivalence` plans the
    test that the contrast lies within the margin.
    """

    key: ContrastKey
    definition: str = ""
    margin_pp: float = Field(default=5.0, ge=0)
    expected: Literal["greater"] = "greater"
    alpha: float = Field(default=0.05, gt=0, lt=1)
    family: Key = "planned"
    equivalence: bool = False

    @model_validator(mode="before")
    @classmethod
    def _with_its_definition(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and not value.get("definition"):
            return {**value, "definition": DEFINITIONS.get(str(value.get("key")), "")}
        return value

    @model_validator(mode="after")
    def _defined_as_here(self) -> "Contrast":
        if self.definition != DEFINITIONS[self.key]:
            raise PydanticCustomError(
                "definition",
                "the contrast {key} is defined otherwise here: {words}",
                {"key": self.key, "words": DEFINITIONS[self.key]},
            )
        return self


class Exclusions(PlanPart):
    """What is left out and when; each rule is the only one that this version follows."""

    undefined_contrast: Literal["the history is left out of that contrast only, and listed"] = (
        "the history is left out of that contrast only, and listed"
    )
    retained_performance: Literal["undefined below an own-store score of 0.20 above chance"] = (
        "undefined below an own-store score of 0.20 above chance"
    )
    unscored_answers: Literal["the cell is undefined, its verdict is withheld"] = (
        "the cell is undefined, its verdict is withheld"
    )
    attempts: Literal["the first complete attempt of every evaluation"] = (
        "the first complete attempt of every evaluation"
    )
    probes: Literal["quarantined ones are never asked"] = "quarantined ones are never asked"
    histories: Literal["calibration ones are never reported"] = (
        "calibration ones are never reported"
    )


class Analysis(PlanPart):
    """How results will be judged. A contrast without margin or α of its own takes those here."""

    margin_pp: float = Field(default=5.0, gt=0)
    alpha: float = Field(default=0.05, gt=0, lt=1)
    chance: float = Field(default=0.0, ge=0, lt=1)
    unit: Literal["history"] = "history"
    correction: Literal["holm"] = "holm"
    contrasts: tuple[Contrast, ...] = ()
    secondary: tuple[Secondary, ...] = ()
    bootstrap_resamples: int = Field(default=10_000, ge=100)
    exclusions: Exclusions = Exclusions()
    gates: GatePolicy = GatePolicy()

    @model_validator(mode="before")
    @classmethod
    def _contrasts_take_the_studys_own(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get("contrasts"), list | tuple):
            return value
        common = {name: value[name] for name in ("margin_pp", "alpha") if name in value}
        contrasts = [
            {**common, **one} if isinstance(one, Mapping) else one for one in value["contrasts"]
        ]
        return {**value, "contrasts": contrasts}
