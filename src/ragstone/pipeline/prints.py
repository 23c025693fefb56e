"""Fingerprints of what goes into a step and of what comes out of it: equal content, equal fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

import ragstone
from ragstone.store import MANIFEST, SAMPLES, SCORES

DIGITS = 16
"""Hexadecimal digits of a fingerprint."""
_OF_THE_CALL = ("wall_s",)
"""What of a manifest changes with every call, whatever came of it."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a JSON value; the order of keys does not matter."""
    options = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS
    return hashlib.sha256(orjson.dumps(value, default=str, option=options)).hexdigest()[:DIGITS]


def of_file(path: Path) -> str | None:
    """Return the fingerprint of a file's bytes; None if there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:DIGITS]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def of_files(paths: Iterable[Path]) -> dict[str, str | None]:
    """Return the fingerprint of each file by its path; a folder stands for the files below it."""
    every = (one for path in paths for one in (sorted(path.rglob("*")) if path.is_dir() else [path]))
    return {str(path): of_file(path) for path in every if not path.is_dir()}


def of_run(folder: Path) -> dict[str, Any]:
    """Return what steps that read a run depend on: scores, samples, the manifest without how long it took, and the version that reads."""
    manifest = _manifest(folder / MANIFEST)
    kept = {name: value for name, value in manifest.items() if name not in _OF_THE_CALL}
    files = {"scores": of_file(folder / SCORES), "samples": of_file(folder / SAMPLES), "manifest": fingerprint(kept)}
    return {**files, "version": ragstone.__version__}


def _manifest(path: Path) -> Mapping[str, Any]:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):  # whoever reads the run says what is wrong with it
        return {"unreadable": of_file(path)}
    return found if isinstance(found, dict) else {}
