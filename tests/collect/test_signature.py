"""Functions get the question, the row or its columns by the names of their parameters."""

from functools import partial

import pytest

from ragstone.collect.signature import wanted
from ragstone.errors import ConfigError
from ragstone.types import Sample

ROW = Sample(id="m1", question="磨坊在哪里？", reference="河边", history=("hello",), language="zh", meta={"team": "north", "年份": 1903})
WHOLE = {**ROW.to_dict(), "team": "north", "年份": 1903}


class Bot:
    def method(self, question):
        return question


def positional_only(q, /, team):
    return q, team


FUNCTIONS = [
    (lambda question: None, [ROW.question], {}),
    (lambda q: None, [ROW.question], {}),
    (lambda text, k=5: None, [ROW.question], {}),
    (lambda question, history: None, [ROW.question], {"history": ("hello",)}),
    (lambda history, q: None, [("hello",), ROW.question], {}),
    (lambda row: None, [], {"row": WHOLE}),
    (lambda row, query: None, [WHOLE, ROW.question], {}),
    (lambda id: None, [], {"id": "m1"}),
    (lambda q, team, 年份=0: None, [ROW.question], {"team": "north", "年份": 1903}),
    (lambda q, ground_truth: None, [ROW.question], {"ground_truth": "河边"}),
    (lambda q, contexts: None, [ROW.question], {"contexts": None}),
    (lambda q, *, history: None, [ROW.question], {"history": ("hello",)}),
    (lambda *, 问题: None, [], {"问题": ROW.question}),
    (lambda *args, **more: None, [ROW.question], {}),
    (lambda q, **more: None, [ROW.question], {}),
    (partial(lambda index, q: None, "index"), [ROW.question], {}),
    (positional_only, [ROW.question], {"team": "north"}),
    (Bot().method, [ROW.question], {}),
]


@pytest.mark.parametrize(("function", "positional", "by_name"), FUNCTIONS)
def test_a_parameter_gets_what_it_is_named_after(function, positional, by_name):
    given = wanted(function, "app:ask", "en").arguments(ROW, "en")
    assert given == (positional, by_name)
    function(*given[0], **given[1])  # Python takes them


@pytest.mark.parametrize(("lang", "near"), [("en", "did you mean `team`?"), ("zh", "是否想写 `team`？")])
def test_a_parameter_without_a_column_is_told_with_the_nearest(lang, near):
    with pytest.raises(ConfigError, match=r"`teem`") as raised:
        wanted(lambda q, teem: None, "app:ask", lang).arguments(ROW, lang)
    assert near in str(raised.value)


@pytest.mark.parametrize(
    ("function", "used"),
    [
        (lambda question: None, {}),
        (lambda q, k=5: None, {}),
        (lambda q, team, 年份=0: None, {"team": "north", "年份": 1903}),
        (lambda q, *, ground_truth: None, {"ground_truth": "河边"}),
        (lambda row: None, {"row": {name: value for name, value in WHOLE.items() if name not in ("reference", "expected_behavior")}}),
    ],
)
def test_what_a_function_uses_of_a_row_is_what_it_is_given_besides_the_question(function, used):
    assert wanted(function, "app:ask", "en").used(ROW) == used


def test_a_function_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="takes no argument"):
        wanted(lambda: None, "app:ask", "en")


def test_what_has_no_readable_signature_gets_the_question():
    assert wanted(str.upper, "str:upper", "en").arguments(ROW, "en")[0] == [ROW.question]
    assert wanted(dict.fromkeys, "dict", "en").question is not None
