"""Which run the numbers come from, as far as its manifest says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ragstone.analysis.cells import Notice
from ragstone.analysis.summary import RunFacts


def manifest_if_readable(path: Path) -> tuple[dict[str, Any], list[Notice]]:
    """Return what a manifest holds, {} and a notice where there is none or it cannot be read."""
    if not path.is_file():
        return {}, [Notice("manifest_missing")]
    try:
        found = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError:
        found = None
    return (found, []) if isinstance(found, dict) else ({}, [Notice("manifest_unreadable")])


def run_facts(manifest: Mapping[str, Any], path: Path | None, notice: str | None) -> RunFacts:
    """Return path, id, signature, notice of a run and what it took; what the manifest does not say is None."""
    known: dict[str, Any] = {name: text_or_none(manifest.get(name)) for name in ("run_id", "signature", "created_at", "gold_fingerprint")}
    took: dict[str, Any] = {name: value if isinstance(value := manifest.get(name), dict) else None for name in ("tokens", "cost")}
    return RunFacts(path=str(path) if path else None, notice=notice, counts=tuple(_counts(manifest)), **known, **took)


def _counts(manifest: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for part in ("counts", "tokens"):
        held = manifest.get(part)
        yield from held.items() if isinstance(held, dict) else ()
    if isinstance(seconds := manifest.get("wall_s"), int | float):
        yield "wall_s", seconds


def text_or_none(value: object) -> str | None:
    """Return what a manifest says as text; None for nothing."""
    return None if value is None else str(value)
