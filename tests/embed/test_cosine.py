import numpy as np
import orjson
import pytest

from ragstone.embed.cosine import cosines, unusable


@pytest.mark.parametrize(
    ("other", "word"),
    [
        ([1.0, 0.0], None),
        ([1e-20, 0.0], None),
        ([0.0, 0.0], "embedding_zero"),
        ([np.nan, 1.0], "embedding_missing"),
        ([np.inf, 1.0], "embedding_missing"),
        ([], "embedding_missing"),
        ([[1.0, 2.0]], "embedding_missing"),
        ([1.0, 2.0, 3.0], "embedding_dimension"),
    ],
)
def test_vectors_that_have_no_cosine_are_told(other, word):
    vector = np.array([1.0, 2.0], np.float32)
    assert unusable([vector, np.array(other, np.float32)]) == word
    assert unusable([np.array(other, np.float32), vector]) == word


@pytest.mark.parametrize(("number", "word"), [(1e200, "embedding_missing"), (1e-200, "embedding_zero"), (1e100, None), (1e-100, None)])
def test_numbers_whose_squares_are_none_have_no_cosine(number, word):
    vectors = [np.array([number, 0.0]), np.array([1.0, 0.0])]
    assert unusable(vectors) == word
    if word is None:
        assert orjson.loads(cosines(vectors)) == {"cosines": [1.0]}


def test_the_word_of_an_embedder_comes_first():
    assert unusable([np.zeros(2, np.float32), "timeout"]) == "timeout"


def test_cosines_are_of_the_first_with_each_other():
    vectors = [np.array(v, np.float32) for v in ([3, 4], [4, 3], [-3, -4])]
    assert orjson.loads(cosines(vectors)) == {"cosines": [0.96, -1.0]}
