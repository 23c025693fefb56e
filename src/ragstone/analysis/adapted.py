"""What a judge's endpoint made of the settings and of the prompts, where a reader of the numbers should know it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.analysis.cells import Notice


def adapted(manifest: Mapping[str, Any]) -> Iterator[Notice]:
    """Yield a notice for each thing that may have moved the numbers.

    A temperature that had to be left out (its default makes noise) or is another than asked for, switches that were added, prompts
    the server has cut, and more than one model that answered.
    """
    judge = manifest.get("judge")
    judge = judge if isinstance(judge, dict) else {}
    parameters = judge.get("parameters")
    yield from _sent(parameters if isinstance(parameters, dict) else {})
    counts = manifest.get("counts")
    cut = counts.get("prompt_cut") if isinstance(counts, dict) else None
    if isinstance(cut, int) and cut > 0:
        yield Notice("prompt_cut", (("n", cut),))
    models = judge.get("answered_by")
    if isinstance(models, list) and len(models) > 1:
        yield Notice("several_models", (("models", ", ".join(map(str, models))),))


def _sent(parameters: Mapping[str, Any]) -> Iterator[Notice]:
    if "temperature" in _names(parameters.get("dropped")):
        yield Notice("temperature_not_sent")
    if "temperature" in _names(parameters.get("changed")):
        yield Notice("temperature_changed", (("value", parameters.get("temperature")),))
    if added := _names(parameters.get("added")):
        yield Notice("switch_added", (("names", ", ".join(added)),))


def _names(changes: object) -> list[str]:
    return [str(name) for name in changes] if isinstance(changes, dict) else []
