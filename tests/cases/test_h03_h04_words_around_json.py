"""H03 and H04: fences, talk and thoughts around a good reply change neither the score nor the number of requests."""

import orjson
import pytest
from support.fault_server import reply
from support.told_rows import FOUR, shared_out


def swapped(call):
    """A well formed reply that says the opposite of the good one."""
    words = {"supported": "not_found", "not_found": "supported", 1: 0, 0: 1, "covered": "missing", "missing": "covered"}
    good = call.parsed
    for items in good.values():
        for item in items:
            if "verdict" in item:
                item["verdict"] = words[item["verdict"]]
            if "text" in item:
                item["text"] = "Something else entirely"
    return orjson.dumps(good).decode()


AROUND = {
    "fence": lambda c: f"Sure, here it is:\n```json\n{c.good}\n```\nHope this helps.",
    "bare fence": lambda c: f"```\n{c.good}\n```",
    "fence without a line break": lambda c: f"```json {c.good}```",
    "fence that never ends": lambda c: f"Here you go:\n\n```json\n{c.good}",
    "capital fence": lambda c: f"```JSON\r\n{c.good}\r\n```\r\n",
    "tildes": lambda c: f"~~~json\n{c.good}\n~~~",
    "zh talk": lambda c: f"好的，以下是结果：\n```json\n{c.good}\n```\n希望对您有帮助！",
    "no fence": lambda c: f"The result is {c.good}. Let me know if you need anything else.",
    "braces in talk": lambda c: f'As {{requested}} in [the schema], with {{"id"}} each: {c.good} (see {{above}})',
    "quotes in talk": lambda c: f'You said "reply with JSON only", so: {c.good} - that\'s "it".',
    "byte order mark": lambda c: "\ufeff" + c.good,
    "blanks": lambda c: f"\n\n   {c.good}   \n",
    "pretty": lambda c: orjson.dumps(c.parsed, option=orjson.OPT_INDENT_2).decode(),
    "trailing commas": lambda c: c.good.replace("}]}", "},]}").replace("]}", "],}"),
    "draft first": lambda c: f"First attempt:\n```json\n{swapped(c)}\n```\nOn reflection, the right reply is:\n```json\n{c.good}\n```",
    "empty object first": lambda c: f"{{}}\n{c.good}",
    "schema echoed first": lambda c: f'{{"type": "object", "properties": {{"verdicts": {{"type": "array"}}}}}}\n\n{c.good}',
    "heading": lambda c: f"# Output\n\n**JSON**\n\n{c.good}\n\n---\n*end*",
    "xml": lambda c: f"<output>{c.good}</output>",
    "python words": lambda c: c.good.replace("false", "False").replace("null", "None"),
}


def measured(lab, texts, **more):
    """One row for each way of writing; every one must come out as if the good reply had come bare, with no request more."""
    rows = [shared_out(f"way-{n:03}-", n % 4, 3, "zh" if n % 2 else "en") for n in range(len(texts))]
    ways = dict(zip((row.id for row in rows), texts.values(), strict=True))

    def fault(call):
        return ways[next(id for id in ways if id in call.seen.user)](call)

    done = lab.evaluate(rows, lambda call: reply(fault(call)) if isinstance(fault(call), str) else fault(call), metrics="all", **more)
    expected = {name: (n % 4) / 3 for n, name in enumerate(texts)}
    assert dict(zip(texts, done.values(), strict=True)) == pytest.approx(expected, abs=1e-12)
    for metric in ("context_precision", "context_recall"):
        assert done.values(metric) == [float(n % 4 > 0) for n in range(len(texts))]
    assert done.code == 0
    assert dict.fromkeys(texts, 0) == {
        name: sum(id in call.seen.user for call in done.server.calls) - 7 for name, id in zip(texts, ways, strict=True)
    }, "requests above seven"
    return done


def test_h03_talk_and_fences_cost_nothing(lab):
    done = measured(lab, AROUND)
    assert any(row["raw"].startswith("Sure, here it is") for row in done.replies if row["raw"])


@pytest.mark.parametrize("row", FOUR, ids=lambda row: row.id)
def test_h03_the_base_rows_in_every_language(lab, row):
    done = lab.evaluate([row], lambda call: reply(AROUND["fence"](call)), metrics="all")
    said_more = len(row.truth["matches"]) > len(row.truth["claims"][row.row["reference"]])  # 2 of 3 claims: F = 0.8
    assert [cell["value"] for cell in done.scores] == [1.0] * 4 + [pytest.approx(0.85) if said_more else 1.0]
    assert len(done.server.calls) == 7


THOUGHTS = {
    "braces": lambda c: f'<think>I could answer {{"verdict":0}} or [..]</think>{c.good}',
    "a whole reply thought first": lambda c: f"<think>\nMaybe {swapped(c)}? No.\n</think>\n\n{c.good}",
    "thought after": lambda c: f"{c.good}\n<think>Should I have said {swapped(c)}?</think>",
    "no opening tag": lambda c: f"Let me see: {swapped(c)} would be wrong.\n</think>\n{c.good}",
    "two thoughts": lambda c: f"<think>{swapped(c)}</think> hmm <think>{{}}</think>```json\n{c.good}\n```",
    "thinking": lambda c: f"<thinking>{swapped(c)}</thinking>{c.good}",
    "upper case": lambda c: f"<THINK>{swapped(c)}</THINK>{c.good}",
    "zh thought": lambda c: f"<think>\n嗯，先看第一条……可以写成 {swapped(c)}，但这样不对。\n</think>\n{c.good}",
    "other brackets": lambda c: f"◁think▷{swapped(c)}◁/think▷{c.good}",
    "mistral": lambda c: f"[THINK]{swapped(c)}[/THINK]{c.good}",
    "empty": lambda c: f"<think>\n\n</think>\n\n{c.good}",
    "open brace": lambda c: f'<think>so {{ "verdicts": [ {{ "id": 1,</think>{c.good}',
    "open quote": lambda c: f'<think>the "claim says {{</think>{c.good}',
    "field beside": lambda c: reply(c.good, reasoning_content=f"Perhaps {swapped(c)}"),
    "other field beside": lambda c: reply(c.good, reasoning=f"Perhaps {swapped(c)}"),
    "parts": lambda c: reply([{"type": "thinking", "thinking": swapped(c)}, {"type": "text", "text": c.good}]),
}


def test_h04_thoughts_are_not_the_answer(lab):
    done = measured(lab, THOUGHTS)
    assert any("<think>" in row["raw"] for row in done.replies if row["raw"]), "the raw reply keeps the thought"


@pytest.mark.parametrize(
    "only", [lambda c: f"<think>{c.good}", lambda c: f"<think>{c.good}</think>", lambda c: f"<think>{swapped(c)}</think>I am done."]
)
def test_h04_a_reply_that_was_only_thought_is_asked_again(lab, only):
    done = lab.evaluate(
        FOUR[:2], lambda call: reply(only(call)) if call.kind == "check_claims" and call.nth == 0 and "problem" not in call.input else None
    )
    assert done.values() == [1.0, 1.0]
    assert done.server.kinds()["check_claims"] == 4


def test_h04_only_a_reasoning_field_and_no_content_is_no_reply(lab):
    rows = FOUR[:2]

    def silent(call):
        return reply("", reasoning_content=call.good) if call.about("locker", "Locker") else None

    done = lab.evaluate(rows, silent)
    assert done.values() == ["empty_reply", 1.0]
