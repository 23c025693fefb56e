"""What every table of settings is: a frozen record, strictly typed, that refuses keys it does not know."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Many = Annotated[tuple[str, ...], Field(strict=False)]
"""Several texts: a list in the file, commas on the command line."""


class Settings(BaseModel):
    """A table of settings: frozen, strictly typed, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())
