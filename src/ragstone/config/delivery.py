"""Settings of what happens to a run afterwards: `[export]` and the steps of a pipeline."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from ragstone.config.base import Many, Settings

ENVIRONMENT = r"\A(?!langfuse)[a-z0-9_-]{1,40}\Z"
"""What Langfuse takes as an environment. One that begins with its own name it would cut or replace without a word."""


class LangfuseSettings(Settings):
    """`[export.langfuse]`: how a run is called in Langfuse; address and keys come from the environment alone."""

    model_config = ConfigDict(regex_engine="python-re")  # the usual one cannot look ahead

    dataset: str | None = None
    """Name of the gold set in Langfuse; its fingerprint is added, so that a changed gold set is a data set of its own."""
    experiment: str | None = None
    """Name of the run in Langfuse; unset = the run's id."""
    environment: str = Field(default="ragstone", pattern=ENVIRONMENT)
    """Environment of traces and scores in Langfuse: lower case, digits, - and _, at most 40; must not begin with `langfuse`."""


class ExportSettings(Settings):
    """`[export]`: where the `export` step of a pipeline sends a run."""

    to: Many = ()
    """Exporters by name."""
    folder: str | None = None
    """Folder of exported files, relative to the file; unset = `exports` in the run folder."""
    langfuse: LangfuseSettings = LangfuseSettings()


Step = Literal["collect", "evaluate", "diagnose", "compare", "gate", "report", "export"]
STEPS: tuple[Step, ...] = ("collect", "evaluate", "diagnose", "compare", "gate", "report", "export")
Steps = Annotated[tuple[Step, ...], Field(strict=False)]
