"""What every part of a plan is: frozen, and unknown keys are refused."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]


class PlanPart(BaseModel):
    """Base of every part: frozen, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
