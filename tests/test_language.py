import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.language import asks_back, detect, fold, negated, refuses

TEXTS = st.text(st.one_of(st.sampled_from("年假，。！?.-–~ 05１½%°$|`é\u0301İſⅣﬁ⁄:/\u200b"), st.characters()), max_size=40)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("年假为 10 天。", "年假为１０天"),
        ("Second-year staff get 12 days.", "second year STAFF get 12 days"),
        ("“押金”不退！", "押金不退"),
        ("**Bold** `code`", "bold code"),
        ("共1,000元", "共1000元"),
        ("1,000 units", "1000 units"),
        ("10–15天", "10 - 15 天"),
        ("10~15 days", "10-15 days"),
        ("温度−5℃", "温度-5°C"),
        ("占比５％", "占比5%"),
        ("½ 天", "1/2天"),
    ],
)
def test_texts_that_say_the_same_fold_to_the_same(one, other):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3.5 天", "35 天"),
        ("rises 3.5", "rises 35"),
        ("-5 度", "5 度"),
        ("minus: -5", "minus: 5"),
        ("5%", "5"),
        ("百分之5‰", "百分之5%"),
        ("$5", "5"),
        ("¥5", "€5"),
        ("5°", "5"),
        ("1/2 剂量", "12 剂量"),
        ("9:30 开门", "930 开门"),
        ("10-15", "1015"),
        ("> 5", "< 5"),
    ],
)
def test_what_carries_meaning_in_numbers_is_kept(one, other):
    assert fold(one) != fold(other)


@given(TEXTS)
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@given(TEXTS)
def test_folding_does_not_see_the_form_of_characters(text):
    assert fold(unicodedata.normalize("NFC", text)) == fold(unicodedata.normalize("NFD", text))


@given(TEXTS, st.sampled_from(["\n", " ", "\u3000", "。", "“", "！"]))
def test_folding_does_not_see_what_stands_around(text, mark):
    assert fold(mark + text + mark) == fold(text)


def test_punctuation_alone_folds_to_nothing():
    assert fold("？！ … --- 。") == ""


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (("年假有几天？",), "zh"),
        (("How many days?",), "en"),
        (("iPhone 15 Pro Max 的保修期多长",), "zh"),
        (("The word 年 means year in Chinese text",), "en"),
        (("aaaa年",), "zh"),
        (("aaaaa年",), "en"),
        ((None, "  ", "参考答案"), "zh"),
        (("", "english", "中文"), "en"),
        (("2024?", "中文"), "en"),
        ((), "en"),
        ((None,), "en"),
    ],
)
def test_the_first_text_that_is_not_blank_decides_the_language(texts, language):
    assert detect(*texts) == language


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("您指的是A区还是B区？", True),
        ("Is it zone A or B?", True),
        ("请先说明停电影响区域（A 区/B 区/全厂）及当前负荷百分比。", True),
        ("请提供您的订单号。", True),
        ("请您补充所在部门", True),
        ("麻烦告知购买日期", True),
        ("Please tell us which zone is affected.", True),
        ("Could you share the order number.", True),
        ("PLEASE SPECIFY the model.", True),
        ("年假为10天。", False),
        ("Leave is 10 days.", False),
        ("申请时须提交身份证。", False),
        ("详见 https://example.com/a?b=1。", False),
        ("See https://example.com/a?b=1.", False),
        ("", False),
    ],
)
def test_asking_back(text, asks):
    assert asks_back(text) is asks


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("抱歉，我无法回答这个问题。", True),
        ("知识库中未提及该产品的保修期。", True),
        ("未检索到相关内容。", True),
        ("暂无相关信息", True),
        ("根据现有资料，无法确定具体日期。", True),
        ("I'm sorry, but I can't help with that.", True),
        ("I don’t know.", True),
        ("The documents do not mention a refund window.", True),
        ("There is no information about parking in the handbook.", True),
        ("We could not find the policy.", True),
        ("年假为10天。", False),
        ("逾期未提交的，不予报销。", False),
        ("抱歉给您带来不便，退货需在7天内提出。", False),
        ("Unused days lapse on 31 March.", False),
        ("Traders were unsure, some pointed to weak wage data.", False),
        ("", False),
    ],
)
def test_refusing(text, refused):
    assert refuses(text) is refused


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("押金不退", True),
        ("禁止携带宠物", True),
        ("未使用的年假作废", True),
        ("The deposit is not refunded.", True),
        ("You can't bring pets.", True),
        ("Refunds are never paid in cash", True),
        ("不仅退押金，还退运费", False),
        ("押金不得不退", False),
        ("未来三年", False),
        ("非常满意", False),
        ("不超过10天", False),
        ("Not only the deposit is refunded", False),
        ("no later than 5 May", False),
        ("See No. 5", False),
        ("押金可退", False),
        ("The notice is posted", False),
    ],
)
def test_denying(text, denies):
    assert negated(text) is denies


@pytest.mark.parametrize("text", ["ΐ", "İ", "ﬃ", "e \u0301", "ẞ", "①½㈱"])
def test_characters_that_fold_in_several_steps(text):
    assert fold(fold(text)) == fold(text) != ""
