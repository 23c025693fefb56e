import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading.cells import BadCell, Cell, size
from ragstone.reading.columns import ALIASES
from ragstone.reading.fields import read_cell, read_plain
from ragstone.types import Citation, Context


def read(name, value, textual=False, lang="en"):
    return read_cell(name, Cell(value, textual, lang))


PIECES = st.sampled_from(["a", "年假", " ", "\n", "[", "]", '"', "\0", "\ud800", "\ufeff", "{", "null"])
TEXTS = st.lists(PIECES, max_size=4).map("".join)
CELLS = TEXTS | st.lists(TEXTS, max_size=3) | st.lists(TEXTS | st.none() | st.integers(), max_size=3) | st.none() | st.integers()


@given(st.sampled_from(sorted(ALIASES)), CELLS, st.booleans(), st.integers(0, 12))
def test_law_a_plain_cell_is_read_as_any_other(name, value, textual, most):
    plain = read_plain(name, value, most)
    if plain is not None:
        cell = Cell(value, textual, "en")
        found = read_cell(name, cell)
        assert plain == (tuple(context.text for context in found) if name == "contexts" else found)
        assert size(value) <= most
        assert not cell.notes


def test_everyday_cells_are_plain():
    assert read_plain("question", "年假几天？", 15) == "年假几天？"
    assert read_plain("contexts", ["a", " "], 2) == ("a", " ")
    assert read_plain("reference_contexts", ["a", "b"], 2) == ("a", "b")


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (["a", "b"], ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ("['a', \"it's\"]", ["a", "it's"]),
        ("('a', 'b')", ["('a', 'b')"]),
        ("一段纯文本", ["一段纯文本"]),
        ("[1] a footnote first", ["[1] a footnote first"]),
        ("[注] 正文", ["[注] 正文"]),
        ('{"a": 1}', ['{"a": 1}']),
        ([{"text": "a"}, "b"], ["a", "b"]),
        ([{"content": "a"}, {"page_content": "b"}], ["a", "b"]),
        (["", "b", " "], ["", "b", " "]),
        ("[]", []),
        ([], []),
        ([""], []),
        (["  ", "\n"], []),
        ([{"text": ""}], []),
        (r"['a\d']", ["a\\d"]),
    ],
)
@pytest.mark.parametrize("textual", [False, True])
def test_contexts(value, texts, textual):
    assert [c.text for c in read("contexts", value, textual)] == texts


def test_nothing_retrieved_is_not_missing():
    assert read("contexts", None) is None
    assert [read("contexts", cell, textual=True) for cell in ("  ", "null", " None ")] == [None, None, None]
    assert read("contexts", "") == ()
    assert read("contexts", "[]", textual=True) == ()


def test_a_context_keeps_its_parts():
    value = [{"text": "a", "id": 7, "score": 1, "source": "f.pdf", "page": 3, "lang": "zh"}]
    cell = Cell(value, False, "en")
    assert read_cell("contexts", cell) == (Context(text="a", id="7", score=1.0, source="f.pdf"),)
    assert cell.notes == {"context_key": {"page", "lang"}}


def test_plain_text_is_noted():
    cell = Cell("plain", False, "en")
    read_cell("contexts", cell)
    assert cell.notes == {"plain": {""}}


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (5, "must be a list, found a number"),
        ({"text": "a"}, "must be a list, found an object"),
        (True, "found true/false"),
        ([1], "context 1 must be text"),
        (["a", ["b"]], "context 2 must be text or an object with text, found a list"),
        ([None], "found null"),
        ("[1, 2]", "context 1 must be text"),
        ('["a", ["b"]]', "context 2"),
        ('["a", "b', "begins like a list"),
        ('[{"text": "a"', "begins like a list"),
        ("['a' 'b']", "without commas"),
        ("['a'\n 'b']", "without commas"),
        ([{"id": 1}], "its keys are: id"),
        ([{"text": "a", "content": "b"}], "one of text, content, page_content"),
        ([{"text": 5}], "must hold its text"),
        ([{"text": "a", "score": "high"}], "score of context 1 is text"),
        ([{"text": "a", "score": float("inf")}], "score of context 1"),
        ([{"text": "a", "source": 5}], "source of context 1 is a number"),
        ([{"text": "a", "id": True}], "an id must be text or a number"),
        (["a\0"], "NUL"),
    ],
)
def test_bad_contexts(value, part):
    with pytest.raises(BadCell, match=re.escape(part)):
        read("contexts", value)
    with pytest.raises(BadCell, match=r"[\u4e00-\u9fff]"):
        read("contexts", value, lang="zh")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("十天", "十天"),
        ("", None),
        ("  ", None),
        (None, None),
        (["ten days"], "ten days"),
        (["十天", None], "十天"),
        ([], None),
        ([""], None),
        ('["ten days"]', "ten days"),
        ("['十天']", "十天"),
        ("[1]", "[1]"),
        ("[见附录] 十天", "[见附录] 十天"),
    ],
)
def test_reference(value, text):
    assert read("reference", value) == text
    if isinstance(value, str):
        assert read("reference", value, textual=True) == text


@pytest.mark.parametrize("value", [["a", "b"], '["a", "b"]', "['甲', '乙']"])
def test_a_longer_list_under_reference_is_refused(value):
    with pytest.raises(BadCell, match=r"reference_points.*reference_alternatives"):
        read("reference", value, textual=isinstance(value, str))


@pytest.mark.parametrize("name", ["reference_points", "reference_alternatives", "reference_contexts"])
def test_lists_of_texts(name):
    assert read(name, ["a", " ", "b"]) == ("a", "b")
    assert read(name, '["甲","乙"]', textual=True) == ("甲", "乙")
    assert read(name, "['a', 'b']", textual=True) == ("a", "b")
    assert read(name, "值班电话", textual=True) == ("值班电话",)
    assert read(name, []) is None
    assert read(name, "", textual=True) is None
    for wrong in (5, [5], ["a", None], {"a": 1}):
        with pytest.raises(BadCell):
            read(name, wrong)


@pytest.mark.parametrize(
    ("name", "value", "textual", "found"),
    [
        ("answer", "", False, ""),
        ("answer", "  ", False, "  "),
        ("answer", "", True, None),
        ("answer", " \n", True, None),
        ("question", "", False, None),
        ("question", " ", False, None),
        ("id", 7, False, "7"),
        ("id", 7.0, False, "7"),
        ("id", 1.5, False, "1.5"),
        ("id", " a ", False, " a "),
        ("id", "", False, None),
        ("context_ids", [1, "b"], False, ("1", "b")),
        ("context_ids", "[1, 2]", True, ("1", "2")),
        ("context_ids", [], False, ()),
        ("reference_context_ids", ["a"], False, ("a",)),
        ("context_scores", [0.5, None, 1], False, (0.5, None, 1)),
        ("context_scores", "[0.5]", True, (0.5,)),
        ("context_sources", ["a", None], False, ("a", None)),
        ("expected_behavior", "refuse", False, "refuse"),
        ("expected_behavior", " Clarify ", True, "clarify"),
        ("answerable", False, False, False),
        ("answerable", "否", True, False),
        ("answerable", "TRUE", True, True),
        ("answerable", 0, False, False),
        ("history", [{"role": "user", "content": "hi"}, "x"], False, ({"role": "user", "content": "hi"}, "x")),
        ("history", '["a"]', True, ("a",)),
        ("error", "timeout", False, "timeout"),
        ("error", "", False, None),
        ("citations", [{"at": 3, "context": "x"}, {"at": 4}], False, (Citation(at=3, context="x"), Citation(at=4))),
        ("citations", '[{"at": 3, "context": 1}]', True, (Citation(at=3, context=1),)),
        ("latency_s", 2, False, 2.0),
        ("latency_s", "0.25", True, 0.25),
        ("usage", {"total_tokens": 5}, False, {"total_tokens": 5}),
        ("usage", '{"total_tokens": 5}', True, {"total_tokens": 5}),
        ("language", "zh", False, "zh"),
    ],
)
def test_other_fields(name, value, textual, found):
    assert read(name, value, textual) == found


@pytest.mark.parametrize(
    ("name", "value", "textual", "part"),
    [
        ("question", 5, False, "must be text, found a number"),
        ("question", {"a": 1}, False, "found an object"),
        ("question", ["a"], False, "found a list"),
        ("question", "a\0b", False, "NUL"),
        ("answer", 5, False, "found a number"),
        ("answer", True, False, "found true/false"),
        ("reference", 5, False, "found a number"),
        ("reference", [5], False, "found a number"),
        ("id", True, False, "found true/false"),
        ("id", ["a"], False, "found a list"),
        ("id", 1e22, False, "write the id as text"),
        ("context_ids", [None], False, "found null"),
        ("context_ids", 5, False, "must be a list"),
        ("context_scores", ["a"], False, "item 1 must be a number or null, found text"),
        ("context_sources", [5], False, "item 1 must be text"),
        ("expected_behavior", "maybe", False, "maybe is none of answer, refuse, clarify"),
        ("expected_behavior", 5, False, "5 is none of"),
        ("answerable", "perhaps", True, "neither true nor false"),
        ("history", "text", False, "must be a list, found text"),
        ("history", "{}", True, "must be a list, found an object"),
        ("error", 500, False, "must be text"),
        ("citations", [{"at": "x"}], False, "citation 1"),
        ("citations", [{"at": 1, "page": 2}], False, "citation 1"),
        ("citations", [5], False, "citation 1"),
        ("latency_s", -1, False, "no number of seconds"),
        ("latency_s", "fast", True, "fast is no number"),
        ("latency_s", "nan", True, "no number of seconds"),
        ("latency_s", True, False, "no number of seconds"),
        ("usage", [1], False, "must be an object, found a list"),
        ("usage", {"a": {1, 2}}, False, "JSON cannot hold"),
        ("meta", "text", True, "must be an object"),
    ],
)
def test_wrong_types(name, value, textual, part):
    with pytest.raises(BadCell, match=re.escape(part)):
        read(name, value, textual)
    with pytest.raises(BadCell, match=r"[\u4e00-\u9fff]"):
        read(name, value, textual, lang="zh")


def test_the_size_of_a_cell_is_its_utf8():
    assert size("abc") == 3
    assert size("甲") == 3
    assert size(["甲", {"text": "ab"}, None]) == 3 + 6 + 8
    with pytest.raises(UnicodeEncodeError):
        size(["\ud800"])
