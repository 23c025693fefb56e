"""The texts of a row that people wrote, by column."""

from collections.abc import Iterator

from ragstone.types import Sample

LISTS = ("reference_points", "reference_alternatives", "reference_contexts")


def columns_of(sample: Sample) -> Iterator[tuple[str, str]]:
    """Yield (column, text) of everything a gold row says; the items of a list are one text, a line each."""
    for column, items in items_of(sample):
        yield column, "\n".join(items)


def items_of(sample: Sample) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (column, texts) of everything a gold row says."""
    if sample.question is not None:
        yield "question", (sample.question,)
    if sample.reference is not None:
        yield "reference", (sample.reference,)
    for name in LISTS:
        if items := getattr(sample, name):
            yield name, items


def references_of(sample: Sample) -> tuple[str, ...]:
    """Return every text that says what a right answer is, the reference first."""
    first = () if sample.reference is None else (sample.reference,)
    return (*first, *(sample.reference_points or ()), *(sample.reference_alternatives or ()))
