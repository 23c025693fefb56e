"""Kind cosine."""

import pytest

from ragstone.questions.base import Failed
from ragstone.questions.cosine import KIND, ask


def test_values_are_rounded_to_six_decimals(driver):
    assert driver.script(ask("a", ["b", "c"]), {"cosines": [0.12345678, -1]}) == (0.123457, -1.0)
    assert driver.inputs == [{"text": "a", "others": ["b", "c"]}]
    assert (driver.asked[0].prompt, driver.asked[0].prompt_hash) == ("", None)


@pytest.mark.parametrize("word", ["embedding_zero", "embedding_missing", "timeout"])
def test_failure_words(driver, fails, word):
    assert driver.script(ask("a", ["b"]), fails(word)) == Failed(word)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "x",
        "[]",
        "{}",
        '{"cosines":null}',
        '{"cosines":["x"]}',
        '{"cosines":[]}',
        '{"cosines":[1,1]}',
        '{"cosines":[1.5]}',
        '{"cosines":[null]}',
    ],
)
def test_unusable(driver, raw):
    assert driver.script(ask("a", ["b"]), raw) == Failed("bad_reply")
    assert KIND.read({"text": "a", "others": ["b"]}, raw).problem
