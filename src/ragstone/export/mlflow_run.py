"""What a run is in MLflow: parameters, tags and metrics by name."""

from __future__ import annotations

import importlib.util
import re
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ragstone.export.identity import seed_of

if TYPE_CHECKING:
    from ragstone.export.content import Content

KEY = "ragstone.key"
"""Tag by which the MLflow run of a run is found again."""
LONGEST_PARAM = 500
"""Characters of a parameter that every version of MLflow takes."""
_NO_NAME = re.compile(r"[^\w.\- ]")
"""What MLflow takes in no name."""


def key_of(content: Content) -> str:
    """Return 16 hex digits that tell the run from others."""
    return sha256(seed_of(content).encode("utf-8", "replace")).hexdigest()[:16]


def params_of(content: Content) -> dict[str, str]:
    """Return the parts of the signature by name: what the numbers depend on."""
    version, *parts = (content.facts.signature or "").split(" | ")
    found = {"ragstone": version.removeprefix("ragstone ")} if version else {}
    if parts:
        found["metrics"] = parts.pop(0)
    for part in parts:
        name, _, value = part.partition(" ")
        name = _NO_NAME.sub("_", name) or "part"
        found[name] = f"{found[name]} | {value}" if name in found else value or name
    return {name: value if len(value) <= LONGEST_PARAM else value[: LONGEST_PARAM - 1] + "…" for name, value in found.items()}


def tags_of(content: Content) -> dict[str, str]:
    """Return what says which run it is, and that a smoke test is none to rely on."""
    facts = content.facts
    known = {"run_id": facts.run_id, "signature": facts.signature, "notice": facts.notice, "gold_fingerprint": facts.gold_fingerprint}
    return {KEY: key_of(content), **{f"ragstone.{name}": value for name, value in known.items() if value}}


def metrics_of(content: Content) -> dict[str, float]:
    """Return mean, n, total, coverage and interval of each metric; nothing for what cannot be computed."""
    found = dict[str, float | None]()
    for metric in content.summary.metrics:
        name, ci = _NO_NAME.sub("_", metric.metric), metric.ci
        found[name] = metric.mean
        parts = {"n": metric.n, "total": metric.total, "coverage": metric.coverage}
        found |= {f"{name}.{part}": value for part, value in parts.items()}
        found |= {f"{name}.ci_low": ci.low, f"{name}.ci_high": ci.high} if ci else {}
    return {name: float(value) for name, value in found.items() if value is not None}


def digest_of(path: Path) -> str:
    """Return 16 hex digits that change when the file does."""
    with path.open("rb") as file:
        digest = sha256()
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()[:16]


def is_unmade(uri: str) -> bool:
    """True for a store on this machine that is not there yet: MLflow makes one as soon as it is asked about it."""
    scheme, _, rest = uri.partition(":")
    if scheme == "sqlite":
        path = rest.partition("?")[0].removeprefix("///")
        return importlib.util.find_spec("sqlalchemy") is not None and path != "" and not Path(path).exists()
    if scheme == "file":
        return not Path(unquote(urlsplit(uri).path)).exists()
    return "://" not in uri and not Path(uri).exists() and not uri.startswith(("databricks", "uc"))
