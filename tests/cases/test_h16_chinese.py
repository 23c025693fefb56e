"""H16: Chinese text is split, asked and told in Chinese, whatever its punctuation."""

import json
import re

import pytest
from support.scores import score_rows
from support.told_rows import EN, FOUR, ZH, Told, told

CJK = re.compile("[\u4e00-\u9fff]")


def rewritten(id: str, change) -> Told:
    """The Chinese base row with another writing of the answer; the truth is the same."""
    answer = change(ZH.row["answer"])
    truth = {**ZH.truth, "claims": {**ZH.truth["claims"], answer: ZH.truth["claims"][ZH.row["answer"]]}}
    truth["questions"] = {answer: [ZH.row["question"]] * 3}
    return Told({**ZH.row, "id": id, "answer": answer}, truth)


WRITINGS = [
    ZH,
    rewritten("no-mark-at-the-end", lambda text: text.rstrip("；")),
    rewritten("no-marks", lambda text: re.sub("[。！；，]", "", text)),
    rewritten("blanks", lambda text: re.sub("[。！；]", "  ", text)),
    rewritten("lines", lambda text: re.sub("[。！；]", "\n", text)),
    rewritten("list", lambda text: "".join(f"- {part}\n" for part in re.split("[。！；]", text) if part)),
    rewritten("half-width", lambda text: text.translate(str.maketrans("。！；，", ".!;,"))),
    rewritten("full-width-digits", lambda text: text.replace("30", "３０")),
    rewritten("ellipsis", lambda text: text.replace("！", "……")),
    rewritten("quotes", lambda text: f"「{text}」"),
]


@pytest.mark.parametrize("metrics", ["faithfulness", "all"])
def test_h16_three_claims_in_chinese_however_it_is_written(lab, metrics):
    done = lab.evaluate(WRITINGS, None, metrics=metrics)
    assert done.values() == [1.0] * len(WRITINGS)
    for row in (row for row in done.scores if row["metric"] == "faithfulness"):
        assert [line["text"] for line in row["verdicts"]] == ZH.truth["claims"][ZH.row["answer"]]


def test_h16_each_text_arrives_whole_and_unescaped(lab):
    done = lab.evaluate(WRITINGS, None)
    sent = {call.input["text"] for call in done.server.calls if call.kind == "split_claims"}
    assert sent == {row.row["answer"] for row in WRITINGS}
    assert all("\\u" not in call.seen.user for call in done.server.calls)


def test_h16_the_judge_is_asked_in_the_language_of_the_question(lab):
    done = lab.evaluate(FOUR, None, metrics="all")
    for call in done.server.calls:
        system = call.seen.body["messages"][0]["content"]
        chinese = bool(CJK.search(call.seen.user))
        assert (len(CJK.findall(system)) > 100) == chinese, call.seen.user
    languages = {row["id"]: row["language"] for row in map(dict, _samples(done))}
    assert languages == {"en-locker": "en", "zh-借书": "zh", "de-parken": "en", "zh-en-vpn": "zh"}


def _samples(done):
    return [json.loads(line) for line in (done.folder / "samples.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_h16_the_judges_language_can_be_fixed(lab, language):
    done = lab.evaluate([EN, ZH], None, "--language", language)
    systems = {call.seen.body["messages"][0]["content"] for call in done.server.calls}
    assert all((len(CJK.findall(system)) > 100) == (language == "zh") for system in systems)
    assert done.values() == [1.0, 1.0]


TRADITIONAL = told(
    "zh-hant",
    "會員點數多久到期？",
    "會員點數自取得日起兩年到期！逾期點數一律歸零",
    ["會員點數之有效期限為兩年。", "逾期之點數歸零。"],
    "兩年到期，逾期歸零",
    claims={"會員點數兩年到期": 1, "逾期點數歸零": 2},
    points={"點數兩年到期": 1, "逾期歸零": 2},
    useful=[1, 2],
    covers={"會員點數兩年到期": "點數兩年到期", "逾期點數歸零": "逾期歸零"},
)


@pytest.mark.slow
def test_h16_the_local_judge_finds_claims_in_every_writing(lab):
    rows = {row.id: row for row in (*WRITINGS, TRADITIONAL, EN)}
    command = ["evaluate", str(lab.write(list(rows.values()))), "--out", "run", "--judge", "local", "--metrics", "faithfulness"]
    code, out, err = lab.command([*command, "--no-cache"])
    assert code == 0, err
    assert "smoke test" in out
    for cell in score_rows(lab.folder / "run"):
        answer = re.sub(r"\W", "", rows[cell["sample_id"]].row["answer"])
        claims = [re.sub(r"\W", "", line["text"]) for line in cell["verdicts"]]
        assert cell["status"] == "ok"
        assert len(claims) >= (1 if cell["sample_id"] in ("no-marks", "blanks", "quotes") else 2)
        assert all(claim in answer for claim in claims), "claims are pieces of the answer"
