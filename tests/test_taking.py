from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.needs import sample

from ragstone.taking import Comparison, judged_digest

ROW = sample(question="q", answer="a", contexts=["c"]).to_dict()
TABLES = st.dictionaries(st.sampled_from(["s1", "s2", "样本三", "s4", "s5"]), st.sampled_from(["a", "b"]))


def rows(table: dict[str, str]) -> list[dict[str, Any]]:
    return [{"id": name, "answer": answer} for name, answer in table.items()]


@given(TABLES, TABLES)
def test_law_rows_are_compared_as_dicts_would(before: dict[str, str], now: dict[str, str]) -> None:
    found = Comparison(rows(before))
    found.compare(rows(now))
    changed = {name for name in before if name in now and before[name] != now[name]}
    gone = set(before) - set(now)
    names = {*before, *now, "never"}
    assert (found.before, found.now, found.gone, found.changed) == (len(before), len(now), len(gone), len(changed))
    assert {name for name in names if found.is_gone(name)} == gone
    assert {name for name in names if found.is_changed(name)} == changed
    assert {name for name in names if name in found} == set(now)


def test_a_row_that_was_held_twice_counts_once_and_as_it_was_last() -> None:
    found = Comparison([{"id": "s1", "answer": "a"}, {"id": "s1", "answer": "b"}])
    found.compare([{"id": "s1", "answer": "b"}])
    assert (found.before, found.changed, found.gone) == (1, 0, 0)


def test_meta_and_scores_of_the_retriever_change_nothing_judged() -> None:
    assert judged_digest(ROW) == judged_digest({**ROW, "meta": {"x": 1}, "context_ids": ["7"], "latency_s": 3.0})
    assert judged_digest(ROW) == judged_digest({**ROW, "contexts": [{"text": "c", "score": 0.3}]})
    assert judged_digest(ROW) != judged_digest({**ROW, "answer": "a9"})
    assert judged_digest(ROW) != judged_digest({**ROW, "expected_behavior": "refuse"})
