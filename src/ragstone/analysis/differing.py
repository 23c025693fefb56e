"""What two runs were made with, and where that differs: then a difference of their numbers may come from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.analysis.cells import Notice

Manifest = Mapping[str, Any]

_FIELDS = ("judge", "embedder", "prompts", "metrics")
_ADDRESS = ("model", "endpoint")
_TOLD = frozenset({"largest_output", "cut_texts", "logprobs", "dropped", "changed", "added"})
"""Parameters that tell how a run went; none of them makes another judge."""
_NOBODY = "none"
MOST = 80
"""Characters of a value that are shown."""


def differing(base: Manifest, new: Manifest, metrics: Iterable[str]) -> Iterator[Notice]:
    """Yield a notice for each part of the setup that two runs do not share, as far as both tell it.

    Args:
        base: manifest of the one run.
        new: manifest of the other.
        metrics: names of the metrics that are compared.

    Manifests without judge, embedder, prompts and metrics are compared by their signature. What only one run tells, or
    neither, may differ as well: `signature_unknown`.
    """
    if not any(base.get(name) for name in _FIELDS) or not any(new.get(name) for name in _FIELDS):
        old, now = base.get("signature"), new.get("signature")
        if old is None or now is None:
            yield Notice("signature_unknown")
        elif old != now:
            yield Notice("signature_differs", (("base", str(old)), ("new", str(now))))
    else:
        if any(bool(base.get(name)) != bool(new.get(name)) for name in _FIELDS):
            yield Notice("signature_unknown")
        yield from _who(base, new)
        yield from _prompts(base.get("prompts"), new.get("prompts"))
        yield from _versions(base.get("metrics"), new.get("metrics"), metrics)
        yield from _setup(base, new)
    old, now = base.get("gold_fingerprint"), new.get("gold_fingerprint")
    if old is not None and now is not None and old != now:
        yield Notice("gold_differs", (("base", str(old)), ("new", str(now))))


def _who(base: Manifest, new: Manifest) -> Iterator[Notice]:
    for part in ("judge", "embedder"):
        old, now = _identity(base.get(part)), _identity(new.get(part))
        if old and now and old != now and _NOBODY not in (old.get("model"), now.get("model")):
            names = [name for name in dict.fromkeys([*old, *now]) if old.get(name) != now.get(name)]
            yield Notice(f"{part}_differs", (("base", _said(old, names)), ("new", _said(now, names))))


def _identity(who: Any) -> dict[str, Any]:
    """Who answers, with what is sent along; a bare name is a model."""
    if not isinstance(who, dict):
        return {"model": who} if who else {}
    parameters = who.get("parameters")
    sent = {name: value for name, value in parameters.items() if name not in _TOLD} if isinstance(parameters, dict) else {}
    return {name: who[name] for name in _ADDRESS if who.get(name) is not None} | sent


def _prompts(old: Any, now: Any) -> Iterator[Notice]:
    if not (isinstance(old, dict) and isinstance(now, dict)):
        if old and now and old != now:
            yield Notice("prompts_differ", (("base", _short(old)), ("new", _short(now))))
        return
    names = [name for name in old if name in now and old[name] != now[name]]
    if names:
        yield Notice("prompts_differ", (("base", _said(old, names)), ("new", _said(now, names))))


def _versions(old: Any, now: Any, metrics: Iterable[str]) -> Iterator[Notice]:
    if not (isinstance(old, dict) and isinstance(now, dict)):
        return
    for metric in metrics:
        before, after = _flat(old.get(metric)), _flat(now.get(metric))
        names = [name for name in before if name in after and before[name] != after[name]]
        if names:
            yield Notice("metric_version_differs", (("metric", metric), ("base", _said(before, names)), ("new", _said(after, names))))


def _setup(base: Manifest, new: Manifest) -> Iterator[Notice]:
    """Plan, language and limits: how texts were cut and questions asked; limits that only one run has do differ."""
    old, now = (_settings(manifest) for manifest in (base, new))
    names = [name for name in dict.fromkeys([*old, *now]) if old.get(name) != now.get(name)]
    if names and _setup_known(base) and _setup_known(new):
        yield Notice("setup_differs", (("base", _said(old, names)), ("new", _said(now, names))))


def _settings(manifest: Manifest) -> dict[str, Any]:
    limits = manifest.get("limits")
    return {name: manifest[name] for name in ("plan", "language") if manifest.get(name)} | (
        dict(limits) if isinstance(limits, dict) else {}
    )


def _setup_known(manifest: Manifest) -> bool:
    return all(name in manifest for name in ("plan", "language", "limits"))


def _flat(metric: Any) -> dict[str, Any]:
    if not isinstance(metric, dict):
        return {}
    parameters = metric.get("parameters")
    return {"version": metric.get("version"), **(parameters if isinstance(parameters, dict) else {})}


def _said(part: Mapping[str, Any], names: Iterable[str]) -> str:
    return ", ".join(f"{name} {_short(part[name])}" for name in names if name in part) or "-"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
