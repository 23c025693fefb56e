"""What a judge may write for a verdict: read, or left unread; zh beside en."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.questions.verdicts import read_verdict

CHECK = [
    ("yes ", "supported"),
    ("Yes.", "supported"),
    ("yes - stated in chunk 1", "supported"),
    (True, "supported"),
    (1, "supported"),
    (1.0, "supported"),
    ("1", "supported"),
    ("1.0", "supported"),
    ("１", "supported"),
    ("ＹＥＳ", "supported"),
    ("true", "supported"),
    ("TRUE", "supported"),
    ("Supported", "supported"),
    ("**supported**", "supported"),
    ("`supported`", "supported"),
    ("支持", "supported"),
    ("支持。", "supported"),
    ("【支持】", "supported"),
    ("「支持」", "supported"),
    ("完全支持", "supported"),
    ("得到支持", "supported"),
    ("支持（片段1）", "supported"),
    ("支持：片段1写明", "supported"),
    ("supported by chunk 1", "supported"),
    ("fully supported", "supported"),
    ("it is supported", "supported"),
    ("The claim is supported", "supported"),
    ("verdict: supported", "supported"),
    ("判定：支持", "supported"),
    ("是", "supported"),
    ("是的", "supported"),
    ("对", "supported"),
    ("正确", "supported"),
    ("✅", "supported"),
    ("✔️", "supported"),
    ("supported, see context 2", "supported"),
    ("yes, it is stated", "supported"),
    ("yes: chunk 1", "supported"),
    ("yes — chunk 2", "supported"),
    ("1 - stated", "supported"),
    ("supports", "supported"),
    ("entailed", "supported"),
    ("Supported (chunk 2)", "supported"),
    ("有依据", "supported"),
    ("被支持", "supported"),
    ("可以推出", "supported"),
    ("mentioned", "supported"),
    ("提到", "supported"),
    ("supported: true", "supported"),
    ('"yes"', "supported"),
    ("(yes)", "supported"),
    ("supported!", "supported"),
    ("yes\n", "supported"),
    ("\u3000支持\u3000", "supported"),
    ("支持该说法", "supported"),
    ("directly stated", "supported"),
    ("已提及", "supported"),
    ("Y", "supported"),
    ("T", "supported"),
    ("is supported", "supported"),
    ("有据可查", "supported"),
    ("能推出", "supported"),
    ("supported\nbecause context 1 says so", "supported"),
    ("no\n", "not_found"),
    ("no", "not_found"),
    ("No.", "not_found"),
    (False, "not_found"),
    (0, "not_found"),
    (0.0, "not_found"),
    ("0", "not_found"),
    ("false", "not_found"),
    ("不支持", "not_found"),
    ("不支持。", "not_found"),
    ("不支持，片段没有提到", "not_found"),
    ("not_found", "not_found"),
    ("Not found", "not_found"),
    ("not-found", "not_found"),
    ("NOT FOUND", "not_found"),
    ("not supported", "not_found"),
    ("unsupported", "not_found"),
    ("isn't supported", "not_found"),
    ("is not supported", "not_found"),
    ("Isn’t supported", "not_found"),
    ("not mentioned", "not_found"),
    ("unknown", "not_found"),
    ("idk", "not_found"),
    ("IDK", "not_found"),
    ("I don't know", "not_found"),
    ("I don’t know", "not_found"),
    ("未提及", "not_found"),
    ("没有提及", "not_found"),
    ("没有提到", "not_found"),
    ("未提到", "not_found"),
    ("无法判断", "not_found"),
    ("無法判斷", "not_found"),
    ("不知道", "not_found"),
    ("未找到", "not_found"),
    ("没找到", "not_found"),
    ("找不到", "not_found"),
    ("can't tell", "not_found"),
    ("cannot determine", "not_found"),
    ("cannot be determined", "not_found"),
    ("not stated", "not_found"),
    ("not directly supported", "not_found"),
    ("doesn't support", "not_found"),
    ("not enough information", "not_found"),
    ("no evidence", "not_found"),
    ("否", "not_found"),
    ("不是", "not_found"),
    ("没有", "not_found"),
    ("没有依据", "not_found"),
    ("无依据", "not_found"),
    ("并未提及", "not_found"),
    ("未被支持", "not_found"),
    ("没有得到支持", "not_found"),
    ("未得到支持", "not_found"),
    ("not_found - nothing about it", "not_found"),
    ("no - not stated in chunk 1", "not_found"),
    ("no, the context is silent", "not_found"),
    ("❌", "not_found"),
    ("missing", "not_found"),
    ("absent", "not_found"),
    ("not mentioned in any context", "not_found"),
    ("信息不足", "not_found"),
    ("不能推出", "not_found"),
    ("无法推出", "not_found"),
    ("沒有提及", "not_found"),
    ("is not mentioned", "not_found"),
    ("not_found: no context says so", "not_found"),
    ("neither supported nor contradicted", "not_found"),
    ("不对", "not_found"),
    ("never mentioned", "not_found"),
    ("The claim is not supported.", "not_found"),
    ("不支持该说法", "not_found"),
    ("未说明", "not_found"),
    ("cannot be verified", "not_found"),
    ("N", "not_found"),
    ("未支持", "not_found"),
    ("无支持", "not_found"),
    ("contradicted", "contradicted"),
    ("Contradicts", "contradicted"),
    ("contradiction", "contradicted"),
    ("矛盾", "contradicted"),
    ("相矛盾", "contradicted"),
    ("与上下文矛盾", "contradicted"),
    ("冲突", "contradicted"),
    ("contradicted - chunk 1 says 10 days, not 12", "contradicted"),
    ("contradicted by context 2", "contradicted"),
    ("存在矛盾", "contradicted"),
    ("refuted", "contradicted"),
    ("wrong", "contradicted"),
    ("错误", "contradicted"),
    ("contradicted: chunk 2 says no", "contradicted"),
    ("is contradicted", "contradicted"),
    ("incorrect", "contradicted"),
    ("不一致", "contradicted"),
    ("有冲突", "contradicted"),
    ("被反驳", "contradicted"),
    ("maybe", None),
    ("partially", None),
    ("partially supported", None),
    ("Partly", None),
    ("部分支持", None),
    ("可能", None),
    ("null", None),
    (None, None),
    (2, None),
    (-1, None),
    (0.5, None),
    ("2", None),
    ("0.5", None),
    ("1.5", None),
    ("1 of 3", None),
    ("1/2", None),
    ("not contradicted", None),
    ("isn't contradicted", None),
    ("不矛盾", None),
    ("没有矛盾", None),
    ("并不矛盾", None),
    ("no contradiction", None),
    ("no conflict", None),
    ("yes, but", None),
    ("no, but", None),
    ("yes/no", None),
    ("yes or no", None),
    ("supported|contradicted|not_found", None),
    ("supported or contradicted", None),
    ("supported?", None),
    ("", None),
    ("  ", None),
    ("对不起", None),
    ("对不起，我无法回答", None),
    ("是否支持", None),
    ("支持不足", None),
    ("yes and no", None),
    ("supported: false", None),
    ("supported - not really", None),
    ("yes, not supported", None),
    ("supported in part", None),
    ("mostly supported", None),
    ("似乎支持", None),
    ("-1", None),
    ("10", None),
    ("01", None),
    ("1 or 0", None),
    ("1,2", None),
    ([], None),
    ({}, None),
    ("½", None),
    ("not unsupported", None),
    ("不缺失", None),
    ("support is lacking", None),
    ("useful?", None),
    ("n/a", None),
    ("none", None),
    ("no doubt", None),
    ("right or wrong", None),
    ("not missing", None),
    ("un supported yes", None),
    ("不完全支持?", None),
    ("支持但有误", None),
    ("supported except the date", None),
    ("[1, 0]", None),
    ("true/false", None),
    ("yes no", None),
    ("nan", None),
    (float("nan"), None),
    (float("inf"), None),
    ("!supported", None),
    ("不不支持", None),
    ("hardly supported", None),
    ("supported by none", None),
    ("不是不支持", None),
    ("1%", None),
    ("yesterday", None),
    ("nothing", None),
    ("不错", None),
    ("对此无法判断", None),
    ("1 2", None),
    ("是支持还是矛盾", None),
    ("不支持或矛盾", None),
    ("not found or contradicted", None),
    ("无矛盾", None),
    ("Yes and contradicted", None),
    ("支持吗", None),
    ("支持吗？", None),
    ("未必支持", None),
    ("不一定支持", None),
    ("不确定", None),
    ("not necessarily supported", None),
    ("not sure", None),
    ("not only supported", None),
]

USEFUL = [
    ("useful", 1),
    ("Useful.", 1),
    (1, 1),
    (True, 1),
    ("yes", 1),
    ("1", 1),
    ("有用", 1),
    ("相关", 1),
    ("relevant", 1),
    ("helpful", 1),
    ("有帮助", 1),
    ("useful because it names the days", 1),
    ("relevant to the question", 1),
    ("1 (useful)", 1),
    ("1：有用", 1),
    ("supported", 1),
    ("与问题相关", 1),
    ("not useful", 0),
    (0, 0),
    (False, 0),
    ("no", 0),
    ("0", 0),
    ("useless", 0),
    ("irrelevant", 0),
    ("not relevant", 0),
    ("isn't relevant", 0),
    ("无用", 0),
    ("没用", 0),
    ("没有用", 0),
    ("不相关", 0),
    ("无关", 0),
    ("没有帮助", 0),
    ("not helpful", 0),
    ("unrelated", 0),
    ("无帮助", 0),
    ("不支持", 0),
    ("0 - off topic", 0),
    ("0：无关", 0),
    ("not_useful", 0),
    ("not really useful", 0),
    ("毫无用处", 0),
    ("partially useful", None),
    ("maybe", None),
    (2, None),
    ("not irrelevant", None),
    ("不无关", None),
    ("部分有用", None),
    ("useful: 0", None),
    ("unknown", None),
    ("somewhat relevant", None),
    ("没有关系", None),
    ("0.5", None),
    ("useful/not useful", None),
]

COVERED = [
    ("covered", "covered"),
    ("Covered.", "covered"),
    (1, "covered"),
    (True, "covered"),
    ("yes", "covered"),
    ("已覆盖", "covered"),
    ("覆盖", "covered"),
    ("包含", "covered"),
    ("covered by a1", "covered"),
    ("提到", "covered"),
    ("有", "covered"),
    ("supported", "covered"),
    ("mentioned", "covered"),
    ("included", "covered"),
    ("missing", "missing"),
    ("Missing.", "missing"),
    ("not covered", "missing"),
    ("uncovered", "missing"),
    ("isn't covered", "missing"),
    (0, "missing"),
    (False, "missing"),
    ("no", "missing"),
    ("未覆盖", "missing"),
    ("没有覆盖", "missing"),
    ("没覆盖", "missing"),
    ("不覆盖", "missing"),
    ("缺失", "missing"),
    ("遗漏", "missing"),
    ("not mentioned", "missing"),
    ("未提及", "missing"),
    ("not found", "missing"),
    ("absent", "missing"),
    ("无", "missing"),
    ("not included", "missing"),
    ("contradicted", "missing"),
    ("不支持", "missing"),
    ("missing - the answer does not say it", "missing"),
    ("未涵盖", "missing"),
    ("没有", "missing"),
    ("partially covered", None),
    ("部分覆盖", None),
    ("not missing", None),
    ("没有遗漏", None),
    ("未遗漏", None),
    ("maybe", None),
    ("covered/missing", None),
    ("covered?", None),
    ("没有缺失", None),
    ("unknown", None),
    (3, None),
]

FLAG = [
    (True, True),
    (1, True),
    ("true", True),
    ("yes", True),
    ("是", True),
    ("noncommittal", True),
    ("True", True),
    (False, False),
    (0, False),
    ("false", False),
    ("no", False),
    ("否", False),
    ("not noncommittal", False),
    ("committal", False),
    ("maybe", None),
    (None, None),
    (2, None),
]

CHECK += [
    (s, "not_found")
    for s in ("上下文未提及", "片段中没有提到", "资料里没有说明", "does not mention it", "not in the contexts", "NOT_SUPPORTED")
]
CHECK += [(s, "contradicted") for s in ("不属实", "与上下文不一致", "不符合")]
CHECK += [(s, "supported") for s in ("属实", "与上下文一致", "符合", "支持。片段2没有矛盾")]
CHECK += [
    (s, None)
    for s in ("上下文没有矛盾", "No; contradicted by chunk 1", "yes.no", "true or false", "one", "supportive", "+1", "不支持也不矛盾?")
]


# what is hedged, taken back or denied behind the word is no verdict; what only names its contexts is one
CHECK += [
    (s, None)
    for s in (
        *("可能支持", "可能矛盾", "could be supported", "supported by c1, contradicted by c2", "支持；片段2不支持", "支持（片段2除外）"),
        *(
            "yes, this is a hallucination",
            "是，属于编造",
            "supported, the date is not mentioned",
            "stated differently",
            "stated the opposite",
        ),
        *("contradiction: none", "矛盾：无", "contradiction none", "not_found: no"),
    )
]
CHECK += [
    (s, "supported") for s in ("supported [1]", "支持 (1, 2)", "支持【片段2】", "資料支持", "片段2支持", "支援", "真实", "为真", "确认无误")
]
CHECK += [(s, "not_found") for s in ("neutral", "中立", "未發現", "缺乏依據", "不被上下文支持", "没有相关信息", "not_found [3]")]
CHECK += [(s, "contradicted") for s in ("衝突", "与片段2矛盾", "不真实")]


@pytest.mark.parametrize(("spelling", "verdict"), CHECK)
def test_check(spelling, verdict):
    assert read_verdict(spelling, "check") == verdict


@pytest.mark.parametrize(("spelling", "verdict"), USEFUL)
def test_useful(spelling, verdict):
    read = read_verdict(spelling, "useful")
    assert read == verdict
    assert type(read) is type(verdict)


@pytest.mark.parametrize(("spelling", "verdict"), COVERED)
def test_covered(spelling, verdict):
    assert read_verdict(spelling, "covered") == verdict


@pytest.mark.parametrize(("spelling", "verdict"), FLAG)
def test_flag(spelling, verdict):
    assert read_verdict(spelling, "flag") is verdict


H05 = [
    ["yes ", "Yes.", "no\n", "yes - stated in chunk 1"],
    [1, 1, 0, 1],
    [True, True, False, True],
    ["1", "1.0", "0", "１"],
    ["true", "True", "FALSE", "true."],
    ["支持", "支持。", "不支持", "支持（片段1）"],
    ["supported", "SUPPORTED", "not supported", "Supported: chunk 2"],
    ["是", "对", "否", "是的"],
]


@pytest.mark.parametrize("spellings", H05)
def test_h05_every_spelling_means_yes_yes_no_yes(spellings):
    assert [read_verdict(s, "check") for s in spellings] == ["supported", "supported", "not_found", "supported"]


POSITIVE = ["supported", "entailed", "grounded", "mentioned", "stated", "支持", "提及", "找到", "说明"]
NEGATIONS = [
    "not {}",
    "is not {}",
    "isn't {}",
    "isn’t {}",
    "was not {}",
    "Not {}.",
    "not directly {}",
    "never {}",
    "cannot be {}",
    "NOT {}",
]
NEGATIONS_ZH = ["不{}", "未{}", "没有{}", "没{}", "并未{}", "无法{}", "不能{}", "没有得到{}"]


@pytest.mark.parametrize("word", POSITIVE)
def test_a_negated_word_is_never_read_as_the_word(word):
    for negation in NEGATIONS if word.isascii() else NEGATIONS_ZH:
        assert read_verdict(negation.format(word), "check") == "not_found", negation.format(word)


@pytest.mark.parametrize("word", ["contradicted", "refuted", "conflicting", "missing", "unsupported", "矛盾", "冲突", "缺失", "遗漏"])
def test_a_negated_negative_is_unreadable(word):
    for negation in NEGATIONS if word.isascii() else NEGATIONS_ZH:
        assert read_verdict(negation.format(word), "check") is None, negation.format(word)


@pytest.mark.parametrize("spelling", ["yes, but {}", "supported, although {}", "supported only in {}", "支持，但{}", "supported? {}"])
def test_hedged_words_are_unreadable(spelling):
    assert read_verdict(spelling.format("chunk 1"), "check") is None


@given(st.text(max_size=60) | st.floats() | st.integers() | st.none() | st.booleans() | st.lists(st.integers()))
def test_anything_is_read_as_a_verdict_or_not_at_all(value):
    assert read_verdict(value, "check") in ("supported", "contradicted", "not_found", None)
    assert read_verdict(value, "useful") in (1, 0, None)
    assert read_verdict(value, "covered") in ("covered", "missing", None)
    assert read_verdict(value, "flag") in (True, False, None)


WIDE = str.maketrans({chr(c): chr(c + 0xFEE0) for c in range(0x21, 0x7F)})


@given(st.sampled_from(["supported", "contradicted", "not_found", "yes", "no", "支持", "不支持", "矛盾"]), st.data())
def test_case_width_blanks_and_punctuation_change_nothing(word, data):
    around = data.draw(st.sampled_from(["{}", " {} ", "{}.", "{}。", "\n{}\n", '"{}"', "**{}**", "{}！", "「{}」", "（{}）", "`{}`,"]))
    form = data.draw(st.sampled_from([str, str.upper, str.title, lambda s: s.translate(WIDE)]))
    assert read_verdict(around.format(form(word)), "check") == read_verdict(word, "check")


@given(st.sampled_from(["not supported", "unsupported", "不支持", "maybe", "partially supported", "不矛盾"]), st.text(max_size=20))
def test_no_tail_makes_a_negation_positive(word, tail):
    assert read_verdict(f"{word} {unicodedata.normalize('NFC', tail)}", "check") != "supported"


def test_a_long_text_is_read_by_its_start():
    assert read_verdict("supported - " + "stated in chunk 1 " * 100_000, "check") == "supported"


@pytest.mark.parametrize(
    ("spelling", "vocabulary", "verdict"),
    [
        *(("可能相关", "useful", None), ("highly relevant", "useful", 1), ("非常有用", "useful", 1)),
        *(("沒有幫助", "useful", 0), ("可能覆盖", "covered", None), ("missing: no", "covered", None), ("missing: false", "covered", None)),
        *(("可能回避", "flag", None), ("committal: false", "flag", None), ("明确：否", "flag", None)),
    ],
)
def test_what_is_hedged_or_denied_is_no_verdict_of_the_other_kinds(spelling, vocabulary, verdict):
    assert read_verdict(spelling, vocabulary) == verdict
