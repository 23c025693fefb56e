"""What a judge's endpoint made of the settings, where a reader of the numbers should know it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.analysis.cells import Notice


def adapted(manifest: Mapping[str, Any]) -> Iterator[Notice]:
    """Yield a notice for a temperature that had to be left out (its default makes noise) and for switches that were added."""
    judge = manifest.get("judge")
    parameters = judge.get("parameters") if isinstance(judge, dict) else None
    if not isinstance(parameters, dict):
        return
    if "temperature" in _names(parameters.get("dropped")):
        yield Notice("temperature_not_sent")
    if added := _names(parameters.get("added")):
        yield Notice("switch_added", (("names", ", ".join(added)),))


def _names(changes: object) -> list[str]:
    return [str(name) for name in changes] if isinstance(changes, dict) else []
