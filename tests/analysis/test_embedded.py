"""What a summary says of an embedder, from manifests of every kind."""

import pytest

from ragstone.analysis.cells import Notice
from ragstone.analysis.embedded import embedded
from ragstone.text import say


@pytest.mark.parametrize(
    "manifest",
    [{}, {"embedder": None}, {"embedder": {}}, {"embedder": {"parameters": []}}]
    + [{"embedder": {"model": "e", "parameters": {"cut_texts": count}}} for count in (0, None, "3", [])],
)
def test_nothing_is_said_where_nothing_is_known(manifest):
    assert list(embedded(manifest)) == []


def test_cut_texts_are_said_with_their_number_and_the_model():
    (notice,) = embedded({"embedder": {"model": "bge-large-zh", "parameters": {"cut_texts": 3}}})
    assert notice == Notice("texts_cut", (("count", 3), ("model", "bge-large-zh")))
    for lang, word in (("en", "3 texts"), ("zh", "3 条文本")):
        said = say(f"show.warning_{notice.code}", lang, **dict(notice.values))
        assert word in said
        assert "bge-large-zh" in said
