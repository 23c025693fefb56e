"""Tokens by question key: read once, last line of a key counts, what nobody knows is not 0."""

import pytest

from ragstone import load
from ragstone.langfuse.usage import Spent, Usage, usage_of

SCORE = '{"sample_id":"q1","metric":"m","value":1,"status":"ok"}\n'


@pytest.fixture
def run(tmp_path):
    def make(replies):
        (tmp_path / "scores.jsonl").write_text(SCORE, encoding="utf-8")
        if replies is not None:
            (tmp_path / "replies.jsonl").write_text(replies, encoding="utf-8")
        return load(tmp_path)

    return make


def test_tokens_of_stored_replies(run):
    lines = [
        '{"key":"aa","usage":{"prompt_tokens":1,"completion_tokens":1}}',
        '{"key":"bb","usage":{"prompt_tokens":20,"completion_tokens":null}}',
        '{"key":"cc","usage":null}',
        '{"key":7,"usage":{"prompt_tokens":9}}',
        '{"key":"dd","usage":{"prompt_tokens":-1,"completion_tokens":"x"}}',
        '{"key":"aa","usage":{"prompt_tokens":10,"completion_tokens":2}}',
        '{"key":"ee","usa',
    ]
    found = usage_of(run("\n".join(lines)))
    assert len(found) == 3
    assert found.of(["aa"]) == Spent(10, 2, 1)
    assert found.of(["aa", "bb", "aa", "cc"]) == Spent(30, 2, 2)
    assert found.of(["dd"]) == Spent(0, 0, 1)
    assert found.of(["cc"]) is None
    assert found.of([]) is None


@pytest.mark.parametrize("replies", [None, ""])
def test_a_run_without_replies_knows_nothing(run, replies):
    assert len(usage_of(run(replies))) == 0


def test_many_keys_stay_apart():
    usage = Usage()
    for number in range(3000):
        usage.add(f"{number:032x}", number, 1)
    assert [usage.of([f"{number:032x}"]) for number in (0, 1, 2999)] == [Spent(number, 1, 1) for number in (0, 1, 2999)]
