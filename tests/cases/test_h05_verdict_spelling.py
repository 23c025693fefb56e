"""H05: however a verdict is spelled it is read as it was meant, or asked again; never turned round, never guessed."""

from itertools import cycle

import pytest
from support.fault_server import reply
from support.told_rows import Told, told

YES_NO = [
    (["yes ", "Yes.", "yes - stated in chunk 1"], ["no\n"]),
    ([1], [0]),
    ([True], [False]),
    (["1"], ["0"]),
    ([1.0], [0.0]),
    (["true", "TRUE", "True."], ["false", "FALSE", "False."]),
    (["支持"], ["不支持"]),
    (["支持。", "支持 ", "支持，见片段1"], ["不支持。", "不支持，片段没有说"]),
    (["是", "是的。", "对"], ["否", "不是", "不对"]),
    (["有依据", "成立", "受支持"], ["没有依据", "无依据", "不受支持"]),
    (["supported", "Supported.", "SUPPORTED"], ["not_found", "not found", "Not Found."]),
    (["**supported**", "`supported`", '"supported"'], ["**not supported**", "unsupported"]),
    (["fully supported", "is supported by the context", "directly stated"], ["not supported by any context", "not mentioned"]),
    (["Ｙｅｓ", "ＹＥＳ．"], ["Ｎｏ", "ｎｏ。"]),
    (["Y", "y."], ["N", "n."]),
    (["✓", "✅"], ["✗", "❌"]),
    (["verdict: supported", "判定：支持"], ["verdict: no", "结论：不支持"]),
    (["Yes, the notice says so", "yes: rule in force"], ["No, nothing is said about it", "no; absent from the notice"]),
    (["supported"], ["contradicted"]),
    (["支持"], ["矛盾"]),
    (["supported"], ["contradicted - chunk 2 says 5"]),
    (["supported"], ["unknown", "idk", "I don't know"]),
    (["支持"], ["未提及", "无法判断", "不清楚", "信息不足"]),
    (["有據可查", "確實支持"], ["無法判斷", "無依據"]),
]

UNREADABLE = [
    "maybe",
    "partially supported",
    "部分支持",
    "yes and no",
    "yes/no",
    "supported or contradicted",
    "",
    "  ",
    None,
    2,
    -1,
    0.5,
    "0.5",
]
UNREADABLE += [
    "2",
    "?",
    [],
    ["supported"],
    {"value": 1},
    "see above",
    "也许",
    "支持/不支持",
    "mostly yes",
    "1/2",
    "10",
    "N/A?",
    "基本支持，但数字不符",
]


def four(id: str, order: str) -> Told:
    """A row with four claims in the answer and the same four in the reference; a letter each: y = supported, n = found nowhere."""
    texts = [f"Door {n} of {id} is open" for n in range(1, 5)]
    contexts = [f"Seen today: {text}." for text, letter in zip(texts, order, strict=True) if letter == "y"] or [f"Nothing about {id}."]
    places = iter(range(1, 5))
    claims = {text: next(places) if letter == "y" else 0 for text, letter in zip(texts, order, strict=True)}
    return told(
        id, f"Which doors of {id}?", ". ".join(texts), contexts, "; ".join(texts), claims=claims, points=claims, useful=[], covers={}
    )


def spelled(call, yes, no):
    """The good reply to a check with other spellings, in turn."""
    good, yes, no = call.parsed, cycle(yes), cycle(no)
    for line in good["verdicts"]:
        line["verdict"] = next(yes) if line["verdict"] == "supported" else next(no)
    return good


@pytest.mark.parametrize("order", ["yyny", "nyyy", "yyyn"])
def test_h05_every_spelling_gives_three_of_four(lab, order):
    rows = [four(f"house-{n:02}-", order) for n in range(len(YES_NO))]
    spellings = {row.id: pair for row, pair in zip(rows, YES_NO, strict=True)}

    def fault(call):
        if call.kind != "check_claims":
            return None
        return reply(spelled(call, *next(pair for id, pair in spellings.items() if id in call.seen.user)))

    done = lab.evaluate(rows, fault, metrics="faithfulness,context_recall")
    for metric in ("faithfulness", "context_recall"):
        assert {str(pair): 0.75 for pair in YES_NO} == dict(zip(map(str, YES_NO), done.values(metric), strict=True))
    assert done.server.kinds()["check_claims"] <= 2 * len(rows), "every spelling is read at once"
    verdicts = [line["verdict"] for row in done.scores for line in row["verdicts"]]
    assert set(verdicts) == {"supported", "contradicted", "not_found"}


def one_unreadable(call, verdict, id=3):
    good = call.parsed
    for line in good["verdicts"]:
        line.update({"verdict": verdict} if line["id"] == id else {})
    return reply(good)


def test_h05_an_unreadable_verdict_is_asked_again_by_itself(lab):
    rows = [four(f"house-{n:02}-", "yyny") for n in range(len(UNREADABLE))]
    odd = {row.id: verdict for row, verdict in zip(rows, UNREADABLE, strict=True)}

    def fault(call):
        if call.kind == "check_claims" and "problem" not in call.input:
            return one_unreadable(call, next(v for id, v in odd.items() if id in call.seen.user))
        return None

    done = lab.evaluate(rows, fault)
    assert {str(v): 0.75 for v in UNREADABLE} == dict(zip(map(str, UNREADABLE), done.values(), strict=True))
    again = [call for call in done.server.calls if call.kind == "check_claims" and "problem" in call.input]
    assert len(again) == len(rows)
    assert all([claim["id"] for claim in call.input["claims"]] == [3] for call in again)


def test_h05_a_verdict_that_stays_unreadable_is_counted_neither_way(lab):
    rows = [four(f"house-{n:02}-", "yyny") for n in range(len(UNREADABLE))]
    odd = {row.id: verdict for row, verdict in zip(rows, UNREADABLE, strict=True)}

    def fault(call):
        return one_unreadable(call, next(v for id, v in odd.items() if id in call.seen.user)) if call.kind == "check_claims" else None

    done = lab.evaluate(rows, fault)
    assert set(done.values()) == {"verdicts 3/4"}
    assert done.server.kinds()["check_claims"] == 3 * len(rows)
    assert done.code == 1


@pytest.mark.parametrize(
    ("second", "value"),
    [("supported", "again"), ("contradicted", "again"), ("not_found", 0.75), ("no", 0.75), ("未提及", 0.75)],
)
def test_h05_two_verdicts_for_one_id_are_one_only_if_alike(lab, second, value):
    def fault(call):
        if call.kind != "check_claims" or "problem" in call.input:
            return None
        return reply({"verdicts": [*call.parsed["verdicts"], {"id": 3, "verdict": second}]})

    done = lab.evaluate([four("house", "yyny")], fault)
    assert done.values() == [0.75]
    assert done.server.kinds()["check_claims"] == (2 if value == "again" else 1)


def test_h05_order_strings_for_ids_and_ids_nobody_asked_for_do_not_matter(lab):
    def fault(call):
        if call.kind != "check_claims":
            return None
        verdicts = [{**line, "id": f"{line['id']}"} for line in reversed(call.parsed["verdicts"])]
        return reply({"verdicts": [{"id": 9, "verdict": "supported"}, *verdicts, {"id": 0, "verdict": "no"}]})

    done = lab.evaluate([four("house", "yyny"), four("barn", "nnny")], fault)
    assert (done.values(), len(done.server.calls)) == ([0.75, 0.25], 4)


# ------------------------------------------------------------------ the other kinds of verdict
USEFUL = [
    ([1], [0]),
    (["1"], ["0"]),
    (["yes"], ["no"]),
    (["有用"], ["没用"]),
    (["Useful."], ["not useful"]),
    (["relevant"], ["irrelevant"]),
]
USEFUL += [([True], [False]), (["相关"], ["不相关", "无关"]), (["有帮助"], ["没有帮助"]), (["1 - names the rule"], ["0 - off topic"])]


def test_h05_spellings_of_useful(lab):
    rows = []
    for n in range(len(USEFUL)):
        row = four(f"house-{n:02}-", "yyny")
        rows.append(Told(row.row, {**row.truth, "useful": {row.row["question"]: [row.row["contexts"][0], row.row["contexts"][2]]}}))
    spellings = {row.id: pair for row, pair in zip(rows, USEFUL, strict=True)}

    def fault(call):
        yes, no = next(pair for id, pair in spellings.items() if id in call.seen.user)
        yes, no, good = cycle(yes), cycle(no), call.parsed
        for line in good["verdicts"]:
            line["verdict"] = next(yes) if line["verdict"] == 1 else next(no)
        return reply(good)

    done = lab.evaluate(rows, fault, metrics="context_precision")
    assert {str(pair): 5 / 6 for pair in USEFUL} == pytest.approx(
        dict(zip(map(str, USEFUL), done.values("context_precision"), strict=True))
    )
    assert len(done.server.calls) == len(rows)


FLAGS = [(True, False), ("true", "false"), ("yes", "no"), (1, 0), ("是", "否"), ("True.", "False."), ("noncommittal", "committal")]


def test_h05_spellings_of_noncommittal(lab):
    rows = [four(f"house-{n:02}{'e' if evades else 'a'}-", "yyny") for n in range(len(FLAGS)) for evades in (True, False)]
    flags = {row.id: FLAGS[n // 2][n % 2] for n, row in enumerate(rows)}

    def fault(call):
        flag = next(flag for id, flag in flags.items() if id in call.seen.user)
        return reply({"questions": [{"question": f"Which doors are open ({n})?", "noncommittal": flag} for n in range(3)]})

    done = lab.evaluate(rows, fault, metrics="answer_relevancy")
    assert done.values("answer_relevancy") == [0.0, 1.0] * len(FLAGS)
    assert len(done.server.calls) == len(rows)
