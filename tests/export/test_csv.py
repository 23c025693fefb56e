import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.exported import MANIFEST, SAMPLES, exported, table, write_folder
from support.hostile_texts import HOSTILE, REFUSED

from ragstone import Run

SCORED = ["faithfulness", "faithfulness.status", "faithfulness.reason", "context_recall", "context_recall.status", "context_recall.reason"]
CARRIED = ["ragstone.run_id", "ragstone.signature", "ragstone.counts", "ragstone.notice"]


def one(text, key="k"):
    """The run of a single sample whose texts are all the same."""
    sample = {"id": text, "question": text, "answer": text, "contexts": [text], "meta": {key: text}}
    return Run.from_scores([{"sample_id": text, "metric": "m", "value": 1, "status": "ok"}], [sample])


def test_columns_stand_in_order_the_users_own_first(tmp_path):
    (head, *_) = exported(write_folder(tmp_path), "csv").decode("utf-8-sig").split("\r\n")
    own = ["id", "question", "answer", "contexts", "reference", "language", "部门", "tries", "tags", "meta.faithfulness"]
    assert head.split(",") == [*own, *SCORED, "unsupported_claims", "missing_claims", *CARRIED]


def test_a_row_a_sample(tmp_path):
    first, second, third = table(write_folder(tmp_path))
    assert [first[name] for name in SCORED] == ["0.5", "ok", "", "0.0", "ok", ""]
    assert [second[name] for name in SCORED] == ["1.0", "ok", "", "", "failed", "timeout"]
    assert [third[name] for name in SCORED] == ["", "not_applicable", "contexts_missing", "", "failed", "interrupted"]
    assert (first["部门"], first["tries"], json.loads(first["tags"])) == ("售后", "-5", ["a", "b"])
    assert json.loads(first["contexts"]) == SAMPLES[0]["contexts"]
    assert (second["contexts"], third["contexts"]) == ("[]", "")
    assert first["unsupported_claims"] == "a2 not_found: Batteries are included."
    assert first["missing_claims"] == "context_recall r1 contradicted: 运费由商家承担。"
    assert (second["unsupported_claims"], second["missing_claims"]) == ("", "")


@pytest.mark.parametrize(("lang", "notice"), [("en", "smoke test, not a measurement"), ("zh", "仅供试运行，不是测量")])
def test_every_row_carries_signature_counts_and_notice(tmp_path, lang, notice):
    for row in table(write_folder(tmp_path), lang=lang):
        assert row["ragstone.signature"] == MANIFEST["signature"]
        assert row["ragstone.counts"] == "faithfulness 2/3; context_recall 1/3"
        assert notice in row["ragstone.notice"]


def test_excel_shows_chinese_and_rows_end_as_it_ends_them(tmp_path):
    data = exported(write_folder(tmp_path), "csv")
    assert data.startswith(b"\xef\xbb\xbfid,")
    assert data.endswith(b"\r\n")


def test_two_columns_never_have_one_name():
    own = {"id": 1, "m": 2, "meta.m": 3, "m.status": 4, "ragstone.signature": 5, "question": 6, "=x": 7, "'=x": 8}
    sample = {"id": "s", "question": "q", "meta": own}
    run = Run.from_scores([{"sample_id": "s", "metric": "m", "value": 1, "status": "ok"}], [sample])
    (row,) = csv.reader(exported(run, "csv").decode().splitlines()[:1])
    assert len(set(row)) == len(row)
    assert {"meta.id", "meta.m", "meta.meta.m", "meta.m.status", "meta.ragstone.signature", "meta.question", "'=x", "meta.'=x"} <= set(row)


def test_a_behaviour_is_one_column_wherever_it_is_told():
    samples = [{"id": "a", "expected_behavior": "refuse"}, {"id": "b", "meta": {"expected_behavior": "clarify"}}, {"id": "c"}]
    run = Run.from_scores([{"sample_id": row["id"], "metric": "m", "value": 1, "status": "ok"} for row in samples], samples)
    assert [row["expected_behavior"] for row in table(run)] == ["refuse", "clarify", "answer"]
    assert "meta.expected_behavior" not in table(run)[0]


def test_claims_of_correctness_and_metrics_with_parameters():
    lines = [
        {"kind": "answer_claim", "id": "a1", "text": "x", "verdict": "not_found"},
        {"kind": "reference_claim", "id": "r1", "text": "y", "verdict": "missing"},
        {"kind": "reference_claim", "id": "r2", "text": "z", "verdict": "covered"},
    ]
    name = "answer_correctness(beta=2,weights=[0.5,0.5])"
    (row,) = table(Run.from_scores([{"sample_id": "s", "metric": name, "value": 0.25, "status": "ok", "verdicts": lines}]))
    assert (row[name], row["missing_claims"]) == ("0.25", "answer_correctness r1 missing: y")
    assert "unsupported_claims" not in row
    assert "question" not in row


def test_other_fields_are_columns_where_some_sample_has_them():
    samples = [
        {"id": "a", "history": [{"role": "user", "content": "你好"}], "usage": {"n": 1}, "latency_s": 0.5},
        {"id": "b", "error": "timeout", "reference_points": ["一", "二"]},
    ]
    run = Run.from_scores([{"sample_id": row["id"], "metric": "m", "value": 1, "status": "ok"} for row in samples], samples)
    first, second = table(run)
    assert json.loads(first["history"]) == samples[0]["history"]
    assert (json.loads(first["usage"]), first["latency_s"]) == ({"n": 1}, "0.5")
    assert (second["error"], json.loads(second["reference_points"])) == ("timeout", ["一", "二"])


# ------------------------------------------------------------------ formulas
@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-5", "@SUM(A1)", "\t=1", "\r=1", "\n1", "\tx", "  =1", "\u3000＝1", "＝1", "＋1", "－1", "＠x", "\u00a0=1", "\ufeff=1"],
)
def test_text_that_a_spreadsheet_would_run_is_made_safe(text):
    (row,) = table(one(text, key=text))
    assert row["id"] == row["question"] == row["answer"] == "'" + text
    assert row["'" + text] == "'" + text


@pytest.mark.parametrize("text", ["5", "a=b", "'=1", "一=二", "a-b", "（-1）", "\u3000甲", " x"])
def test_other_text_stays_as_it_is(text):
    (row,) = table(one(text))
    assert row["question"] == row["k"] == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-5, "-5"), (-0.25, "-0.25"), (True, "true"), (None, ""), (float("nan"), ""), (float("-inf"), ""), ({"a": [1]}, '{"a":[1]}')],
)
def test_values_of_the_users_own_columns(value, shown):
    sample = {"id": "s", "meta": {"k": value}}
    (row,) = table(Run.from_scores([{"sample_id": "s", "metric": "m", "value": 1, "status": "ok"}], [sample]))
    assert row["k"] == shown


@given(st.text())
def test_no_cell_begins_like_a_formula_and_no_text_is_lost(text):
    (row,) = table(one(text or "x"))
    held = row["question"]
    assert not held.strip().startswith(tuple("=+-@＝＋－＠"))
    assert held.removeprefix("'") == (text or "x").replace("\0", "\ufffd").removeprefix("'")


@pytest.mark.parametrize("name", [*HOSTILE, *REFUSED])
def test_hostile_texts_stay_in_their_cells(name):
    text = {**HOSTILE, **REFUSED}[name]
    (row,) = table(one(text))
    told = text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    assert row["answer"].removeprefix("'") == told.removeprefix("'")
    assert json.loads(row["contexts"]) == [text.encode("utf-8", "replace").decode()]


def test_cells_too_long_for_excel_are_whole_and_told():
    told = []
    run = one("很" * 32_768)
    data = exported(run, "csv", tell=told.append)
    assert data.decode("utf-8-sig").count("很" * 32_768) == 5
    assert len(told) == 1
    assert "can hold: 5." in told[0]
    assert exported(one("很" * 1000), "csv", tell=told.append)
    assert len(told) == 1
