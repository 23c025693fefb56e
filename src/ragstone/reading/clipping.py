"""Limits on what is judged, for judges with little room. Pure."""

from typing import Any

from ragstone.sentences import cut
from ragstone.types import Context, Sample


def clip(
    sample: Sample, *, top_k: int | None = None, max_context_chars: int | None = None, max_answer_chars: int | None = None
) -> tuple[Sample, dict[str, Any]]:
    """Return `sample` within the limits, and what goes to `detail.clipped`; {} if nothing was cut.

    Args:
        sample: the sample to cut.
        top_k: contexts kept, from the first rank on.
        max_context_chars: characters kept of each context, cut at a sentence end.
        max_answer_chars: characters kept of the answer, cut at a sentence end.

    Returns:
        The sample and e.g. {"contexts_dropped": 2, "contexts_cut": ["c1"], "answer_cut": true}.
    """
    update: dict[str, Any] = {}
    clipped: dict[str, Any] = {}
    if sample.contexts is not None and top_k is not None and len(sample.contexts) > top_k:
        clipped["contexts_dropped"] = len(sample.contexts) - top_k
        update |= {name: _first(getattr(sample, name), top_k, len(sample.contexts)) for name in _PARALLEL}
    if sample.contexts is not None and max_context_chars is not None:
        kept: tuple[Context, ...] = update.get("contexts", sample.contexts)
        update["contexts"] = tuple(_shorter(context, max_context_chars) for context in kept)
        if shortened := [f"c{i}" for i, (old, new) in enumerate(zip(kept, update["contexts"], strict=True), 1) if old is not new]:
            clipped["contexts_cut"] = shortened
    if sample.answer is not None and max_answer_chars is not None and len(sample.answer) > max_answer_chars:
        update["answer"], clipped["answer_cut"] = cut(sample.answer, max_answer_chars), True
    return (sample.model_copy(update=update) if clipped else sample), clipped


_PARALLEL = ("contexts", "context_ids", "context_scores", "context_sources")


def _first(values: tuple[Any, ...] | None, top_k: int, ranks: int) -> tuple[Any, ...] | None:
    return values[:top_k] if values is not None and len(values) == ranks else values


def _shorter(context: Context, limit: int) -> Context:
    return context if len(context.text) <= limit else context.model_copy(update={"text": cut(context.text, limit)})
