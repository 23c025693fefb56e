"""The scripted judge answers every kind from a truth table, in the wire format."""

import asyncio
import json
import random

import pytest

from ragstone.errors import ConfigError, ScriptError
from ragstone.judge.scripted import ScriptedJudge
from ragstone.judge.truth import TruthTable
from ragstone.questions.base import Kind, Question, Reading, ask


def question(kind, asked, language="en"):
    return ask(Kind(kind, 1, None, lambda *_: Reading()), language, 0, f"task: {kind}/1", asked)


def reply(judge, kind, asked, language="en"):
    raw = asyncio.run(judge.complete(question(kind, asked, language)))
    assert raw.error is None
    return json.loads(raw.text)


def numbered(*texts):
    return [{"id": i, "text": text} for i, text in enumerate(texts, 1)]


EN = {
    "question": "How long is the warranty?",
    "answer": "The warranty lasts 1 year from purchase. AppleCare+ extends it to 5 years.",
    "reference": "One year; three with AppleCare+.",
    "claims": ["The warranty lasts 1 year", "The warranty runs from purchase", "AppleCare+ extends the warranty to 5 years"],
    "points": ["The warranty is one year", "AppleCare+ extends the warranty to three years", "Batteries are covered"],
    "contexts": ["Standard warranty: 1 year from the date of purchase.", "AppleCare+ makes it three years.", "The canteen opens at 11:30."],
}
ZH = {
    "question": "保修期多久？",
    "answer": "标准保修1年，自购买之日起算。购买 AppleCare+ 可延保至5年。",
    "reference": "一年；AppleCare+ 延至三年。",
    "claims": ["标准保修期为1年", "保修自购买之日起算", "AppleCare+ 可延保至5年"],
    "points": ["保修期为一年", "AppleCare+ 可延保至三年", "电池在保修范围内"],
    "contexts": ["标准保修期：自购买之日起 1 年，含非人为损坏。", "购买 AppleCare+ 后延保至三年。", "食堂十一点半开门。"],
}


def table(words):
    claims, points, contexts = words["claims"], words["points"], words["contexts"]
    return {
        "claims": {words["answer"]: [claims[0], {"text": claims[1], "anchor": words["answer"][:8]}, claims[2]], words["reference"]: points},
        "checks": {
            claims[0]: {"supported": [contexts[0]]},
            claims[1]: {"supported": [contexts[0][:12] + "…", contexts[1]]},
            claims[2]: {"contradicted": [contexts[1]]},
        },
        "useful": {words["question"]: contexts[:2]},
        "matches": {claims[0]: {"supported": [points[0]]}, claims[1]: {}, claims[2]: {"contradicted": [points[1]]}},
        "questions": {words["answer"]: [words["question"], {"question": "?", "noncommittal": True}, "3"]},
    }


BOTH = pytest.mark.parametrize(("language", "words"), [("en", EN), ("zh", ZH)])


def verdicts(lines):
    return {line["id"]: line["verdict"] for line in lines}


@BOTH
def test_split_gives_the_claims_with_their_anchors(language, words):
    got = reply(ScriptedJudge.from_dict(table(words)), "split_claims", {"of": "answer", "question": "", "text": words["answer"]}, language)
    texts = words["claims"]
    assert got == {"claims": [{"text": texts[0]}, {"text": texts[1], "anchor": words["answer"][:8]}, {"text": texts[2]}]}


@BOTH
def test_split_both_splits_answer_and_reference(language, words):
    asked = {"question": "", "answer": words["answer"], "reference": words["reference"]}
    got = reply(ScriptedJudge.from_dict(table(words)), "split_both", asked, language)
    assert [c["text"] for c in got["answer_claims"]] == words["claims"]
    assert [c["text"] for c in got["reference_claims"]] == words["points"]


@BOTH
def test_check_names_all_listed_contexts_and_quotes_the_first(language, words):
    asked = {"contexts": numbered(*words["contexts"]), "claims": numbered(*words["claims"])}
    got = reply(ScriptedJudge.from_dict(table(words)), "check_claims", asked, language)["verdicts"]
    assert verdicts(got) == {1: "supported", 2: "supported", 3: "contradicted"}
    assert [line["evidence"] for line in got] == [[1], [1, 2], [2]]
    for line in got:
        evidence = words["contexts"][line["evidence"][0] - 1]
        assert line["quote"] in evidence
        assert 0 < len(line["quote"]) <= 30
        assert line["reason"]


@BOTH
def test_check_of_a_group_uses_only_what_the_request_holds(language, words):
    asked = {"contexts": [{"id": 3, "text": words["contexts"][2]}], "claims": [{"id": 2, "text": words["claims"][1]}]}
    got = reply(ScriptedJudge.from_dict(table(words)), "check_claims", asked, language)["verdicts"]
    assert [(line["id"], line["verdict"], line["evidence"]) for line in got] == [(2, "not_found", [])]


@BOTH
def test_rate_keeps_ids_whatever_the_order(language, words):
    asked = {"contexts": numbered(*words["contexts"])[::-1], "question": words["question"], "reference": "…"}
    assert verdicts(reply(ScriptedJudge.from_dict(table(words)), "rate_contexts", asked, language)["verdicts"]) == {1: 1, 2: 1, 3: 0}


@BOTH
def test_check_all_joins_check_and_rate(language, words):
    judge = ScriptedJudge.from_dict(table(words))
    asked = {"contexts": numbered(*words["contexts"]), "claims": numbered(*words["claims"]), "question": words["question"], "reference": ""}
    got = reply(judge, "check_all", asked, language)
    assert got["claims"] == reply(judge, "check_claims", asked, language)["verdicts"]
    assert got["contexts"] == reply(judge, "rate_contexts", asked, language)["verdicts"]


@BOTH
def test_match_tells_matches_contradictions_and_what_is_covered(language, words):
    asked = {"question": "", "answer_claims": numbered(*words["claims"]), "reference_claims": numbered(*words["points"])}
    got = reply(ScriptedJudge.from_dict(table(words)), "match_claims", asked, language)
    assert [(a["verdict"], a["matches"]) for a in got["answer"]] == [("supported", [1]), ("not_found", []), ("contradicted", [2])]
    assert verdicts(got["reference"]) == {1: "covered", 2: "missing", 3: "missing"}


@BOTH
@pytest.mark.parametrize("count", [1, 3, 5])
def test_invert_gives_the_first_questions(language, words, count):
    got = reply(ScriptedJudge.from_dict(table(words)), "invert_answer", {"answer": words["answer"], "count": count}, language)["questions"]
    flags = [(words["question"], False), ("?", True), ("3", False)]
    assert [(q["question"], q["noncommittal"]) for q in got] == flags[:count]


@BOTH
def test_a_repeated_ask_is_answered_like_the_first(language, words):
    judge = ScriptedJudge.from_dict(table(words))
    asked = {"contexts": numbered(*words["contexts"]), "claims": numbered(*words["claims"])}
    again = {**asked, "previous_reply": "sorry", "problem": "ask 2: no JSON"}
    assert reply(judge, "check_claims", again, language) == reply(judge, "check_claims", asked, language)


@pytest.mark.parametrize("spelling", ["how long is the WARRANTY", " How  long is the warranty ?", "Ｈow long is the warranty？"])
def test_case_blanks_width_and_punctuation_do_not_matter(spelling):
    asked = {"contexts": numbered(*EN["contexts"]), "question": spelling, "reference": ""}
    assert verdicts(reply(ScriptedJudge.from_dict(table(EN)), "rate_contexts", asked)["verdicts"]) == {1: 1, 2: 1, 3: 0}


def test_an_empty_list_of_claims_is_an_entry():
    assert reply(ScriptedJudge.from_dict({"claims": {"你好！": []}}), "split_claims", {"text": "你好！"}) == {"claims": []}


def test_the_identity_tells_tables_apart():
    one, other = ScriptedJudge.from_dict({}), ScriptedJudge.from_dict(table(ZH))
    assert one.identity == ScriptedJudge.from_dict({}).identity != other.identity
    assert (other.identity.model, other.identity.endpoint, len(other.identity.parameters["table"])) == ("scripted", "scripted", 8)


# ------------------------------------------------------------------ shortened texts
LONG = "Unused days of leave lapse on 31 March of the next year."
OTHER = "Unused days of leave may be paid out on request only."


def check(listed, *contexts):
    judge = ScriptedJudge.from_dict({"checks": {"c": {"supported": [listed]}}})
    return reply(judge, "check_claims", {"contexts": numbered(*contexts), "claims": numbered("c")})["verdicts"][0]["evidence"]


@pytest.mark.parametrize(
    ("listed", "contexts", "evidence"),
    [
        ("Unused days of leave lapse…", (LONG, OTHER), [1]),
        ("unused DAYS of leave may …", (LONG, OTHER), [2]),
        ("Unused days of leave…", (LONG, LONG.upper()), [1, 2]),
        ("Unused days of leave", (LONG, OTHER), []),
        ("响应由应急指挥部统一启动……", ("响应由应急指挥部统一启动……", "响应由应急指挥部统一启动，并报上级。"), [1]),
        ("响应由应急指挥部统一启动…", ("食堂十一点半开门。", "响应由应急指挥部统一启动，并报上级。"), [2]),
    ],
)
def test_a_shortened_text_names_the_one_it_begins(listed, contexts, evidence):
    assert check(listed, *contexts) == evidence


def test_a_shortened_text_that_fits_two_is_an_error():
    with pytest.raises(ScriptError, match=r"Unused days of leave….*2"):
        check("Unused days of leave…", LONG, OTHER)


# ------------------------------------------------------------------ what a table does not hold
@pytest.mark.parametrize(
    ("kind", "asked", "section", "named"),
    [
        ("split_claims", {"text": "unheard"}, "claims", "unheard"),
        ("split_both", {"answer": EN["answer"], "reference": "unheard"}, "claims", "unheard"),
        ("check_claims", {"contexts": [], "claims": numbered("unheard")}, "checks", "unheard"),
        ("check_all", {"contexts": [], "claims": [], "question": "没见过？"}, "useful", "没见过？"),
        ("rate_contexts", {"contexts": [], "question": "没见过？"}, "useful", "没见过？"),
        ("match_claims", {"answer_claims": numbered("没见过"), "reference_claims": []}, "matches", "没见过"),
        ("invert_answer", {"answer": "unheard", "count": 3}, "questions", "unheard"),
        ("cosine", {"text": "a", "others": ["b"]}, "cosine", "truth table"),
    ],
)
def test_an_unknown_text_or_kind_is_named(kind, asked, section, named):
    with pytest.raises(ScriptError) as error:
        reply(ScriptedJudge.from_dict(table(EN)), kind, asked)
    assert kind in str(error.value)
    assert section in str(error.value)
    assert named in str(error.value)


def test_the_nearest_text_is_shown():
    with pytest.raises(ScriptError, match="The warranty runs from purchase"):
        reply(ScriptedJudge.from_dict(table(EN)), "check_claims", {"contexts": [], "claims": numbered("The warranty runs from delivery")})


# ------------------------------------------------------------------ malformed tables
@pytest.mark.parametrize(
    ("content", "named"),
    [
        ([], ["truth table"]),
        ({"chekcs": {}}, ["chekcs", "(nearest: checks)"]),
        ({"claims": {"A": "not a list"}}, ["claims", "A"]),
        ({"claims": {"A": [{"txt": "x"}]}}, ["claims", "A > 0", "(nearest: text)"]),
        ({"claims": []}, ["claims", "the section itself"]),
        ({"checks": {"甲": {"suported": ["x"]}}}, ["checks", "甲", "(nearest: supported)"]),
        ({"checks": {"甲": {"supported": "x"}}}, ["checks", "甲 > supported"]),
        ({"checks": {"甲": {"supported": ["x"], "contradicted": ["X。"]}}}, ["checks", "甲", "x"]),
        ({"useful": {"Q": [1]}}, ["useful", "Q > 0"]),
        ({"useful": {"Q": ["too short…"]}}, ["useful", "too short…", "12"]),
        ({"questions": {"A": [{"question": "q", "noncommittal": "perhaps"}]}}, ["questions", "A > 0", "noncommittal"]),
        ({"cosines": {"A": {"B": 1.5}}}, ["cosines", "A > B"]),
        ({"cosines": {"A": {"B": 0.5}, "b": {"a": 0.6}}}, ["cosines", "b / a"]),
        ({"cosines": {"A": {"a": 0.9}}}, ["cosines", "A"]),
        ({"cosines": {"A": {"B": float("nan")}}}, ["cosines", "A > B"]),
        ({"vectors": {"A": []}}, ["vectors", "A"]),
        ({"vectors": {"A": [1], "B": [1, 2]}}, ["vectors"]),
        ({"claims": {"A b": ["x"], "a B.": ["y"]}}, ["claims", "a B."]),
    ],
)
def test_a_malformed_table_names_section_and_place(content, named):
    with pytest.raises(ConfigError) as error:
        ScriptedJudge.from_dict(content)
    for word in named:
        assert word in str(error.value)


def test_all_problems_of_a_table_are_told_at_once():
    with pytest.raises(ConfigError) as error:
        TruthTable.from_dict({"claims": {"A": 1}, "useful": {"Q": 2}})
    assert len(str(error.value).splitlines()) == 2


def test_errors_speak_the_language_of_the_screen(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "zh")
    with pytest.raises(ConfigError, match=r"没有名为“chekcs”的部分.*最接近的是：checks"):
        ScriptedJudge.from_dict({"chekcs": {}})


# ------------------------------------------------------------------ files and merging
def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    for mark in ("", "\ufeff"):
        path = tmp_path / "truth.json"
        path.write_text(mark + json.dumps(table(ZH), ensure_ascii=False), encoding="utf-8")
        assert reply(ScriptedJudge.from_file(path), "invert_answer", {"answer": ZH["answer"], "count": 1})["questions"]


@pytest.mark.parametrize("content", [None, b"", b"{", "标准".encode("gbk"), b"[]", b'{"nope": {}}'])
def test_an_unusable_file_is_named(tmp_path, content):
    path = tmp_path / "truth.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"truth\.json"):
        ScriptedJudge.from_file(path)


def test_errors_of_asking_name_the_file(tmp_path):
    path = tmp_path / "truth.json"
    path.write_text("{}")
    with pytest.raises(ScriptError, match=r"truth\.json"):
        reply(ScriptedJudge.from_file(path), "split_claims", {"text": "x"})


def test_merging_unites_lists_and_keeps_every_section():
    judge = ScriptedJudge.merge(
        table(EN), TruthTable.from_dict(table(ZH)), {"checks": {EN["claims"][0].upper(): {"supported": ["Another context."]}}}
    )
    asked = {"contexts": numbered("Another context.", EN["contexts"][0]), "claims": numbered(EN["claims"][0])}
    assert reply(judge, "check_claims", asked)["verdicts"][0]["evidence"] == [1, 2]
    assert reply(judge, "split_claims", {"text": ZH["answer"]}) == reply(
        ScriptedJudge.from_dict(table(ZH)), "split_claims", {"text": ZH["answer"]}
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"claims": {"A": ["x"]}}, {"claims": {"a.": ["y"]}}),
        ({"questions": {"答": ["甲？"]}}, {"questions": {"答。": ["乙？"]}}),
        ({"cosines": {"A": {"B": 0.1}}}, {"cosines": {"A": {"b": 0.2}}}),
        ({"vectors": {"A": [1, 0]}}, {"vectors": {"A": [0, 1]}}),
    ],
)
def test_tables_that_disagree_cannot_be_merged(one, other):
    assert ScriptedJudge.merge(one, one)
    with pytest.raises(ConfigError):
        ScriptedJudge.merge(one, other)


# ------------------------------------------------------------------ determinism
async def test_order_and_concurrency_change_nothing():
    judge = ScriptedJudge.merge(table(EN), table(ZH))
    asks: list[Question] = []
    for language, words in (("en", EN), ("zh", ZH)):
        contexts, claims = numbered(*words["contexts"]), numbered(*words["claims"])
        asks += [question("check_claims", {"contexts": contexts, "claims": [c]}, language) for c in claims]
        asks += [question("split_claims", {"text": words[t]}, language) for t in ("answer", "reference")]
    alone = {q.key: (await judge.complete(q)).text for q in asks}
    for seed in range(3):
        mixed = random.Random(seed).sample(asks, len(asks))
        together = await asyncio.gather(*(judge.complete(q) for q in mixed))
        assert {q.key: r.text for q, r in zip(mixed, together, strict=True)} == alone
    await judge.close()
