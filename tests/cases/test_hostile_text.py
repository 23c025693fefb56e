"""Texts that try to be more than text reach the judge byte for byte, and change neither what else is asked nor what is read."""

import functools
import json
import re
from collections import Counter

import numpy as np
import pytest
from support.fault_server import reply
from support.hostile_texts import HOSTILE, REFUSED
from support.told_rows import table, told

import ragstone
from ragstone.errors import DataError
from ragstone.judge.base import Identity
from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import ask, system_prompt
from ragstone.questions.kinds import KINDS

pytestmark = pytest.mark.no_cover  # every line they run is run by others, and counting them takes longer than running them

NAMES = list(HOSTILE)
PLAIN = re.compile(r"Plain(\d\d)")
PLANS = [("separate", "en"), ("separate", "zh"), ("joint", "zh"), ("per-context", "en")]
RUNS = pytest.mark.parametrize(("plan", "language"), PLANS, ids=[f"{plan}-{language}" for plan, language in PLANS])


def hostile(place):
    return HOSTILE[NAMES[place % len(NAMES)]]


def plain(place):
    return f"Plain{place % len(NAMES):02}"


def row(number, text):
    """A row with another text of the table in each of its columns; over all rows each text stands once in each column."""
    mark = f"item {number:02}"

    def mixed(shift):
        held = text(number + shift)
        where = f"part {shift} of {mark}"
        return f"{held} {where}" if number % 2 else f"{where} {held}"

    claims = [f"Claim {k} on {mark}: {text(number + k)} holds" for k in (7, 8)]
    points = [f"Point {k} on {mark}: {text(number + k)} holds" for k in (9, 10)]
    made = told(
        f"row-{number:02}",
        mixed(0),
        mixed(1),
        [mixed(2), mixed(3), mixed(4)],
        mixed(5),
        claims={claims[0]: 1, claims[1]: 0},
        points={points[0]: 2, points[1]: -3},
        useful=[1, 3],
        covers={claims[0]: points[0]},
    )
    more = {"history": [{"role": "user", "content": mixed(6)}], "meta": {"note": mixed(7), mixed(8): "x"}}
    return made.but(**more, **({"reference_points": points} if number % 3 == 0 else {}))


def rows(text):
    return [row(number, text) for number in range(len(NAMES))]


def filled(value):
    """A plain request as it must be with the hostile texts in place of the plain ones."""
    if isinstance(value, str):
        return PLAIN.sub(lambda found: hostile(int(found[1])), value)
    if isinstance(value, dict):
        return {name: filled(inner) for name, inner in value.items()}
    return [filled(inner) for inner in value] if isinstance(value, list) else value


class Recorder:
    """A scripted judge and an embedder that keep what they are asked."""

    def __init__(self, truth):
        self._judge, self.requests, self.asked, self.embedded = ScriptedJudge.from_dict(truth), 0, [], []
        self.identity = Identity("recorder", "recorder")

    async def complete(self, question):
        self.asked.append((question.kind.name, question.prompt, question.input))
        return await self._judge.complete(question)

    async def embed(self, texts):
        self.embedded += texts
        return [np.array([1, 0], dtype="<f4") for _ in texts]

    async def close(self):
        pass


@functools.cache
def harmless(plan, language):
    """What is asked about plain texts, and the scores."""
    told_rows = rows(plain)
    recorder = Recorder(table(told_rows))
    samples = [told_row.row for told_row in told_rows]
    run = ragstone.evaluate(samples, judge=recorder, embeddings=recorder, plan=plan, language=language, on_notice=lambda _: None)
    return recorder, outcome([score.to_dict() for score in run.scores])


def outcome(scores):
    """Scores without the texts under them."""
    kept = ("sample_id", "metric", "value", "status", "reason")
    verdicts = ("kind", "id", "verdict", "evidence")
    return [
        {name: score[name] for name in kept} | {"verdicts": [[list_or(line.get(name)) for name in verdicts] for line in score["verdicts"]]}
        for score in scores
    ]


def list_or(value):
    return list(value) if isinstance(value, tuple | list) else value


def written(requests):
    return Counter(json.dumps(request, ensure_ascii=False) for request in requests)


@RUNS
def test_hostile_texts_reach_the_judge_as_they_are_and_change_nothing_else(lab, plan, language):
    recorder, scores = harmless(plan, language)
    done = lab.evaluate(rows(hostile), None, "--plan", plan, "--language", language, metrics="all")
    assert done.code == 0
    assert written(call.input for call in done.server.calls) == written(filled(input) for *_, input in recorder.asked)
    hold_messages(done.server.calls, language)
    hold_embeddings([text for seen in done.server.asked("embeddings") for text in seen.body["input"]], filled(recorder.embedded))
    assert outcome(done.scores) == scores
    hold_folder(done)


def hold_messages(calls, language):
    """Two messages, the first the constant prompt of the kind; around them nothing depends on the texts."""
    bodies = {}
    for call in calls:
        system, user = call.seen.body["messages"]
        assert system == {"role": "system", "content": system_prompt(KINDS[call.kind], language)}
        assert (list(user), user["role"]) == (["role", "content"], "user")
        bodies.setdefault(call.kind, set()).add(json.dumps({**call.seen.body, "messages": []}))
        assert set(call.seen.body) <= {"model", "messages", "temperature", "response_format"}
    assert {kind: len(found) for kind, found in bodies.items()} == dict.fromkeys(bodies, 1)


def hold_embeddings(sent, wanted):
    """A text is sent once and as it is; what a judge wrote (reverse questions) without the blanks around it."""
    assert set(wanted) <= set(sent)
    assert {text.strip() for text in sent} == {text.strip() for text in wanted}


def hold_folder(done):
    """The run folder keeps what the file said and what the judge was given."""
    kept = {told_row.id: told_row.row for told_row in rows(hostile)}
    for line in (done.folder / "samples.jsonl").read_bytes().splitlines():
        sample = json.loads(line)
        wanted = kept.pop(sample["id"])
        assert {name: sample[name] for name in wanted} == wanted
    assert kept == {}
    asked = {json.dumps(call.input, ensure_ascii=False) for call in done.server.calls}
    assert asked == {json.dumps(line["input"], ensure_ascii=False) for line in done.replies if line["kind"] != "cosine"}


@pytest.mark.parametrize("column", ["question", "answer", "contexts", "reference"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_no_request_can_carry_is_refused_before_anything_is_asked(lab, name, column):
    wrong = row(0, plain).but(**{column: [REFUSED[name]] if column == "contexts" else REFUSED[name]})
    source = lab.folder / "samples.jsonl"
    source.write_text(json.dumps(wrong.row))
    with lab.server([row(0, plain)]) as server:
        code, _, err = lab.command(["evaluate", str(source), "--out", "run", "--judge", "m", "--base-url", server.url])
        with pytest.raises(DataError, match=column) as caught:
            ragstone.evaluate([wrong.row], judge="m", base_url=server.url)
    assert (code, server.seen) == (2, [])
    assert "row 1" in err
    (err + str(caught.value)).encode()


# ------------------------------------------------------------------ the other direction: judges that repeat what they read
def quoting(call, text):
    """The good reply with the hostile text wherever a judge may put words of its own."""
    parsed = call.parsed
    for items in parsed.values():
        for item in items:
            item |= dict.fromkeys(("reason", "quote", "anchor", "thought"), text) if isinstance(item, dict) else {}
    return parsed


@pytest.mark.parametrize("plan", ["separate", "joint"])
def test_a_judge_that_quotes_the_texts_is_read_as_one_that_does_not(lab, plan):
    _, scores = harmless(plan, "en")

    def fault(call):
        number = int(re.search(r"item (\d\d)", call.seen.user)[1])
        return reply(quoting(call, hostile(number + 2)))

    done = lab.evaluate(rows(hostile), fault, "--plan", plan, "--language", "en", metrics="all")
    assert len(done.server.calls) == len(harmless(plan, "en")[0].asked), "nothing was asked again"
    assert outcome(done.scores) == scores


@functools.cache
def asked_and_answered():
    """The questions about each text, by its name, and the reply of a judge that keeps to its task."""
    judge, found = ScriptedJudge.from_dict(table(rows(hostile))), {name: [] for name in NAMES}
    for plan in ("separate", "joint"):
        for kind, _, input in harmless(plan, "en")[0].asked:
            question = ask(KINDS[kind], "en", 0, "", filled(input))
            try:
                judge.complete(question).send(None)
            except StopIteration as done:
                for place in set(PLAIN.findall(json.dumps(input))):
                    found[NAMES[int(place)]].append((question, done.value.text))
    return found


def around(text, good):
    """Ways to say a hostile text beside the reply; thoughts are left out where the text itself opens or closes one."""
    yield f"{text}\n{good}"
    yield f"The text says:\n{text}\n\nMy verdicts:\n```json\n{good}\n```"
    yield f"> {text}\n\n```\n{good}\n```\n"
    if not re.search(r"think", text):
        yield f"<think>{text}</think>{good}"


def after(text, good):
    yield f"{good}\n\nNote on the text: {text}"
    yield f"```json\n{good}\n```\n{text}"


@pytest.mark.parametrize("name", NAMES)
def test_a_judge_that_repeats_a_text_around_its_reply_never_says_something_else(name):
    """What a judge repeats word for word is no reply of its own. Where thoughts or endless brackets hide the reply, there is none."""
    text, may_hide = HOSTILE[name], name.startswith(("think", "many tags", "deep braces"))
    for question, good in asked_and_answered()[name]:
        kept = question.kind.read(question.input, good)
        assert kept.problem is None
        for raw in (*around(text, good), *after(text, good)):
            read = question.kind.read(question.input, raw)
            assert read.parsed == kept.parsed or (may_hide and read.problem), (question.kind.name, raw[:200])
    assert {question.kind.name for question, _ in asked_and_answered()[name]} == {kind for kind in KINDS if kind != "cosine"}
