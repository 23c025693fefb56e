import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.needs import play, sample

from ragstone.metrics.keyword_recall import KeywordRecall, pattern, searched
from ragstone.types import Score


def recall(keywords: list[str] | None, *contexts: str) -> Score:
    score, asked = play(KeywordRecall(), sample(contexts=contexts, reference_contexts=keywords), {})
    assert asked == []
    return score


FOUND = [
    ("年假", "员工年假为 5 天", "a Chinese word anywhere"),
    ("响应 分级", "响应分级如下", "blanks between Chinese words"),
    ("响应分级", "响应\n  分级如下", "a line break in the chunk"),
    ("Ⅱ 级", "II级事件", "width and blanks"),
    ("ＶＰＮ", "请先连接vpn", "width and case"),
    ("（二）", "见(二)款", "full-width brackets"),
    ("25kg", "不超过 25 KG 的行李", "a blank between number and unit"),
    ("iPhone 15", "the iPhone15 Pro", "a blank between word and number"),
    ("15", "iPhone15", "a change from letters to digits parts words"),
    ("1500", "1,500 yuan", "thousands separators"),
    ("1,500,000", "满１５０００００元", "thousands separators and width"),
    ("102", "请到 101，102，103 室", "a Chinese comma groups no digits"),
    ("sick leave", "Sick\tleave is paid", "any white space"),
    ("e-mail", "by e\u2011mail", "kinds of dashes"),
    ("driver's", "the driver’s seat", "kinds of apostrophes"),
    ("reim\u00adburse", "we reimburse", "soft hyphens"),
    ("010-1234", "电话 010-1234-5678", "a piece of a number that dashes part"),
    ("STRASSE", "Hauptstraße: die Straße", "full case folding"),
    ("5", "5, 6 and 7.", "punctuation ends a number"),
    ("3.2", "见第 3.2 节", "a decimal"),
    ("C++", "use C++17", "signs"),
    ("5", "需 3-5 天", "the end of a range"),
    ("5", "附件-5", "behind a hyphen"),
    ("-5℃", "低于 −5 ℃", "a minus of its own"),
    ("C", "vitamin C.", "a letter of its own"),
    ("AppleCare", "AppleCare+ plan", "a plus behind a word"),
]
MISSING = [
    ("II", "III 级", "a word inside a longer one"),
    ("II 级", "III 级", "the same beside Chinese"),
    ("rest", "the interest rate", "inside a word"),
    ("refund", "refunds", "a plural is another word"),
    ("sick leave", "sickleave", "between two words the blank must stand"),
    ("1 2", "12", "between two numbers too"),
    ("5", "15 天", "the end of a number"),
    ("5", "50 天", "its beginning"),
    ("5", "5.5 天", "before the point"),
    ("5", "3.5 天", "behind the point"),
    ("500", "1,500", "behind a thousands separator"),
    ("1", "1,500", "before it"),
    ("été", "étés", "letters with accents are letters"),
    ("5℃", "低于 -5℃", "a minus before it"),
    ("5", "(−5)", "the same in brackets"),
    ("C", "only C++ and C#", "a sign that belongs to the letter"),
    ("值班电话", "值班室电话", "letters between"),
    ("年假", "年\u4e00假", "another character between"),
    ("a.c", "abc", "a keyword is no regular expression"),
]


@pytest.mark.parametrize(("keyword", "text", "why"), [pytest.param(*case, id=f"{case[0]}-{case[2]}") for case in FOUND])
def test_what_is_found(keyword: str, text: str, why: str) -> None:
    assert recall([keyword], text).value == 1.0


@pytest.mark.parametrize(("keyword", "text", "why"), [pytest.param(*case, id=f"{case[0]}-{case[2]}") for case in MISSING])
def test_what_is_missing(keyword: str, text: str, why: str) -> None:
    assert recall([keyword], text).value == 0.0


def test_a_phrase_stands_in_one_chunk_as_a_whole() -> None:
    assert recall(["年假天数"], "年假", "天数").value == 0.0


# Rows of an emergency plan, a list and a contact, as teams write them: keywords under reference_contexts.
ROWS = [
    (
        ["处置等级", "2 类", "3 类", "受影响楼层"],
        ["《停水处置预案》1.4：2 类由后勤主管负责，13 类不在此列……", "1.5：3 类由班组自行处理；2类须上报。", "集合点在北门广场。"],
        2 / 4,
        {"k2": ("c1", "c2"), "k3": ("c2",)},
    ),
    (["备品", "分类目录", "附件", "清单"], ["备品间存放：灯具、线缆、阀门。", "附件 2《备品清单》：阀门 40 只……"], 3 / 4, None),
    (["报修热线", "服务台名录", "0571-ABCD"], ["《服务台名录》：前台 0571-ABCD-EFGH。"], 2 / 3, {"k2": ("c1",), "k3": ("c1",)}),
]


@pytest.mark.parametrize(("keywords", "contexts", "value", "hits"), ROWS)
def test_rows_with_keywords_get_a_number_and_say_which_chunk_holds_what(keywords, contexts, value, hits) -> None:
    score = recall(keywords, *contexts)
    assert score.value == pytest.approx(value, abs=1e-12)
    assert [(v.kind, v.id, v.text) for v in score.verdicts] == [("keyword", f"k{i}", k) for i, k in enumerate(keywords, 1)]
    assert all((v.verdict == "found") == bool(v.evidence) and v.verdict in ("found", "missing") for v in score.verdicts)
    if hits:
        assert {v.id: v.evidence for v in score.verdicts if v.evidence} == hits


def test_equal_keywords_count_once_and_blank_ones_not_at_all() -> None:
    score = recall(["VPN", " vpn ", "ＶＰＮ", "", "  ", "\u200b", "令牌"], "VPN 网关")
    assert score.value == 0.5
    assert [(v.id, v.text) for v in score.verdicts] == [("k1", "VPN"), ("k2", "令牌")]
    assert score.detail == {"merged": 2}
    assert recall(["VPN"], "VPN").detail == {}


@pytest.mark.parametrize("contexts", [[], [""], ["  ", "\t"]])
def test_nothing_retrieved_is_zero(contexts: list[str]) -> None:
    score = recall(["a", "b"], *contexts)
    assert (score.status, score.value, score.reason) == ("ok", 0.0, "no_context")
    assert [(v.verdict, v.evidence) for v in score.verdicts] == [("missing", ())] * 2


def test_a_blank_chunk_among_others_keeps_its_rank() -> None:
    assert recall(["b"], "a", " ", "b").verdicts[0].evidence == ("c3",)


@pytest.mark.parametrize(
    ("columns", "status", "reason"),
    [
        ({"reference_contexts": ["a"]}, "not_applicable", "contexts_missing"),
        ({"contexts": ["a"]}, "not_applicable", "missing:reference_contexts"),
        ({"contexts": ["a"], "reference_contexts": []}, "not_applicable", "missing:reference_contexts"),
        ({"contexts": ["a"], "reference_contexts": ["", " \u3000"]}, "not_applicable", "missing:reference_contexts"),
        ({"contexts": [], "reference_contexts": [""]}, "not_applicable", "missing:reference_contexts"),
        ({"contexts": ["a"], "reference_contexts": ["\u200b"]}, "not_applicable", "missing:reference_contexts"),
        ({"contexts": ["a"], "reference_contexts": ["a"], "error": "timeout: no answer"}, "failed", "collect:timeout"),
    ],
)
def test_the_policies(columns: dict[str, object], status: str, reason: str) -> None:
    score, _ = play(KeywordRecall(), sample(**columns), {})
    assert (score.status, score.reason, score.value) == (status, reason, None)


# ------------------------------------------------------------------ laws
words = st.lists(st.text("aB1.5年假 －-，,Ⅱ", max_size=5), max_size=6)


@given(words, words)
def test_law_in_range_and_never_lower_with_one_more_chunk(keywords: list[str], contexts: list[str]) -> None:
    score = recall(keywords, *contexts)
    if score.value is not None:
        more = recall(keywords, *contexts, " ".join(keywords))
        assert 0 <= score.value <= more.value
        assert more.reason is None or not "".join(keywords).strip()


@given(st.text(max_size=12))
def test_law_a_keyword_is_found_in_itself_and_whatever_its_spelling(keyword: str) -> None:
    if wanted := pattern(keyword):
        for spelling in (keyword, f"（{keyword}）", searched(keyword), f"，\n {keyword} "):
            assert re.search(wanted, searched(spelling))
