"""Kind split_claims."""

import json

import pytest

from ragstone.questions.base import Failed
from ragstone.questions.split_claims import KIND, SplitClaim, ask, is_behaviour

ZH = "差旅报销须在出差结束后15天内提交。超期提交需要部门负责人签字！发票丢失可用电子版代替；"
EN = "A second-year employee gets 12 days. Unused days lapse on 31 March."


def talk(text=EN, language="en", of="answer", question="q"):
    return ask(of, question, text, language=language, repeat=0)


def texts(claims):
    return [claim.text for claim in claims]


def test_claims_and_anchors(driver):
    said = {"claims": [{"text": "A second-year employee gets 12 days.", "anchor": "gets 12 days"}, {"text": "x", "anchor": "not there"}]}
    assert driver.script(talk(), said) == [SplitClaim("A second-year employee gets 12 days.", "gets 12 days"), SplitClaim("x")]
    assert driver.inputs == [{"of": "answer", "question": "q", "text": EN}]
    assert list(driver.inputs[0]) == ["of", "question", "text"]


def test_anchors_are_looked_for_after_folding(driver):
    said = {"claims": [{"text": "a", "anchor": "１５天内 提交"}, {"text": "b", "anchor": "16天内"}, {"text": "c", "anchor": "。"}]}
    assert [c.anchor for c in driver.script(talk(ZH, "zh"), said)] == ["１５天内 提交", None, None]


@pytest.mark.parametrize(
    "said",
    [
        {"claims": [{"text": "a"}, {"text": "b"}]},
        {"claims": ["a", "b"]},
        ["a", "b"],
        [{"text": "a", "anchor": None}, "b"],
        {"claims": [{"text": " a "}, {"text": "  "}, "", {"text": "b", "anchor": 5}]},
        {"claims": [{"text": "a"}, {"text": "the material is silent on c", "meta": True}, {"text": "b", "meta": False}]},
    ],
)
def test_shapes(driver, said):
    assert texts(driver.script(talk(), said)) == ["a", "b"]


def test_parsed_is_in_wire_shape():
    reading = KIND.read({"text": EN}, json.dumps(["a", {"text": "b", "anchor": " c ", "meta": "yes", "more": 1}]))
    assert reading.parsed == {"claims": [{"text": "a", "anchor": None}, {"text": "b", "anchor": "c", "meta": True}]}


@pytest.mark.parametrize(
    "said", [{"claims": [{"text": "a"}, {"claim": "b"}]}, {"claims": [1]}, {"claims": [{"text": None}]}, {"statements": ["a"]}]
)
def test_no_claim_is_lost_in_a_malformed_reply(driver, said):
    assert texts(driver.script(talk(), said, {"claims": ["a", "b"]})) == ["a", "b"]


@pytest.mark.parametrize("said", ['{"claims":[]}', '```json\n{"claims": []}\n```'])
def test_no_claims(driver, said):
    assert driver.script(talk("Hello!"), said) == []


@pytest.mark.parametrize("said", ["[]", "```json\n[]\n```"])
def test_a_bare_empty_list_is_believed_when_it_comes_again(driver, said):
    assert driver.script(talk("Hello!"), said, said) == []
    assert texts(driver.script(talk("It is 5."), said, '{"claims":[{"text":"It is 5."}]}')) == ["It is 5."]


@pytest.mark.parametrize("text", ["", " \n", "　"])
def test_a_blank_text_is_not_asked_about(driver, text):
    assert driver.script(talk(text)) == []


MARKED = [
    "【行为】{}",
    "【行為】{}",
    "[行为] {}",
    "[behaviour] {}",
    "[behavior]{}",
    "[Behaviour]: {}",
    "【behaviour】{}",
    " ［行为］：{}",
    "【 行为 】 {}",
]


@pytest.mark.parametrize("marked", MARKED)
@pytest.mark.parametrize(
    ("language", "marker", "body"), [("zh", "【行为】", "先问清停电区域。"), ("en", "[behaviour] ", "Asks which area is affected.")]
)
def test_behaviour_markers_are_made_alike(driver, marked, language, marker, body):
    assert is_behaviour(marked.format(body))
    result = driver.script(talk("x", language, "reference"), {"claims": [marked.format(body)]})
    assert result == [SplitClaim(marker + body, None, True)]


@pytest.mark.parametrize("text", ["behaviour counts", "行为规范见附录", "see [behaviour] there", "(behaviour) x", ""])
def test_what_is_no_marker(text):
    assert not is_behaviour(text)


def test_a_marker_alone_is_no_claim(driver):
    assert driver.script(talk(), {"claims": ["【行为】", "[behaviour]  ", "a"]}) == [SplitClaim("a")]


def test_a_blank_question_is_empty_on_the_wire(driver):
    driver.script(talk(question=None), [])
    assert driver.inputs[0]["question"] == ""


def test_bad_replies(driver):
    assert driver.script(talk(), "a", "b", "c", "d") == Failed("bad_reply")


SENTENCES = ["甲须签字。", "乙在3.5天内答复！", "丙不得转让；\n", "丁 applies to Mr. Li. ", "戊见附录？"]


@pytest.mark.parametrize("room", [1, 2, 4])
def test_a_truncated_reply_is_asked_for_in_parts_cut_at_sentence_ends(driver, fails, room):
    text = "".join(SENTENCES)

    def judge(asked):
        held = [s.strip() for s in SENTENCES if s.strip() in asked["text"]]
        assert "".join("".join(held).split()) == "".join(asked["text"].split())
        return fails("truncated") if len(held) > room else {"claims": [{"text": s, "anchor": s[:4]} for s in held]}

    result = driver.run(talk(text, "zh"), judge)
    assert texts(result) == [s.strip() for s in SENTENCES]
    assert all(claim.anchor for claim in result)


def test_a_truncated_sentence_fails(driver, fails):
    assert driver.run(talk(), lambda _: fails("truncated")) == Failed("truncated")


@pytest.mark.parametrize("room", [600, 250, 200])
def test_a_prompt_too_long_is_cut_like_a_truncated_reply(driver, fails, room):
    sentences = [f"第{n}条：申请人应当在{n}日内，向窗口提交材料。" for n in range(1, 31)]

    def judge(asked):
        held = [s for s in sentences if s in asked["text"]]
        return fails("too_long") if len(asked["text"]) > room else {"claims": [{"text": s, "anchor": s[:6]} for s in held]}

    result = driver.run(talk("".join(sentences), "zh", "reference"), judge)
    assert texts(result) == sentences
    assert [claim.anchor for claim in result] == [s[:6] for s in sentences]


@pytest.mark.parametrize(
    ("text", "pieces"), [("甲须签字，乙须答复", ["甲须签字，", "乙须答复"]), ("Sign it, then post it.", ["Sign it,", " then post it."])]
)
def test_the_last_resort_is_a_clause(driver, fails, text, pieces):
    result = driver.run(talk(text), lambda asked: fails("truncated") if asked["text"] == text else {"claims": [asked["text"]]})
    assert texts(result) == [piece.strip() for piece in pieces]


def test_a_short_text_is_not_what_makes_a_prompt_too_long(driver, fails):
    assert driver.run(talk(ZH), lambda _: fails("too_long")) == Failed("too_long")
    assert len(driver.asked) == 1
