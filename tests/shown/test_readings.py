"""The catalogue of readings: whole, in both languages, and told in the order that helps."""

import json
import re
from collections import Counter
from math import isclose

import pytest
from support.made_runs import average_precision, facts
from support.rule_runs import FIRED, PERFECT, values

import ragstone
from ragstone.analysis.facts import PAIRS
from ragstone.analysis.readings import METRICS, RULES
from ragstone.shown.blocks import Heading, Items
from ragstone.shown.readings import FEW, KINDS, TOLD, TOP, blocks, catalogue, fired, readings, top

LANGUAGES = ("en", "zh")
CJK = re.compile(r"[\u4e00-\u9fff]")


# ------------------------------------------------------------------ the catalogue
def test_the_catalogue_carries_over_every_row_of_its_sources():
    counts = Counter(entry.kind for entry in catalogue().values())
    carried = {"reaction": 5, "what_to_do": 5, "symptom": 4, "scenario": 4, "cause": 20, "quadrant": 4, "pattern": 1}
    assert {kind: counts[kind] for kind in carried} == carried
    assert {kind: counts[kind] for kind in ("environment", "closing", "worked")} == {"environment": 3, "closing": 2, "worked": 2}
    assert counts["pair"] == 4 * len(PAIRS)
    assert set(counts) == set(KINDS)


@pytest.mark.parametrize("kind", ["reaction", "what_to_do"])
def test_each_metric_has_its_first_reaction_and_its_steps(kind):
    assert [entry.metrics for entry in catalogue().values() if entry.kind == kind] == [(metric,) for metric in METRICS]


def test_each_metric_but_correctness_has_five_causes():
    counts = Counter(entry.metrics for entry in catalogue().values() if entry.kind == "cause")
    assert counts == {(metric,): 5 for metric in METRICS if metric != "answer_correctness"}


@pytest.mark.parametrize("entry", catalogue().values(), ids=lambda entry: entry.id)
def test_an_entry_is_whole(entry):
    assert entry.rule in RULES
    assert entry.certainty in ("seen", "possible")
    assert set(entry.metrics) <= set(METRICS)
    assert entry.source
    english, chinese = (entry.words[lang] for lang in LANGUAGES)
    assert len(english.do) == len(chinese.do)
    for en, zh in zip((english.looks, english.means, *english.do), (chinese.looks, chinese.means, *chinese.do), strict=True):
        assert en.strip()
        assert not CJK.search(en)
        assert CJK.search(zh) or zh == en
        assert sorted(re.findall(r"\{\w+\}", en)) == sorted(re.findall(r"\{\w+\}", zh))
        assert len(en) <= 250, "a busy reader stops"


def test_every_rule_has_an_entry():
    assert {entry.rule for entry in catalogue().values()} == set(RULES)


# ------------------------------------------------------------------ what is told
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("entry", [e for e in catalogue().values() if e.kind in TOLD], ids=lambda entry: entry.id)
def test_every_entry_is_told_when_its_rule_fires(entry, lang):
    told = {reading["id"]: reading for reading in readings(facts(*FIRED[entry.rule]), lang)}
    reading = told[entry.id]
    assert 1 <= len(reading["metrics"]) <= 2
    assert not re.search(r"\{\w+\}", reading["text"])
    assert all(step in reading["text"] for step in reading["do"])
    assert json.loads(json.dumps(reading, allow_nan=False)) == reading


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_clean_run_has_no_fault(lang):
    told = readings(facts(*[PERFECT] * 25), lang)
    assert [reading["id"] for reading in told if reading["fault"]] == []
    assert {reading["kind"] for reading in told} == {"pair", "quadrant", "level", "scenario", "closing"}


def test_no_reading_of_nothing():
    assert readings(facts({"failed": {"faithfulness": "timeout"}}), "en") == []


def test_faults_first_pairs_before_the_rest():
    found = fired(facts({"claims": "ss", "recall": "sn", "chunks": "01", "answer": "sn", "points": "cm", "cosines": [0.9] * 3}))
    assert [entry.fault for entry, _ in found] == sorted((entry.fault for entry, _ in found), reverse=True)
    kinds = [KINDS.index(entry.kind) for entry, _ in found if entry.fault]
    assert kinds == sorted(kinds)
    assert found[0][0].kind == "pair"
    assert [result.weight for entry, result in found if entry.kind == "pair" and entry.fault and entry.certainty == "seen"] == sorted(
        (result.weight for entry, result in found if entry.kind == "pair" and entry.fault and entry.certainty == "seen"), reverse=True
    )


def test_the_top_is_short_and_says_nothing_twice():
    found = fired(facts({"claims": "sn", "recall": "sn", "chunks": "001", "answer": "sn", "points": "cm", "cosines": [0.3]}))
    shown = top(found)
    assert len(found) > len(shown)
    assert len(shown) == TOP
    assert len({entry.rule for entry, _ in shown}) == TOP
    counts = Counter(entry.kind for entry, _ in shown)
    assert all(count <= FEW.get(kind, 2) for kind, count in counts.items())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_shows_the_top_of_it(lang):
    found = facts({"claims": "sn", "recall": "sn", "chunks": "001", "answer": "sn", "points": "cm", "cosines": [0.3]})
    heading, items = blocks(found, lang)
    assert isinstance(heading, Heading)
    assert isinstance(items, Items)
    assert len(items.items) == TOP
    assert items.items[0] == readings(found, lang)[0]["text"]
    assert blocks(facts({"failed": {"style": "timeout"}}), lang) == []


def test_text_of_a_sample_is_not_formatted():
    told = readings(facts(*[{"recall": "s"}] * 6, *[{"recall": "n", "sample": {"meta": {"category": "{k} {0}"}}}] * 3), "en")
    assert next(r["means"] for r in told if r["id"] == "slice_weak_groups") == "Retrieval is weakest for: category {k} {0} (0.00, n = 6)."


GOLDEN = {
    "en": (
        "context_recall 0.42, faithfulness 0.91: The answers keep to the chunks, but the chunks miss what is needed. Generation behaves. "
        "Retrieval is the bottleneck: no prompt can say what was not found. What to do: (1) Look at the uncovered points: are they in the "
        "knowledge base at all? (2) If so: chunking, synonyms, hybrid search, larger top-k. (3) Leave the prompt alone until recall is up."
    ),
    "zh": (
        "上下文召回率 0.42，忠实度 0.91：回答守着片段，片段却缺内容。生成是规矩的，瓶颈在检索：没找到的东西，提示词怎么改也说不出来。"
        "怎么办：（1）看没覆盖到的要点，知识库里到底有没有。（2）有：查切分、同义词、混合检索，加大 top-k。"
        "（3）召回率上来之前，先别动提示词。"
    ),
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_reading_in_words(lang):
    told = readings(facts(*values(faithfulness=0.91, context_recall=0.42)), lang)
    assert told[0]["text"] == GOLDEN[lang]
    assert (told[0]["metrics"], told[0]["pattern"]) == (["context_recall", "faithfulness"], "low_high")


@pytest.mark.parametrize(("lang", "start"), [("en", "In part: The answers keep to"), ("zh", "部分样本如此：回答守着")])
def test_a_middling_mean_is_true_of_a_part_only(lang, start):
    told = readings(facts(*values(faithfulness=0.91, context_recall=0.6)), lang)
    assert start in told[0]["text"]


def test_a_count_stands_beside_what_was_counted():
    told = readings(facts({"claims": "ss", "recall": "s"}, {"claims": "nn", "recall": "s"}), "en")
    text = next(reading["text"] for reading in told if reading["id"] == "decide_prompt")
    assert text.startswith("faithfulness 0.50, 2 of 4 samples: Claims without a source")


def test_a_count_over_some_of_the_samples_says_so():
    told = readings(facts({"chunks": "01"}, {"chunks": "01"}, {"chunks": "00"}), "en")
    text = next(reading["text"] for reading in told if reading["id"] == "decide_rerank")
    assert text.startswith("context_precision 0.33, all 4 samples that can show it: Useless chunks")


def test_a_cause_that_cannot_be_seen_says_so():
    told = {r["id"]: r for lang in LANGUAGES for r in readings(facts({"recall": "n", "chunks": "0"}), lang)}
    assert "可能的原因之一：知识库里可能没有这份文档。" in told["cause_document_missing"]["text"]


# ------------------------------------------------------------------ the worked examples
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_worked_examples_add_up(lang):
    recall, correctness = (catalogue()[f"worked_{name}"].words[lang].means for name in ("context_recall", "answer_correctness"))
    assert "2 / 3 = 0.667" in recall
    assert round(2 / 3, 3) == 0.667
    assert "F1 = 2 · 1 / (2 · 1 + 1 + 2) = 0.4" in correctness
    assert "0.75 · 0.4 + 0.25 · 0.88 = 0.30 + 0.22 = 0.52" in correctness
    assert isclose(2 / 5, 0.4)
    assert isclose(0.75 * 0.4 + 0.25 * 0.88, 0.52)


def test_precision_is_perfect_when_the_useful_chunks_come_first():
    assert average_precision("11000") == 1.0, "so a shorter list cannot raise it, as decide_shrink says"


@pytest.mark.parametrize(("lang", "words"), [("en", "faithfulness 0.59: level middle. Part"), ("zh", "忠实度 0.59：等级为中。有一部分")])
def test_a_level_is_called_one(lang, words):
    rows = [{"sample_id": f"s{i}", "metric": "faithfulness", "value": 0.59, "status": "ok"} for i in range(8)]
    (level,) = [one for one in ragstone.diagnose(ragstone.Run.from_scores(rows)).to_dict(lang)["readings"] if one["kind"] == "level"]
    assert level["text"].startswith(words)


# ------------------------------------------------------------------ true of the data
SILENCE = {"not_applicable": {"faithfulness": "no_claims"}, "points": "m", "cosine": 0.0, "recall": "s", "chunks": "1"}
FINE = {"claims": "s", "answer": "s", "points": "c", "recall": "s", "chunks": "1"}


def told_ids(*samples):
    return {entry.id for entry, _ in fired(facts(*samples))}


def test_due_refusals_are_no_fault():
    due = {**SILENCE, "cosines": [0.3], "noncommittal": True, "sample": {"expected_behavior": "refuse"}}
    told = told_ids(*[FINE] * 10, *[due] * 10)
    assert not told & {"pair_faithful_wrong", "quadrant_good_bad", "decide_refusals", "trap_refusals", "symptom_digressing"}
    assert {"pair_faithful_right", "quadrant_good_good"} <= told


def test_refusals_are_not_told_as_faithful_repetition():
    told = told_ids(*[FINE] * 10, *[SILENCE] * 10)
    assert "pair_faithful_wrong" not in told
    assert {"trap_refusals", "quadrant_good_bad"} <= told


def test_retrieval_is_not_blamed_where_it_was_not_measured():
    assert not told_ids({"claims": "sn"}) & {"decide_retrieval", "cause_not_retrieved"}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_means_over_some_of_the_samples_say_so(lang):
    told = {r["id"]: r["text"] for r in readings(facts(FINE, SILENCE), lang)}
    wanted = {"en": ", over the 2 samples that have both: ", "zh": "，只算两项都有分的 2 个样本："}
    assert wanted[lang] in told["pair_faithful_right"]
    assert wanted[lang] not in told["pair_clean_complete"]


def test_a_quadrant_counts_samples_and_shows_no_means():
    told = {r["id"]: r["text"] for r in readings(facts(FINE, SILENCE), "en")}
    assert told["quadrant_good_bad"].startswith("2 of 4 samples: Retrieval good")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_page_leaves_out_what_others_have_said(lang):
    shown = {
        entry.id for entry, _ in top(fired(facts(*[{"claims": "ss", "recall": "sn", "chunks": "01", "answer": "sn", "points": "cm"}] * 9)))
    }
    assert "pair_missed_faithful" in shown
    assert not shown & {"pattern_faithful_badly_fed", "do_context_precision"}
    page = blocks(facts({"claims": "sn"}), lang)[1].items
    words = [entry.words[lang].looks for entry in catalogue().values() if entry.kind in ("symptom", "reaction")]
    assert not any(word in item for word in words for item in page)


@pytest.mark.parametrize(
    ("samples", "lang", "told"),
    [
        ([{"claims": "sx"}], "en", "faithfulness 0.50, all 2 samples: Chunks say"),
        ([{"claims": "sx"}], "zh", "忠实度 0.50，2 个样本都如此：片段说的"),
        ([{"claims": "sx"}, {"recall": "s"}], "en", "all 2 samples that can show it: "),
        ([{"claims": "sx"}, {"recall": "s"}], "zh", "可判断的 2 个样本都如此："),
        ([{"claims": "sx"}, {"claims": "s"}], "zh", "4 个样本中有 2 个："),
        (
            [{"claims": "s"}, {"failed": {"faithfulness": "timeout"}}, {"recall": "s"}],
            "en",
            "faithfulness 1.00, 2 of 4 samples: More than 5 %",
        ),
    ],
)
def test_a_count_says_of_what_it_is(samples, lang, told):
    assert any(told in one["text"] for one in readings(facts(*samples), lang))
