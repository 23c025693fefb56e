"""What the doctor finds, as codes and values; the words stand in the text catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["yes", "no", "unknown"]
MOST = 14
"""Requests of one examination, repeats included."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing probed. `code` names the texts `doctor.found_<code>` and `doctor.does_<code>`, `values` fill their slots."""

    probe: str
    """What was probed: the text `doctor.probe_<probe>`."""
    state: State
    """yes: as a run wants it; no: not so, or refused; unknown: could not be told."""
    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found of one model."""

    model: str
    endpoint: str
    """Address without credentials; `local`, `scripted` and the like where nothing is sent."""
    findings: tuple[Finding, ...] = ()
    requests: int = 0
    usable: bool = True
    trouble: str | None = None
    """Why it cannot be used: address, status, what the endpoint said, and the setting to change."""
    advice: Mapping[str, Any] = field(default_factory=dict)
    """Settings of its table that follow from what was found."""
    kept: bool = False
    """Whether what was found is remembered for later runs."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in force: dotted name, value as text, and where it came from."""

    name: str
    value: Any
    origin: str
    """`flag`, `environment NAME`, the file's name, `judge` (taken over from the judge's) or `default`."""
