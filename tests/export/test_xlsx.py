"""Workbooks: what is opened again is what the run holds, whatever its texts try to be."""

import io
import zipfile
from xml.etree import ElementTree

import openpyxl
import pytest
from support.hand_made import METRICS, write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone.export import sheet as sheets
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.registry import exporter
from ragstone.text import say

ROW = {"sample_id": "s1", "metric": "faithfulness", "value": 0.5, "status": "ok"}


def written(run, **order):
    file = io.BytesIO()
    exporter("xlsx").write(Content(run), file, Order(**order))
    return file


def opened(run, **order):
    return openpyxl.load_workbook(written(run, **order))


def rows(sheet):
    names, *found = sheet.iter_rows(values_only=True)
    return [dict(zip(names, row, strict=True)) for row in found]


def one(samples, found=(ROW,)):
    return ragstone.Run.from_scores(found, samples)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return ragstone.load(write_run(tmp_path_factory.mktemp("xlsx") / "r"))


@pytest.fixture(scope="module")
def book(run):
    return opened(run)


def test_the_sheets_have_a_frozen_head_and_filters(book):
    assert book.sheetnames == ["summary", "samples", "claims", "failures"]
    assert [sheet.freeze_panes for sheet in book] == ["A2", "B2", "A2", "A2"]
    assert book["samples"].auto_filter.ref == f"A1:{book['samples'].cell(1, book['samples'].max_column).column_letter}5"
    assert book["failures"].auto_filter.ref == f"A1:E{book['failures'].max_row}"


def test_the_summary_says_what_was_measured_and_what_not(book, run):
    found = {row["metric"]: row for row in rows(book["summary"])}
    for m in run.summary().metrics:
        row = found[m.metric]
        assert (row["mean"], row["n"], row["total"], row["failed"], row["not_applicable"]) == (
            m.mean, m.n, m.total, m.failed, m.not_applicable,
        )  # fmt: skip
        assert row["coverage"] == m.coverage
    assert found["signature"]["mean"] == run.signature
    assert found["notice"]["mean"] == run.notice
    assert (found["run_id"]["mean"], found["created_at"]["mean"]) == ("r1", "2026-01-05T08:00:00Z")
    assert found["faithfulness"]["level"] is None, "one of two cells failed: no level"
    assert found["faithfulness"]["reasons"] == "bad_reply 1, collect:timeout 1, no_claims 1"
    assert (found["faithfulness"]["bounds_low"], found["faithfulness"]["bounds_high"]) == (0.0, 2 / 3)
    assert found["interval_level"]["mean"] == 0.95
    assert book.properties.description == f"{run.notice}\n{run.signature}"


def test_a_sample_is_a_row_with_numbers_only_where_a_cell_is_ok(book):
    first, second, third, _ = rows(book["samples"])
    assert (first["id"], first["category"], first["faithfulness"]) == ("leave-days", "leave", 0.0)
    assert first["unsupported_claims"].splitlines()[1] == "a2 not_found: HR tells about the rest."
    assert (second["faithfulness"], second["faithfulness.status"], second["faithfulness.reason"]) == (None, "failed", "bad_reply")
    assert (second["id"], second["contexts"]) == ("退货-寄回", '["在订单页申请退货后，可选择上门取件或自行寄回。"]')
    assert third["contexts"] == "[]"
    names = [cell.value for cell in book["samples"][1]]
    for metric in METRICS:
        at = names.index(metric)
        for row in book["samples"].iter_rows(min_row=2):
            assert row[at].value is None or (row[at].data_type == "n" and row[at + 1].value == "ok")


def test_claims_are_coloured_by_their_verdict(book):
    found = rows(book["claims"])
    assert found[0] == {
        "sample_id": "leave-days", "metric": "faithfulness", "repeat": 0, "kind": "answer_claim", "id": "a1",
        "text": "Employees get 25 days of leave a year.", "verdict": "contradicted", "evidence": "c1",
        "reason": "20 days, not 25", "quote": "20 days",
    }  # fmt: skip
    colours = {row[6].value: row[6].fill.start_color.rgb[2:] for row in book["claims"].iter_rows(min_row=2)}
    assert (colours["contradicted"], colours["not_found"], colours["supported"]) == (sheets.RED, sheets.YELLOW, sheets.GREEN)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_failures_are_told_in_words(run, lang):
    found = rows(opened(run, lang=lang)["failures"])
    assert [row["reason"] for row in found if row["sample_id"] == "退货-寄回"] == ["bad_reply", "interrupted"]
    assert found[0]["meaning"] == say("show.why_bad_reply", lang)
    assert found[-1] == {
        "sample_id": "应急-联系", "metric": METRICS[-1], "status": "failed", "reason": "collect:timeout",
        "meaning": say("show.why_collect", lang),
    }  # fmt: skip


def test_metric_columns_are_coloured_by_the_levels_but_never_an_empty_cell(book):
    names = [cell.value for cell in book["samples"][1]]
    rules = {}
    for place in book["samples"].conditional_formatting:
        column = names[openpyxl.utils.column_index_from_string("".join(filter(str.isalpha, str(place.sqref).split(":")[0]))) - 1]
        rules[column] = [(rule.type, rule.formula[0] if rule.formula else None) for rule in place.rules]
    assert rules.keys() == set(METRICS)
    assert rules["answer_relevancy"] == [("colorScale", None)]
    letter = book["samples"].cell(1, names.index("faithfulness") + 1).column_letter
    wanted = [f"AND(ISNUMBER({letter}2),{letter}2>={limit})" for limit in ("0.799999999", "0.499999999", "-1")]
    assert rules["faithfulness"] == [("expression", formula) for formula in wanted]


def test_wide_characters_need_two_columns():
    book = opened(one([{"id": "s1", "question": "问" * 20, "answer": "a" * 20, "reference": "long " * 100}]))
    widths = {cell.value: book["samples"].column_dimensions[cell.column_letter].width for cell in book["samples"][1]}
    assert (widths["question"], widths["answer"], widths["reference"]) == (42, 22, 60)


@pytest.mark.parametrize("text", ["=1+1", "=", "+1", "-1", "@SUM(A1)", "#N/A", "=cmd|'/c calc'!A1", "TRUE", "12", "2026-01-01", "'x"])
def test_no_text_becomes_a_formula_an_error_or_a_number(text):
    file = written(one([{"id": text, "answer": text, "meta": {text: text}}], [{**ROW, "sample_id": text}]))
    book = openpyxl.load_workbook(file)
    sheet = book["samples"]
    place = [cell.value for cell in sheet[1]].index(text) + 1
    for cell in (sheet["A2"], sheet["C2"], sheet.cell(1, place), sheet.cell(2, place)):
        assert (cell.value, cell.data_type) == (text, "s")
    assert b"<f>" not in zipfile.ZipFile(file).read("xl/worksheets/sheet2.xml")


def test_any_text_makes_a_workbook_that_opens():
    texts = HOSTILE | REFUSED
    samples = [{"id": name, "answer": text, "contexts": [text], "meta": {text: text}} for name, text in texts.items()]
    lines = [{"id": "a1", "text": text, "verdict": text, "evidence": [text, 7], "quote": None} for text in texts.values()]
    told = []
    manifest = {"signature": "\x00" + HOSTILE["ansi"], "run_id": "=1"}
    run = ragstone.Run.from_scores([{**ROW, "sample_id": name, "verdicts": lines} for name in texts][:1], samples, manifest)
    file = written(run, tell=told.append)
    for name in zipfile.ZipFile(file).namelist():
        ElementTree.fromstring(zipfile.ZipFile(file).read(name))
    book = openpyxl.load_workbook(file)
    found = dict(zip(texts, rows(book["samples"]), strict=True))
    assert found["formula"]["answer"] == HOSTILE["formula"]
    assert found["controls"]["answer"] == "a\ufffdb" + "\ufffd" * 9 + "\x7f"
    assert found["half a pair"]["answer"] == "half \ufffd of a pair \ufffd"
    assert found["carriage"]["answer"].startswith("good\nbad")
    assert not any(cell.data_type in "fe" for sheet in book for row in sheet.iter_rows() for cell in row)
    assert len(told) == 1


@pytest.mark.parametrize(("text", "lang"), [("w" * 40_000, "en"), ("很" * 40_000, "zh"), ("😀" * 20_000, "en")])
def test_a_text_longer_than_a_cell_is_cut_with_a_mark_and_told(text, lang):
    told = []
    found = rows(opened(one([{"id": "s1", "answer": text}]), lang=lang, tell=told.append)["samples"])[0]["answer"]
    mark = say("sheets.cut", lang, count=len(text))
    assert found.endswith(mark)
    assert text.startswith(found.removesuffix(mark))
    assert sheets.MOST_CHARACTERS - 2 < len(found.encode("utf-16-le")) // 2 <= sheets.MOST_CHARACTERS
    assert told == [say("sheets.cut_told", lang, count=1)]


def test_a_text_that_just_fits_is_whole():
    text, told = "w" * sheets.MOST_CHARACTERS, []
    assert rows(opened(one([{"id": "s1", "answer": text}]), tell=told.append)["samples"])[0]["answer"] == text
    assert told == []


def test_more_rows_than_a_sheet_holds_go_on_in_another(monkeypatch):
    monkeypatch.setattr(sheets, "MOST_ROWS", 151)
    lines = [{"id": f"a{n}", "text": f"c{n}", "verdict": "supported"} for n in range(320)]
    book = opened(one(None, [{**ROW, "verdicts": lines}]))
    assert book.sheetnames == ["summary", "samples", "claims", "failures", "claims 2", "claims 3"]
    parts = [rows(book[name]) for name in ("claims", "claims 2", "claims 3")]
    assert [len(part) for part in parts] == [150, 150, 20]
    assert [row["id"] for part in parts for row in part] == [line["id"] for line in lines]


def test_of_more_columns_than_a_sheet_holds_those_of_the_metrics_are_kept(monkeypatch):
    monkeypatch.setattr("ragstone.export.xlsx.MOST_COLUMNS", 13)
    told, sample = [], {"id": "s1", "meta": {f"k{n}": n for n in range(5)}}
    row = rows(opened(one([sample]), tell=told.append)["samples"])[0]
    assert [name for name in row if name.startswith("k")] == ["k0", "k1", "k2", "k3"]
    assert list(row)[-4:] == ["faithfulness", "faithfulness.status", "faithfulness.reason", "unsupported_claims"]
    assert told == [say("sheets.columns_told", "en", count=14, most=13)]


def test_numbers_of_the_users_own_columns_stay_numbers():
    row = rows(opened(one([{"id": "s1", "meta": {"数": 3, "x": 2.5, "y": True, "z": 2**70, "inf": float("inf")}}]))["samples"])[0]
    assert (row["数"], row["x"], row["y"], row["z"], row["inf"]) == (3, 2.5, True, str(2**70), None)


def test_every_repeat_has_its_claims():
    lines = [{"id": "a1", "verdict": "supported"}]
    found = rows(opened(one(None, [{**ROW, "repeat": n, "verdicts": lines} for n in range(3)]))["claims"])
    assert [row["repeat"] for row in found] == [0, 1, 2]


def test_a_run_of_bare_scores():
    book = opened(one(None))
    assert rows(book["samples"])[0]["faithfulness"] == 0.5
    assert (book["claims"].max_row, book["failures"].max_row) == (1, 1)
    assert [row["metric"] for row in rows(book["summary"])] == ["faithfulness", None, "samples"]
