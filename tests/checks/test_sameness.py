"""Rows that ask the same: groups, variants, links, and any order."""

import random

import numpy as np
import pytest
from checks.question_pairs import DIFFERENT, SAME
from hypothesis import given
from hypothesis import strategies as st
from support.checking import found_by_all as found
from support.checking import with_row

from ragstone.checks import alike
from ragstone.checks.base import Gold, Row
from ragstone.checks.wording import same
from ragstone.types import Sample

ASKED = ["密封圈怎么更换？", "应该如何更换密封圈呢？", "请问怎样更换密封圈？"]
ROWS = [{"id": f"q{i}", "question": text, "reference": f"先泄压，再松开螺栓。{'并' * i}"} for i, text in enumerate(ASKED)]


def test_a_group_is_told_once_with_its_rows():
    (finding,) = found(ROWS, "near_duplicate")
    assert (finding.row, finding.severity, finding.values["rows"]) == (1, "warning", (2, 3))
    assert ASKED[1] in finding.text("zh")
    assert "variant_of" in finding.fix("en")


@pytest.mark.parametrize("link", [{"variant_of": "q0"}, {"meta": {"question_id": "q"}}])
def test_rows_that_are_linked_are_variants_on_purpose(link):
    rows = [row | {"reference": "先泄压，再松开螺栓。"} | link for row in ROWS]
    assert found(rows, "near_duplicate") == found(rows, "unlinked_variants") == []


def test_a_cluster_the_user_names_links_as_well():
    rows = [row | {"topic": "seal", "other": row["id"]} for row in ROWS]
    assert found(rows, "near_duplicate", cluster="topic") == []
    assert found(rows, "near_duplicate", cluster="other") != []


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (("q1-v1", "q1-v2"), True),
        (("q1_a", "q1_b"), True),
        (("q1#1", "q1#2"), True),
        (("q1", "q1-para"), True),
        (("leave-1", "leave-2"), False),
        (("v1", "v2"), False),
    ],
)
def test_ids_that_look_like_variants(ids, told):
    texts = [("锅炉的水位低了怎么办？", "立即停炉。"), ("锅炉水位过低的话，当班人员该做什么？", "停炉并上报。")]
    rows = [{"id": id, "question": q, "reference": r} for id, (q, r) in zip(ids, texts, strict=True)]
    assert bool(found(rows, "unlinked_variants")) is told


def test_ids_alone_do_not_make_variants_of_unlike_questions():
    rows = [
        {"id": "q1a", "question": "食堂几点开门？", "reference": "七点。"},
        {"id": "q1b", "question": "谁管理钥匙？", "reference": "门卫。"},
    ]
    assert found(rows, "unlinked_variants") == []


def test_the_same_words_after_other_turns_ask_something_else():
    turns = [[{"role": "user", "content": text}] for text in ("我是实习生", "我是经理")]
    rows = [row | {"history": turn} for row, turn in zip(ROWS, turns, strict=False)]
    assert found(rows, "near_duplicate") == []


def test_near_questions_with_other_answers_contradict():
    rows = with_row(question="请问年假可以休几天呢？", reference="满一年 6 天，满十年 12 天。")
    (finding,) = found(rows, "contradiction")
    assert (finding.row, finding.severity, finding.values["first"]) == (5, "error", 1)
    assert "yes" not in finding.text("en")


def gold(texts, embed):
    return Gold(rows=tuple(Row(i, Sample(id=str(i), question=text)) for i, text in enumerate(texts, 1)), language="zh", embed=embed)


def test_one_question_loads_no_model():
    def never(texts):
        raise AssertionError(texts)

    rows = gold(["年假几天？"], never)
    assert list(alike.pairs(alike.asked(rows.rows), rows, set())) == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_looking_wording_up_finds_every_pair_that_comparing_all_finds(language):
    texts = [text for pair in (*SAME[language], *DIFFERENT[language]) for text in pair]
    rows = tuple(Row(i, Sample(id=str(i), question=text, reference=f"答案如下所示{i // 2}甲乙丙")) for i, text in enumerate(texts, 1))
    alike_all = Gold(rows=rows, language=language, embed=lambda texts: [np.ones(1, np.float32)] * len(texts))
    questions = alike.asked(rows)
    every = {(i, j) for i in range(len(questions)) for j in range(i) if same(questions[i].wording, questions[j].wording, 1.0)}
    assert len(every) > 10
    assert {(max(i, j), min(i, j)) for i, j, sure in alike.pairs(questions, alike_all, set()) if sure} == every


def test_questions_that_nothing_links_are_not_embedded():
    def never(texts):
        raise AssertionError(texts)

    rows = gold([f"第{i}号泵的{what}由谁负责？" for i in range(20) for what in ("检修", "润滑油采购")], never)
    assert list(alike.pairs(alike.asked(rows.rows), rows, set())) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12))
def test_groups_are_disjoint_hold_every_pair_and_ignore_order(linked):
    groups = alike.groups(10, linked)
    places = [place for group in groups for place in group]
    assert len(places) == len(set(places))
    assert all(any({i, j} <= set(group) for group in groups) for i, j in linked if i != j)
    assert groups == alike.groups(10, [(j, i) for i, j in reversed(linked)])


def test_any_order_of_rows_gives_the_same_groups():
    def ids(rows):
        by_number = {i: row["id"] for i, row in enumerate(rows, 1)}
        return {frozenset({f.id, *(by_number[n] for n in f.values["rows"])}) for f in found(rows, "near_duplicate")}

    rows = with_row(question="食堂几点开饭？") + ROWS
    chance = random.Random(1)
    for _ in range(3):
        shuffled = list(rows)
        chance.shuffle(shuffled)
        assert ids(shuffled) == ids(rows) == {frozenset({"q0", "q1", "q2"})}


def test_a_row_that_contradicts_is_told_as_such_only():
    rows = with_row(question="请问年假可以休几天呢？", reference="满一年 6 天，满十年 12 天。")
    assert found(rows, "near_duplicate") == []


@pytest.mark.parametrize(
    ("held", "others"),
    [("水泵怎么检修？", "水泵{}怎么检修？"), ("How is the pump inspected?", "How is the {} pump inspected?")],
)
def test_questions_that_are_not_compared_with_all_alike_are_told(monkeypatch, held, others):
    monkeypatch.setattr(alike, "MOST_SHARING", 3)
    names = ["red", "blue", "green", "white"] if held.isascii() else ["红", "蓝", "绿", "白"]
    rows = [{"id": name, "question": others.format(name), "reference": f"See {name}."} for name in names]
    assert found([{"id": "a", "question": held}, *rows[:3]], "questions_not_compared") == []
    (finding,) = found([{"id": "a", "question": held}, *rows], "questions_not_compared")
    assert (finding.row, finding.id, finding.severity, finding.values["count"]) == (1, None, "note", 1)
    assert "may be missing" in finding.text("en")
    assert "有 1 个" in finding.text("zh")


def test_questions_of_one_answer_that_are_not_all_compared_are_told(monkeypatch):
    monkeypatch.setattr(alike, "MOST_SHARING", 3)
    rows = [
        {"id": name, "question": f"{name}归谁管理？", "reference": "由设备保障部统一管理。"}
        for name in ("水泵", "叉车", "门禁", "电脑", "车位")
    ]
    (finding,) = found(rows, "questions_not_compared")
    assert finding.values["count"] == 1
