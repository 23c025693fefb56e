"""Which column of a file is which field of a sample. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ragstone.errors import ConfigError
from ragstone.text import say
from ragstone.types import Language

ALIASES: dict[str, tuple[str, ...]] = {
    "id": (),
    "question": ("user_input", "query", "input", "问题"),
    "answer": ("response", "output", "actual_output", "回答"),
    "contexts": ("retrieved_contexts", "retrieval_context", "检索片段"),
    "reference": ("ground_truth", "ground_truths", "expected_output", "参考答案", "标准答案"),
    "reference_points": (),
    "reference_alternatives": (),
    "reference_contexts": ("ground_truth_contexts", "标准片段"),
    "context_ids": ("retrieved_context_ids",),
    "reference_context_ids": (),
    "context_scores": (),
    "context_sources": (),
    "expected_behavior": (),
    "answerable": (),
    "history": (),
    "error": (),
    "answer_raw": (),
    "citations": (),
    "latency_s": (),
    "usage": (),
    "language": (),
    "meta": (),
}
"""Fields of a row and the other names each is read under."""

NEEDED_BY: dict[str, tuple[str, ...]] = {
    "question": ("answer_relevancy", "context_precision"),
    "answer": ("faithfulness", "answer_relevancy", "answer_correctness"),
    "contexts": ("faithfulness", "context_precision", "context_recall", "keyword_recall"),
    "reference": ("context_precision", "context_recall", "answer_correctness"),
    "reference_points": ("context_precision", "context_recall", "answer_correctness"),
    "reference_alternatives": ("context_precision", "context_recall", "answer_correctness"),
    "reference_contexts": ("keyword_recall",),
}
"""Metrics that read a column, for the texts of problems."""

_FIELD_OF = {name.casefold(): field for field, names in ALIASES.items() for name in (field, *names)}
_NEAR = 0.82


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of one source: `mapped` (field -> column) comes first, then the known names, whatever their case."""

    mapped: Mapping[str, str]

    def field(self, column: str) -> str | None:
        """Return the field a column holds, or None for one that goes to `meta`."""
        for field, name in self.mapped.items():
            if name == column:
                return field
        found = _FIELD_OF.get(column.strip().casefold())
        return None if found in self.mapped else found


def resolve_mapping(mapping: Mapping[str, str], lang: Language) -> Columns:
    """Check a mapping of fields to columns (`--map reference=标准`).

    Raises:
        ConfigError: a field that does not exist (the nearest name is given), or one column for two fields.
    """
    mapped: dict[str, str] = {}
    for name, column in mapping.items():
        field = _FIELD_OF.get(name.strip().casefold())
        if field is None and column.strip().casefold() in _FIELD_OF:
            raise ConfigError(say("samples.map_swapped", lang, name=name, column=column))
        if field is None:
            nearest = get_close_matches(name.casefold(), list(_FIELD_OF), n=1, cutoff=0)[:1]
            raise ConfigError(
                say(
                    "samples.map_unknown",
                    lang,
                    name=name,
                    nearest=_FIELD_OF[nearest[0]] if nearest else "question",
                    known=", ".join(ALIASES),
                )
            )
        if field in mapped or column in mapped.values():
            raise ConfigError(say("samples.map_twice", lang, name=name, column=column))
        mapped[field] = column
    return Columns(mapped)


def misspelt(column: str) -> str | None:
    """Return the known column name that `column` is probably meant to be, or None."""
    near = get_close_matches(column.strip().casefold(), list(_FIELD_OF), n=1, cutoff=_NEAR)
    return near[0] if near else None
