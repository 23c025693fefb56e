"""The local judge: rule-based, deterministic, and open about being a smoke test."""

import asyncio
import json
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.embed.bundled import BundledEmbedder
from ragstone.errors import ConfigError
from ragstone.judge import local_claims
from ragstone.judge.local import LocalJudge
from ragstone.questions.base import Kind, Reading, ask
from ragstone.text import say


@pytest.fixture(scope="module")
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def judge(loop):
    judge = LocalJudge()
    yield judge
    loop.run(judge.close())


@pytest.fixture
def reply(loop, judge):
    def ask_judge(kind, asked, language="en"):
        raw = loop.run(judge.complete(question(kind, asked, language)))
        assert raw.error is None
        return json.loads(raw.text)

    return ask_judge


def question(kind, asked, language="en"):
    return ask(Kind(kind, 1, None, lambda *_: Reading()), language, 0, f"task: {kind}/1", asked)


def numbered(*texts):
    return [{"id": i, "text": text} for i, text in enumerate(texts, 1)]


ZH = [
    "标准保修期：自购买之日起 1 年。保修范围包括非人为损坏的硬件故障。",
    "未使用的年假不得结转至次年。",
    "本单位值班室 010-6655-1234；备用线路 021-5566-7788。",
]
EN = [
    "Second-year staff receive 12 days of annual leave.",
    "Leave left over on 31 March is lost.",
    "The canteen opens at 11:30 on every working day.",
]


# ------------------------------------------------------------------ claims
@pytest.mark.parametrize(
    ("language", "answer", "claims"),
    [
        (
            "zh",
            "标准保修 1 年，自购买之日起算。推荐购买 AppleCare+，延保至 3 年。",
            ["标准保修 1 年，自购买之日起算", "推荐购买 AppleCare+，延保至 3 年"],
        ),
        ("zh", "您好，年假为12天！建议您多关注公告。如有疑问请联系我们。", ["年假为12天！"]),
        ("zh", "请先说明停电影响的区域。您在哪个厂区？", []),
        ("zh", "抱歉，知识库中没有找到相关内容。", []),
        ("zh", "麒麟码头", ["麒麟码头"]),
        ("zh", "储备类别：\n- 防护用品\n2. 消防\n以上。", ["储备类别：防护用品", "储备类别：消防", "以上"]),
        ("en", "Hello! Staff get 12 days. Unused days lapse on 31 March.", ["Staff get 12 days", "Unused days lapse on 31 March"]),
        ("en", "I recommend reading the handbook. Please feel free to ask. Hope this helps!", []),
        (
            "en",
            "I recommend AppleCare+, which extends the warranty to 3 years.",
            ["I recommend AppleCare+, which extends the warranty to 3 years"],
        ),
        ("en", "Sorry, I cannot find any information on that. Which plant do you mean?", []),
        ("en", "See:\nhttps://example.com/handbook\n**Leave** is paid.", ["Leave is paid"]),
        ("en", "", []),
        ("zh", "……", []),
    ],
)
def test_statements_are_claims_and_courtesy_is_not(reply, language, answer, claims):
    got = reply("split_claims", {"of": "answer", "question": "", "text": answer}, language)["claims"]
    assert [claim["text"] for claim in got] == claims
    assert all(claim["anchor"] in answer and len(claim["anchor"]) <= 20 for claim in got if "anchor" in claim)


@pytest.mark.parametrize(
    ("language", "reference", "claims"),
    [
        (
            "zh",
            "应先确认影响区域与关键运行参数；信息不足时提示用户补充，再按级别给出处置步骤，不得编造联系方式。",
            [
                "【行为】应先确认影响区域与关键运行参数",
                "【行为】信息不足时提示用户补充",
                "再按级别给出处置步骤",
                "【行为】不得编造联系方式",
            ],
        ),
        (
            "zh",
            "应如实列出值班电话；检索不到则标注未检索到，不得编造号码。",
            ["应如实列出值班电话", "【行为】检索不到则标注未检索到", "【行为】不得编造号码"],
        ),
        ("zh", "报销单应在出差结束后15天内提交，超期须负责人签字。", ["报销单应在出差结束后15天内提交，超期须负责人签字"]),
        (
            "en",
            "The answer should list the storage categories, and must not invent phone numbers.",
            ["The answer should list the storage categories", "[behaviour] must not invent phone numbers"],
        ),
        ("en", "If the area is unknown it should ask for it.", ["[behaviour] If the area is unknown it should ask for it"]),
        ("en", "Employees must not carry over leave.", ["Employees must not carry over leave"]),
    ],
)
def test_directive_references_become_points(reply, language, reference, claims):
    got = reply("split_claims", {"of": "reference", "question": "", "text": reference}, language)["claims"]
    assert [claim["text"] for claim in got] == claims
    both = reply("split_both", {"question": "", "answer": reference, "reference": reference}, language)
    assert both["reference_claims"] == got
    assert not any(claim["text"].startswith(("【行为】", "[behaviour]")) for claim in both["answer_claims"])


@pytest.mark.parametrize(("claim", "bare"), [("【行为】不得编造", "不得编造"), ("[behaviour] ask first", "ask first"), ("plain", "plain")])
def test_the_behaviour_mark_is_taken_off(claim, bare):
    assert local_claims.unmarked(claim) == bare


# ------------------------------------------------------------------ claims against contexts
@pytest.mark.parametrize(
    ("language", "contexts", "claim", "verdict", "evidence"),
    [
        ("zh", ZH, "标准保修期为1年", "supported", [1]),
        ("zh", ZH, "标准保修期为一年", "supported", [1]),
        ("zh", ZH, "值班室电话为010-6655-1234", "supported", [3]),
        ("zh", ZH, "购买延保可延长至3年", "not_found", []),
        ("zh", ZH, "值班室电话为010-6655-9999", "not_found", []),
        ("zh", ZH, "标准保修期自购买之日起5年", "contradicted", [1]),
        ("zh", ZH, "未使用的年假可以结转至次年", "contradicted", [2]),
        ("zh", ZH, "食堂提供早餐", "not_found", []),
        ("en", EN, "Second-year staff receive 12 days of leave", "supported", [1]),
        ("en", EN, "Second-year staff receive twelve days of annual leave", "supported", [1]),
        ("en", EN, "Second-year staff receive 15 days of annual leave", "contradicted", [1]),
        ("en", EN, "The canteen does not open at 11:30 on every working day", "contradicted", [3]),
        ("en", EN, "The gym opens at 7:00", "not_found", []),
        ("en", EN, "In Berlin the canteen opens at 11:30 on every working day", "not_found", []),
        ("en", [], "The gym opens at 7:00", "not_found", []),
        ("en", ["Prices rose by 5%.", *EN], "Second-year staff receive 5 days of annual leave", "contradicted", [2]),
        (
            "en",
            ["Third-year staff receive 12 days of annual leave."] * 5 + EN,
            "Third-year staff receive 13 days of annual leave",
            "contradicted",
            [1],
        ),
        (
            "en",
            [f"Grade {i} staff receive {i + 8} days of annual leave." for i in range(2, 9)],
            "Grade 7 staff receive 15 days of annual leave",
            "supported",
            [6],
        ),
        ("zh", [f"{i}级员工年假为{i + 8}天。" for i in range(2, 9)], "7级员工年假为15天", "supported", [6]),
        (
            "en",
            [*EN, "Second-year staff receive 15 days of annual leave."],
            "Second-year staff receive 15 days of annual leave",
            "supported",
            [4],
        ),
    ],
)
def test_checks(reply, language, contexts, claim, verdict, evidence):
    (line,) = reply("check_claims", {"contexts": numbered(*contexts), "claims": [{"id": 7, "text": claim}]}, language)["verdicts"]
    assert (line["id"], line["verdict"], line["evidence"]) == (7, verdict, evidence)
    assert line["reason"]
    assert not evidence or line["quote"] in contexts[evidence[0] - 1]
    assert bool(line["quote"]) == bool(evidence)
    assert len(line["quote"]) <= 30


DIALLED = [
    "The support number is 400-800-1234.",
    "Support hotline: 400-800-1234.",
    "Call 020 7946 0958.",
    "Call +44 20 7946 0958!",
    "The desk opens at 9:30: nobody is there before.",
    "Ask for part 120-450, then sign.",
    "客服电话是400-800-1234.",
    "客服电话是400-800-1234。",
    "客服热线：400-800-1234.",
    "值班室电话为 010-6655-1234，夜间有人接听.",
]


@pytest.mark.parametrize("text", DIALLED)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_answer_that_is_its_context_is_supported(reply, language, text):
    claims = reply("split_claims", {"of": "answer", "question": "", "text": text}, language)["claims"]
    asked = {"contexts": numbered(text), "claims": [{"id": i, "text": claim["text"]} for i, claim in enumerate(claims, 1)]}
    lines = reply("check_claims", asked, language)["verdicts"]
    assert lines
    assert [line["verdict"] for line in lines] == ["supported"] * len(lines)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("Second-year staff receive 12 days", "Second-year staff"),
        ("Each passes receives 12 days", "Each passes receives"),
        ("Eight letters or 400-800-1234", "Eight letters or"),
        ("Short", "Short"),
        ("Donaudampfschifffahrtsgesellschaft", "Donaudampfschifffahr"),
        ("未使用的年假不得结转至次年，也不得折算成工资或者转让", "未使用的年假不得结转至次年，也不得折算成"),
        ("外出办公的员工须先行安装好公司 VPN客户端", "外出办公的员工须先行安装好公司 VPN客"),
        ("外出办公的员工须先行安装好公司的GlobalConnect", "外出办公的员工须先行安装好公司的"),
    ],
)
def test_a_beginning_cuts_no_word_and_no_number(text, beginning):
    assert local_claims.beginning(text, 20) == beginning


def test_anchors_and_quotes_end_where_a_word_does(reply):
    text = "Second-year employees everywhere receive twelve additional days."
    (claim,) = reply("split_claims", {"of": "answer", "question": "", "text": text})["claims"]
    (line,) = reply("check_claims", {"contexts": numbered(text), "claims": [{"id": 1, "text": text}]})["verdicts"]
    assert (claim["anchor"], line["quote"]) == ("Second-year", "Second-year employees")


@settings(max_examples=25, deadline=None)
@given(st.integers(13, 10**7), st.sampled_from(ZH + EN))
def test_a_number_that_no_context_holds_is_never_supported(loop, judge, number, context):
    claim = f"{context.rstrip('。.')} {number}"
    raw = loop.run(judge.complete(question("check_claims", {"contexts": numbered(*ZH, *EN), "claims": numbered(claim)})))
    assert json.loads(raw.text)["verdicts"][0]["verdict"] != "supported"


# ------------------------------------------------------------------ contexts
@pytest.mark.parametrize(
    ("language", "asked", "reference", "contexts", "useful"),
    [
        ("zh", "标准保修期多久？", "标准保修期为购买之日起1年。", [*ZH, "食堂十一点半开门。"], [1, 0, 0, 0]),
        ("en", "How much annual leave do second-year staff get?", "Second-year staff get 12 days of annual leave.", EN, [1, 0, 0]),
        ("en", "When does the canteen open?", "", EN, [0, 0, 1]),
    ],
)
def test_useful_contexts(reply, language, asked, reference, contexts, useful):
    listed = numbered(*contexts)[::-1]
    lines = reply("rate_contexts", {"contexts": listed, "question": asked, "reference": reference}, language)["verdicts"]
    assert {line["id"]: line["verdict"] for line in lines} == dict(enumerate(useful, 1))
    assert all(line["reason"] for line in lines)


@pytest.mark.parametrize(("language", "contexts", "asked"), [("zh", ZH, "标准保修期多久？"), ("en", EN, "When does the canteen open?")])
def test_check_all_joins_check_and_rate(reply, language, contexts, asked):
    both = {
        "contexts": numbered(*contexts),
        "claims": numbered("标准保修期为1年", "The canteen opens at 11:30"),
        "question": asked,
        "reference": asked,
    }
    got = reply("check_all", both, language)
    assert got["claims"] == reply("check_claims", both, language)["verdicts"]
    assert got["contexts"] == reply("rate_contexts", both, language)["verdicts"]


# ------------------------------------------------------------------ claims against claims
@pytest.mark.parametrize(
    ("language", "answer", "reference", "verdicts", "covered"),
    [
        ("en", ["A second-year employee gets 12 days"], ["12 days", "Unused leave lapses on 31 March"], [("supported", [1])], [1]),
        ("en", ["Unused leave lapses on 31 May"], ["12 days", "Unused leave lapses on 31 March"], [("contradicted", [2])], []),
        ("en", ["Staff like tea"], ["12 days"], [("not_found", [])], []),
        ("en", ["The 2018 World Cup was held in Russia"], ["Russia"], [("supported", [1])], [1]),
        ("zh", ["保修期为5年", "自购买之日起算"], ["保修期为1年", "从购买之日起算"], [("contradicted", [1]), ("supported", [2])], [2]),
        ("zh", ["年假不可以结转"], ["年假可以结转"], [("contradicted", [1])], []),
        ("zh", ["年假为12天"], [], [("not_found", [])], []),
        ("zh", [], ["年假为12天"], [], []),
    ],
)
def test_matches(reply, language, answer, reference, verdicts, covered):
    asked = {"question": "", "answer_claims": numbered(*answer), "reference_claims": numbered(*reference)}
    got = reply("match_claims", asked, language)
    assert [(line["verdict"], line["matches"]) for line in got["answer"]] == verdicts
    assert [line["id"] for line in got["reference"]] == list(range(1, len(reference) + 1))
    assert [line["id"] for line in got["reference"] if line["verdict"] == "covered"] == covered


# ------------------------------------------------------------------ reverse questions
@pytest.mark.parametrize(
    ("language", "answer", "questions"),
    [
        ("zh", "标准保修期为1年。", ["标准保修期为多少年？", "关于标准保修期有什么规定？", "标准保修期为1年？"]),
        (
            "en",
            "A second-year employee gets 12 days. Leave is paid.",
            ["A second-year employee gets how many days?", "What about leave?", "What about a second-year employee?"],
        ),
        ("en", "The Heron 2 meter weighs 3 kg", ["The Heron 2 meter weighs how many kg?", "The Heron 2 meter weighs 3 kg?"] * 2),
        ("en", "Leave lapses on 31 March at 11:30", ["Leave lapses on 31 March at 11:30?"] * 3),
        ("zh", "值班室 010-6655-1234", ["值班室 010-6655-1234？"] * 3),
        ("zh", "Pro 2 耳机保修1年", ["Pro 2 耳机保修多少年？", "Pro 2 耳机保修1年？"] * 2),
        ("en", "Kirin Pier", ["Kirin Pier?"] * 3),
    ],
)
def test_questions_are_made_from_the_answer(reply, language, answer, questions):
    got = reply("invert_answer", {"answer": answer, "count": 3}, language)["questions"]
    assert [(q["question"].lower(), q["noncommittal"]) for q in got] == [(q.lower(), False) for q in questions[:3]]


@pytest.mark.parametrize("count", [1, 3, 7])
@pytest.mark.parametrize(
    ("language", "answer", "flag"),
    [
        ("zh", "抱歉，知识库中没有找到相关内容。", True),
        ("en", "Sorry, I don't know.", True),
        ("zh", "抱歉，没有找到电话。年假为12天。", False),
        ("en", "I don't know the number. The canteen opens at 11:30.", False),
        ("en", "Hi", False),
    ],
)
def test_a_bare_refusal_is_noncommittal(reply, language, answer, flag, count):
    got = reply("invert_answer", {"answer": answer, "count": count}, language)["questions"]
    assert [q["noncommittal"] for q in got] == [flag] * count
    assert all(q["question"].strip("?？ ") for q in got)


# ------------------------------------------------------------------ identity, threads, determinism
def test_identity_carries_the_notice(judge):
    identity = judge.identity
    assert (identity.model, identity.endpoint, identity.notice) == ("local", "local", "judges.smoke_test")
    assert say(identity.notice, "en") == "local heuristic judge: smoke test, not a measurement"
    assert say(identity.notice, "zh") == "本地启发式评判：仅供试运行，不是测量"


def test_another_kind_is_refused(reply):
    with pytest.raises(ConfigError, match="cosine"):
        reply("cosine", {"text": "a", "others": ["b"]})


def test_a_repeated_ask_is_answered_like_the_first(reply):
    asked = {"contexts": numbered(*EN), "claims": numbered("The canteen opens at 11:30")}
    assert reply("check_claims", {**asked, "previous_reply": "{}", "problem": "ask 2"}) == reply("check_claims", asked)


def test_order_and_concurrency_change_nothing(loop, judge):
    async def gathered(asks):
        return await asyncio.gather(*(judge.complete(q) for q in asks))

    asks = [
        question("check_claims", {"contexts": numbered(*contexts), "claims": numbered(*claims)})
        for contexts in (ZH, EN)
        for claims in (ZH, EN)
    ]
    asks += [question("match_claims", {"question": "", "answer_claims": numbered(*ZH), "reference_claims": numbered(*EN)})]
    asks += [question("rate_contexts", {"contexts": numbered(*EN), "question": claim, "reference": claim}) for claim in ZH + EN]
    alone = {q.key: loop.run(judge.complete(q)).text for q in asks}
    for seed in range(2):
        mixed = random.Random(seed).sample(asks, len(asks))
        assert {q.key: r.text for q, r in zip(mixed, loop.run(gathered(mixed)), strict=True)} == alone


async def test_an_embedder_of_the_caller_is_left_open():
    embedder = BundledEmbedder()
    judge = LocalJudge(embedder)
    await judge.complete(question("split_claims", {"of": "answer", "question": "", "text": "Leave is paid."}))
    await judge.close()
    assert await embedder.work(threading.get_ident) != threading.get_ident()
    await embedder.close()
