"""H20 and H21: average precision to the bit, and what an empty retrieval means."""

import pytest
from support.fault_server import reply
from support.server import say
from support.told_rows import EN, ZH, Told, told

METRIC = "context_precision"
RANKINGS = [
    ([1, 1, 1], 1.0),
    ([1, 0, 0, 0], 1.0),
    ([0, 0, 0, 1], 0.25),
    ([0, 1], 0.5),
    ([0, 0, 0], 0.0),
    ([1], 1.0),
    ([0], 0.0),
    ([1] * 7, 1.0),
    ([1] * 12, 1.0),
    ([1] * 30, 1.0),
    ([1, 0, 1, 0, 0], 5 / 6),
    ([1, 1, 0, 0, 0], 1.0),
    ([0, 0, 0, 1, 1], 0.325),
    ([1, 0, 1], 5 / 6),
    ([0, 1, 1], (1 / 2 + 2 / 3) / 2),
    ([0] * 13 + [1], 1 / 14),
]


def ranked(id: str, useful, language: str) -> Told:
    """A row whose contexts at the given ranks are useful."""
    word, question = ("第{}段（{}）", "{}怎么排？") if language == "zh" else ("Paragraph {} of {}", "How is {} ranked?")
    contexts = [word.format(n, id) for n in range(1, len(useful) + 1)]
    return told(
        id, question.format(id), f"Answer {id}", contexts, f"Reference {id}", claims={}, points={}, covers={},
        useful=[rank for rank, hit in enumerate(useful, 1) if hit],
    )  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_h20_average_precision_is_exact(lab, language):
    rows = [ranked(f"case-{n:02}-", useful, language) for n, (useful, _) in enumerate(RANKINGS)]
    done = lab.evaluate(rows, None, metrics=METRIC)
    assert done.values(METRIC) == pytest.approx([value for _, value in RANKINGS], abs=1e-12)
    for got, (_, value) in zip(done.values(METRIC), RANKINGS, strict=True):
        assert value not in (0.0, 0.25, 0.5, 1.0) or got == value, "to the bit"


def test_h20_contexts_are_judged_one_by_one_in_whatever_order_they_are_listed(lab):
    """The request lists them shuffled; ids are ranks, and the reply may come in any order."""
    row = ranked("order", [0, 0, 0, 1], "en")
    done = lab.evaluate([row], lambda call: reply({"verdicts": list(reversed(call.parsed["verdicts"]))}), metrics=METRIC)
    assert done.values(METRIC) == [0.25]
    (call,) = done.server.calls
    listed = {c["id"]: c["text"] for c in call.input["contexts"]}
    assert [listed[rank] for rank in (1, 2, 3, 4)] == row.row["contexts"]
    assert [(line["id"], line["verdict"]) for line in done.row("order", METRIC)["verdicts"]] == [
        ("c1", "not_useful"), ("c2", "not_useful"), ("c3", "not_useful"), ("c4", "useful"),
    ]  # fmt: skip


@pytest.mark.parametrize("verdict", [1, {"verdict": 1}, [1], {"verdicts": 1}, {"verdicts": {"id": 1, "verdict": 1}}, [{"verdict": 1}]])
def test_h20_one_verdict_for_the_whole_list_is_no_verdict_for_each(lab, verdict):
    done = lab.evaluate([ranked("all", [0, 0, 0, 1], "zh")], lambda call: say(str(verdict).replace("'", '"')), metrics=METRIC)
    assert done.values(METRIC) in (["bad_reply"], ["verdicts 0/4"])


def test_h20_equal_contexts_are_asked_once_and_count_at_each_rank(lab):
    row = ranked("twice", [0, 1, 1], "en")
    same = row.but(contexts=[row.row["contexts"][1], row.row["contexts"][0], row.row["contexts"][1]])
    done = lab.evaluate([same], None, metrics=METRIC)
    assert done.values(METRIC) == [pytest.approx((1 + 2 / 3) / 2)]
    assert [len(call.input["contexts"]) for call in done.server.calls] == [2]


def test_h20_the_help_says_that_it_is_about_ranks(lab):
    for lang, word in (("en", "rank"), ("zh", "名次")):
        code, page, _ = lab.command(["metrics", "context_precision"], lang=lang)
        assert code == 0
        assert word in page


# ------------------------------------------------------------------ H21
NOTHING = [[], [""], ["  "], ["", " "], ["\n\t"], ["\u3000"]]
SHOWN = ranked("other", [1], "en")
SHOWN.truth["claims"]["Answer other"] = ["The answer is other"]
SHOWN.truth["checks"]["The answer is other"] = {"supported": SHOWN.row["contexts"]}
"""A row whose contexts are known, beside one whose are not."""
NO_CLAIMS = {"en": "Hello, how can I help?", "zh": "您好，请问有什么可以帮您？"}


@pytest.mark.parametrize("base", [EN, ZH], ids=["en", "zh"])
def test_h21_nothing_retrieved_is_one_outcome_and_nothing_is_verified(lab, base):
    rows = [base.but(id=f"empty-{n}", contexts=contexts) for n, contexts in enumerate(NOTHING)]
    done = lab.evaluate(rows, None, metrics="all")
    for n in range(len(NOTHING)):
        for metric in ("faithfulness", "context_precision", "context_recall"):
            row = done.row(f"empty-{n}", metric)
            assert (row["value"], row["status"], row["reason"]) == (0.0, "ok", "no_context"), (n, metric)
        assert {line["verdict"] for line in done.row(f"empty-{n}")["verdicts"]} == {"not_found"}
    assert done.server.kinds().keys() == {"split_claims", "match_claims", "invert_answer"}
    assert done.values("answer_relevancy") == [1.0] * len(NOTHING)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("contexts", [[], [""], ["A notice."], None], ids=str)
def test_h21_no_claims_wins_over_no_context(lab, language, contexts):
    answer, base = NO_CLAIMS[language], EN if language == "en" else ZH
    row = Told({**base.row, "answer": answer, "contexts": contexts}, {**base.truth, "claims": {**base.truth["claims"], answer: []}})
    done = lab.evaluate([row, SHOWN], None)
    assert done.cell(base.id) == ("contexts_missing" if contexts is None else "no_claims")
    assert done.row(base.id)["status"] == "not_applicable"
    assert done.code == 0
    assert lab.summary(done)["faithfulness"]["coverage"] == 1.0


def test_h21_not_exposed_is_not_nothing_retrieved(lab):
    hidden = Told({name: value for name, value in EN.row.items() if name != "contexts"}, EN.truth)
    done = lab.evaluate([hidden, ZH], None, metrics="faithfulness,context_precision,context_recall")
    assert {done.cell(EN.id, metric) for metric in ("faithfulness", "context_precision", "context_recall")} == {"contexts_missing"}


def test_h21_a_blank_context_among_others_keeps_its_rank_and_is_never_sent(lab):
    row = EN.but(contexts=["", EN.row["contexts"][0], "  ", EN.row["contexts"][1]])
    done = lab.evaluate([row], None, metrics="faithfulness,context_precision,context_recall")
    assert done.cell(EN.id, METRIC) == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert done.cell(EN.id) == 1.0
    sent = [c["text"] for call in done.server.calls for c in call.input.get("contexts", ())]
    assert all(text.strip() for text in sent)
    assert done.row(EN.id)["verdicts"][0]["evidence"] == ["c2"]


@pytest.mark.parametrize("answer", ["", "   ", "\n"])
def test_h21_an_empty_answer_is_asked_nothing(lab, answer):
    done = lab.evaluate([ZH.but(answer=answer)], None, metrics="all")
    row = {metric: done.row(ZH.id, metric) for metric in ("faithfulness", "answer_relevancy", "answer_correctness")}
    assert row["faithfulness"]["reason"] == "no_claims"
    assert (row["answer_relevancy"]["value"], row["answer_relevancy"]["reason"]) == (0.0, "empty_answer")
    assert (row["answer_correctness"]["value"], row["answer_correctness"]["reason"]) == (0.0, "empty_answer")
    assert [done.cell(ZH.id, metric) for metric in ("context_precision", "context_recall")] == [1.0, 1.0]
    assert done.server.kinds().keys() == {"split_claims", "check_claims", "rate_contexts"}
