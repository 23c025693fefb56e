"""What a check found, in Python: the record, its document and its pages."""

import re

import pytest
from support.checking import CLEAN, with_row

import ragstone
from ragstone import Checked
from ragstone.errors import ConfigError, DataError


def test_the_record():
    checked = ragstone.check(with_row(question="年假可以休几天?"))
    assert (checked.file, checked.rows, checked.clean) == ("samples", 5, False)
    assert checked.counts == {"error": 0, "warning": 2, "note": checked.counts["note"]}
    assert repr(checked).startswith("Checked(file='samples', rows=5, errors=0, warnings=2")
    assert checked.gold_fingerprint == ragstone.check(with_row(question="年假可以休几天?")[::-1]).gold_fingerprint


@pytest.mark.parametrize(("lang", "text"), [("en", "Nothing to mend."), ("zh", "没有需要处理的问题。")])
def test_a_set_without_findings_says_so(lang, text):
    assert text in Checked("gold.jsonl", 560, "0123456789abcdef", ()).to_markdown(lang)


def test_answers_are_not_looked_at():
    answered = [row | {"answer": "找张工，13912340678", "contexts": ["Ã©\u200b"]} for row in CLEAN]
    assert ragstone.check(answered).findings == ragstone.check(CLEAN).findings


def test_a_document_says_everything_in_the_language_asked_for():
    checked = ragstone.check(with_row(reference=None))
    for lang, word in (("en", "reference"), ("zh", "应用本就该拒答")):
        found = next(f for f in checked.to_dict(lang)["findings"] if f["kind"] == "missing_reference")
        assert word in found["fix"]


def test_no_text_of_a_row_becomes_markup():
    checked = ragstone.check([*with_row(question="<b>[x](y)</b> # |"), {"id": "<i>", "question": "<b>[x](y)</b> #  |"}])
    assert "<b>" not in checked._repr_html_()
    assert "<i>" not in checked._repr_html_()
    assert re.search(r"(?<!\\)\[x\]", checked.to_markdown("en")) is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [({"mapping": {"questoin": "x"}}, ConfigError), ({"encoding": "utf-99"}, ConfigError), ({"max_cell_mb": 0.00001}, DataError)],
)
def test_what_cannot_be_read_is_refused(arguments, error, tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"question": "年假可以休几天？"}\n', encoding="utf-8")
    with pytest.raises(error):
        ragstone.check(path, **arguments)


@pytest.mark.parametrize("sign", ["9", "１", "Ã", "a.", "@", "《", "十", "+1-"])
def test_a_megabyte_of_one_sign_is_cut_and_told(sign):
    text = sign * (800_000 // len(sign.encode()))
    checked = ragstone.check([*CLEAN, {"id": "a", "question": text, "reference": text}])
    (finding,) = (f for f in checked.to_dict("en")["findings"] if f["kind"] == "text_cut")
    assert (finding["row"], finding["id"], finding["severity"]) == (5, None, "note")
    assert "20000 characters" in finding["text"]
    assert "前 20000 个字符，超过的有 1 行（第 5 行）" in checked.to_markdown("zh")


def test_a_long_text_that_is_looked_at_whole_is_not_told():
    checked = ragstone.check(with_row(reference="早上七点半。" * 3_000))
    assert "text_cut" not in {f.kind for f in checked.findings}


@pytest.mark.parametrize(("row", "kind"), [({"reference": None}, "missing_reference"), ({"question": "How?\u200b"}, "control_characters")])
def test_a_question_collected_several_times_is_told_of_once_at_its_first_row(row, kind):
    repeats = [{**gold, "id": f"{gold['id']}#{i}", "meta": {"question_id": gold["id"]}} for gold in with_row(**row) for i in range(3)]
    checked = ragstone.check(repeats)
    assert checked.rows == 15
    assert [(f.row, f.id) for f in checked.findings if f.kind == kind] == [(13, "x#0")]
    assert [f.kind for f in checked.findings] == [f.kind for f in ragstone.check(with_row(**row)).findings]


def test_a_row_named_as_a_repeat_that_says_something_else_is_looked_at():
    rows = [{"id": f"q#{i}", "meta": {"question_id": "q"}, "question": f"第 {i} 条说什么？", "reference": None} for i in range(2)]
    told = ragstone.check([*CLEAN, *rows]).findings
    assert [f.row for f in told if f.kind == "missing_reference"] == [5, 6]
