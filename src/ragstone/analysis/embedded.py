"""What an embedder made of the texts, where a reader of the numbers should know it."""

from collections.abc import Iterator, Mapping
from typing import Any

from ragstone.analysis.cells import Notice


def embedded(manifest: Mapping[str, Any]) -> Iterator[Notice]:
    """Yield a notice for texts that were probably cut: their cosines stand for the beginnings alone."""
    embedder = manifest.get("embedder")
    parameters = embedder.get("parameters") if isinstance(embedder, dict) else None
    count = parameters.get("cut_texts") if isinstance(parameters, dict) else None
    if isinstance(embedder, dict) and isinstance(count, int) and count > 0:
        yield Notice("texts_cut", (("count", count), ("model", str(embedder.get("model", "?")))))
