"""H17: a cell means what it looks like, names of other tools are understood, and what is wrong is named before anything is asked."""

import csv
import io
import json

import pytest
from support.fault_server import reply
from support.told_rows import EN, ZH

THEIRS = ("user_input", "response", "retrieved_contexts", "reference")


def write_csv(lab, rows, header=THEIRS, encoding="utf-8", delimiter=",", name="rows.csv"):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerows([header, *rows])
    path = lab.folder / name
    path.write_bytes(buffer.getvalue().encode(encoding))
    return path


def row_of(told, contexts):
    return [told.row["question"], told.row["answer"], contexts, told.row["reference"]]


def samples(done):
    return [json.loads(line) for line in (done.folder / "samples.jsonl").read_bytes().splitlines()]


def texts(sample):
    return None if sample.get("contexts") is None else [c if isinstance(c, str) else c["text"] for c in sample["contexts"]]


@pytest.mark.parametrize("base", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize(
    "written",
    [
        lambda c: json.dumps(c),
        lambda c: json.dumps(c, ensure_ascii=False, indent=1),
        repr,
        lambda c: json.dumps([{"text": text, "id": f"d{n}", "score": 0.5} for n, text in enumerate(c)], ensure_ascii=False),
        lambda c: f"  {json.dumps(c, ensure_ascii=False)}\n",
    ],
    ids=["json", "json indented", "python", "objects", "blanks around"],
)
def test_h17_a_list_in_a_cell_is_a_list(lab, base, written):
    path = write_csv(lab, [row_of(base, written(base.row["contexts"]))])
    done = lab.evaluate([base], None, source=path, metrics="all")
    assert [texts(sample) for sample in samples(done)] == [base.row["contexts"]]
    assert done.values() == [1.0]
    assert done.values("context_precision") == [1.0]


PLAIN = ["Lockers are hired out for 6 months at a time.", "[1] Lockers, [2] keys: see the board", "{not json", "a, b; c"]
PLAIN += ["本馆图书借期为30天。", "one\ntwo", "[draft]"]


def test_h17_plain_text_is_one_context_and_said_so(lab):
    path = write_csv(lab, [row_of(EN, text) for text in PLAIN])
    done = lab.evaluate([EN], _everything_found, source=path, cli=True)
    assert [texts(sample) for sample in samples(done)] == [[text] for text in PLAIN]
    assert f"plain text, taken as one context: {len(PLAIN)} (first: row 1)" in done.err


def _everything_found(call):
    if call.kind != "check_claims":
        return None
    return reply({"verdicts": [{"id": claim["id"], "evidence": [1], "verdict": "supported"} for claim in call.input["claims"]]})


@pytest.mark.parametrize(
    ("cell", "expected", "reason"), [("", None, "contexts_missing"), ("[]", [], 0.0), ('[""]', [], 0.0), ('["  ", ""]', [], 0.0)]
)
def test_h17_an_empty_cell_is_no_context_and_never_letters(lab, cell, expected, reason):
    path = write_csv(lab, [row_of(EN, json.dumps(EN.row["contexts"])), row_of(ZH, cell)])
    done = lab.evaluate([EN, ZH], None, source=path)
    assert texts(samples(done)[1]) == expected
    assert done.values() == [1.0, reason]


@pytest.mark.parametrize(
    "header",
    [
        THEIRS,
        ("question", "answer", "contexts", "ground_truth"),
        ("input", "actual_output", "retrieval_context", "expected_output"),
        ("query", "output", "contexts", "ground_truths"),
        ("问题", "回答", "检索片段", "参考答案"),
        ("问题", "回答", "检索片段", "标准答案"),
    ],
    ids=lambda header: header[0],
)
def test_h17_the_names_of_other_tools_are_mapped(lab, header):
    encoding, delimiter, name = ("utf-8", ",", "r.csv") if header[0].isascii() else ("utf-8-sig", "\t", "r.tsv")
    rows = [row_of(told, json.dumps(told.row["contexts"], ensure_ascii=False)) for told in (EN, ZH)]
    done = lab.evaluate([EN, ZH], None, source=write_csv(lab, rows, header, encoding, delimiter, name), metrics="all")
    assert done.values() == [1.0, 1.0]
    assert done.values("context_recall") == [1.0, 1.0]


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (2, 0, 3, 1)])
def test_h17_columns_in_any_order_with_strangers_between(lab, order):
    rows = [row_of(told, json.dumps(told.row["contexts"])) for told in (EN, ZH)]
    header = [THEIRS[i] for i in order]
    path = write_csv(lab, [[row[i] for i in order] + ["x"] for row in rows], [*header, "team"])
    done = lab.evaluate([EN, ZH], None, source=path)
    assert done.values() == [1.0, 1.0]
    assert samples(done)[0]["meta"] == {"team": "x"}


def test_h17_gbk_and_own_names(lab):
    rows = [row_of(ZH, json.dumps(ZH.row["contexts"], ensure_ascii=False))]
    path = write_csv(lab, rows, ("问", "答", "片段", "标准"), "gbk")
    maps = [flag for pair in ("question=问", "answer=答", "contexts=片段", "reference=标准") for flag in ("--map", pair)]
    done = lab.evaluate([ZH], None, *maps, "--encoding", "gbk", source=path, metrics="faithfulness,context_recall")
    assert done.values() == [1.0]


WRONG = {
    "a number": ([{**EN.row, "contexts": 7}], ["row 1", "contexts"]),
    "an object": ([EN.row, {**ZH.row, "contexts": {"a": "b"}}], ["row 2", "contexts"]),
    "a list in a list": ([EN.row, {**ZH.row, "contexts": [["x"]]}], ["row 2", "contexts"]),
    "a number for an answer": ([{**EN.row, "answer": 12}, ZH.row], ["row 1", "answer"]),
    "a long reference list": ([{**EN.row, "reference": ["a", "b"]}], ["row 1", "reference", "reference_points"]),
    "one id twice": ([EN.row, {**ZH.row, "id": EN.id}], ["row 2", EN.id]),
}


@pytest.mark.parametrize("name", WRONG)
def test_h17_what_is_wrong_names_row_and_column_before_any_call(lab, name):
    rows, said = WRONG[name]
    path = lab.folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    done = lab.evaluate([EN, ZH], None, source=path, metrics="all", finished=False)
    assert (done.code, done.out, done.server.seen) == (2, "", [])
    assert all(word in done.err for word in said), done.err
    assert not done.folder.exists()


@pytest.mark.parametrize(
    ("missing", "metric"),
    [
        ("retrieved_contexts", "faithfulness"),
        ("reference", "context_recall"),
        ("response", "answer_relevancy"),
        ("user_input", "context_precision"),
    ],
)
def test_h17_a_column_that_no_row_has_names_the_metric_that_needs_it(lab, missing, metric):
    keep = [i for i, name in enumerate(THEIRS) if name != missing]
    rows = [[row_of(told, json.dumps(told.row["contexts"]))[i] for i in keep] for told in (EN, ZH)]
    path = write_csv(lab, rows, [THEIRS[i] for i in keep])
    done = lab.evaluate([EN, ZH], None, source=path, metrics=metric, finished=False)
    ours = {"retrieved_contexts": "contexts", "response": "answer", "user_input": "question"}.get(missing, missing)
    assert (done.code, done.server.seen) == (2, [])
    assert ours in done.err
    assert metric in done.err


def test_h17_a_column_missing_in_some_rows_is_a_notice(lab):
    path = lab.folder / "rows.jsonl"
    bare = {name: value for name, value in ZH.row.items() if name != "reference"}
    path.write_text(json.dumps(EN.row) + "\n" + json.dumps(bare, ensure_ascii=False) + "\n", encoding="utf-8")
    done = lab.evaluate([EN, ZH], None, source=path, metrics="context_recall,faithfulness", cli=True)
    assert done.values("context_recall") == [1.0, "missing:reference"]
    assert done.values() == [1.0, 1.0]
    assert "reference" in done.err


def test_h17_a_ragged_csv_names_its_row(lab):
    path = lab.folder / "rows.csv"
    path.write_text("question,answer,contexts\nq1,a1,c1\nq2,a2,c2,too,many\n", encoding="utf-8")
    done = lab.evaluate([EN], None, source=path, finished=False)
    assert (done.code, done.server.seen) == (2, [])
    assert "row 2" in done.err or "line 3" in done.err


@pytest.mark.parametrize("cell", ["['half", '["a", "b"', '["a", 3]', "[['a']]"])
def test_h17_a_list_that_cannot_be_read_names_row_and_column(lab, cell):
    path = write_csv(lab, [row_of(EN, json.dumps(EN.row["contexts"])), row_of(ZH, cell)])
    done = lab.evaluate([EN, ZH], None, source=path, finished=False)
    assert (done.code, done.server.seen) == (2, [])
    assert "row 2" in done.err
    assert "retrieved_contexts" in done.err
