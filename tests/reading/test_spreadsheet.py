"""Workbooks as people save them; every file is made here with openpyxl."""

import datetime as dt
import json
import warnings
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.styles import PatternFill

from ragstone.errors import DataError
from ragstone.reading import spreadsheet
from ragstone.samples import scan

HEADER = ["问题", "回答", "检索片段", "参考答案"]


def book(folder: Path, *rows: list, name: str = "a.xlsx", edit=None) -> Path:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    if edit:
        edit(workbook.active)
    workbook.save(folder / name)
    return folder / name


def problems(path: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        scan(path, lang="en")
    return str(caught.value).replace(f"{path}: ", "").splitlines()


# ------------------------------------------------------------------ what cells say
def test_a_workbook_gives_the_samples_that_the_same_csv_gives(tmp_path):
    rows = [HEADER, ["年假几天？", "5 天。", '["年假 5 天", "病假 3 天"]', "5 天"], ["", "b", "['x']", "  "], ["q", None, "一段文字", None]]
    text = "\n".join(",".join('"' + (cell or "").replace('"', '""') + '"' for cell in row) for row in rows)
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    sheet, table = scan(book(tmp_path, *rows)), scan(tmp_path / "a.csv")
    assert list(sheet) == list(table)
    assert (sheet.gold_fingerprint, sheet.samples_fingerprint) == (table.gold_fingerprint, table.samples_fingerprint)
    assert sheet.notices == table.notices


@pytest.mark.parametrize(
    ("value", "style", "said"),
    [
        (5, None, "5"),
        (5.0, None, "5"),
        (0.1 + 0.2, None, "0.3"),
        (0.05, "0%", "5%"),
        (0.125, "0.00%", "12.5%"),
        (1234567.5, "#,##0.00", "1234567.5"),
        (dt.datetime.fromisoformat("2024-05-01"), None, "2024-05-01"),
        (dt.datetime.fromisoformat("2024-05-01T09:30"), None, "2024-05-01T09:30:00"),
        (dt.time(9, 30), None, "09:30:00"),
        (dt.timedelta(hours=30), "[h]:mm", "1 day, 6:00:00"),
        ("一行_x000D_\n两行", None, "一行\r\n两行"),
        ("snake_xl", None, "snake_xl"),
        ("#N/A", None, None),
        ("=1+1", None, None),
        ("   ", None, None),
    ],
)
def test_what_is_typed_into_a_text_cell(tmp_path, value, style, said):
    def styled(sheet):
        if style:
            sheet["B2"].number_format = style

    (sample,) = scan(book(tmp_path, HEADER, ["q", value, "c", None], edit=styled))
    assert sample.answer == said


def test_numbers_dates_and_truth_stay_what_they_are_under_meta(tmp_path):
    path = book(tmp_path, ["question", "n", "x", "d", "ok", "none"], ["q", 3, 0.5, dt.datetime.fromisoformat("2024-05-01"), True, None])
    (sample,) = scan(path)
    assert sample.meta == {"n": 3, "x": 0.5, "d": "2024-05-01", "ok": True}


def test_a_number_may_be_the_only_context_and_the_id(tmp_path):
    (sample,) = scan(book(tmp_path, ["id", "question", "contexts"], [1001.0, "q", 42]))
    assert (sample.id, [c.text for c in sample.contexts]) == ("1001", ["42"])


# ------------------------------------------------------------------ shapes of sheets
def test_blank_rows_and_columns_and_styled_cells_are_nothing(tmp_path):
    def styled(sheet):
        sheet["J40"].fill = PatternFill("solid", fgColor="FF0000")
        sheet["A41"] = " "

    source = scan(book(tmp_path, [], ["question", None, "answer", None], [], ["q1", None, "a1"], [], ["q2", None, "a2"], edit=styled))
    assert [(s.question, s.answer) for s in source] == [("q1", "a1"), ("q2", "a2")]
    assert not any("no name" in notice for notice in source.notices)


def test_what_stands_under_no_name_is_left_out_and_told(tmp_path):
    source = scan(book(tmp_path, ["question", None, "answer"], ["q", "x", "a", "beside"]), lang="en")
    assert "column B, D has no name and is left out" in source.notices
    assert [s.meta for s in source] == [{}]


def test_the_first_visible_sheet_is_read_and_the_others_are_told(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.active.title, workbook.active.sheet_state = "hidden", "hidden"
    workbook.create_sheet("gold").append(["question"])
    workbook["gold"].append(["q"])
    workbook.create_sheet("notes")
    workbook.save(tmp_path / "a.xlsx")
    source = scan(tmp_path / "a.xlsx", lang="en")
    assert [s.question for s in source] == ["q"]
    assert source.notices[0] == "sheet gold is read; the workbook has others, which are not: hidden, notes"


def test_a_sheet_that_understates_its_size_is_read_to_the_end(tmp_path):
    path, other = book(tmp_path, ["question"], ["q1"], ["q2"]), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b'<dimension ref="A1:A3"', b'<dimension ref="A1:A1"') if "sheet1" in name else data)
    assert len(list(scan(other))) == 2


SHARED = """<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>问题</t></si>
<si><r><t xml:space="preserve">年假 </t></r><r><rPr><b/></rPr><t>几天？</t></r><rPh sb="0" eb="2"><t>ネンキュウ</t></rPh></si></sst>"""
CELLS = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>
<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="4"><c r="A4" t="s"><v>1</v></c></row></sheetData></worksheet>"""


def test_texts_shared_between_cells_as_excel_saves_them(tmp_path):
    path, other = book(tmp_path, ["x"], ["y"]), tmp_path / "b.xlsx"
    kind = 'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"'
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in set(old.namelist()) - {"xl/sharedStrings.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"}:
            new.writestr(name, old.read(name))
        types = old.read("[Content_Types].xml").decode()
        if "sharedStrings" not in types:
            types = types.replace("</Types>", f'<Override PartName="/xl/sharedStrings.xml" {kind}/></Types>')
        new.writestr("[Content_Types].xml", types)
        new.writestr("xl/sharedStrings.xml", SHARED)
        new.writestr("xl/worksheets/sheet1.xml", CELLS)
    assert [s.question for s in scan(other)] == ["年假 几天？"]


def test_a_workbook_is_known_by_its_content(tmp_path):
    path = book(tmp_path, ["question"], ["q"])
    assert [s.question for s in scan(path.rename(tmp_path / "gold.csv"))] == ["q"]


def test_reading_twice_and_only_the_first_rows(tmp_path):
    source = scan(book(tmp_path, ["question"], *[[f"q{i}"] for i in range(100)]), limit=70)
    assert [s.question for s in source] == [s.question for s in source] == [f"q{i}" for i in range(70)]


def test_nothing_is_warned_about_what_is_not_read(tmp_path):
    path, other = book(tmp_path, ["question"], ["q"]), tmp_path / "b.xlsx"
    extension = b'<extLst><ext uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"/></extLst></worksheet>'
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</worksheet>", extension) if "sheet1" in name else old.read(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(scan(other))) == 1


# ------------------------------------------------------------------ mistakes
def test_every_mistake_is_told_with_row_column_and_cell(tmp_path):
    def spoilt(sheet):
        sheet["A5"] = "#REF!"
        sheet["A5"].data_type = "e"

    path = book(tmp_path, [], HEADER, ["q1", True, "c", None], [], ["q3", "a", "['x", None], edit=spoilt)
    first, *_, last = problems(path)
    assert first.startswith("row 1, column 回答: must be text, found true/false")
    assert first.endswith("(cell B3)")
    assert last == "row 3, column 问题: the cell holds the error #REF!; mend the formula (cell A5)"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "there are no rows"),
        ([HEADER], "there is only a header and no row below it"),
        ([["问题", "回答", "问题"], ["a", "b", "c"]], "column 问题: two columns have this name (places A, C); rename or delete one"),
        ([["评测集", None, None], ["问题", "回答", "检索片段"], ["a", "b", "c"]], "Delete the title above the table"),
        ([["x", "y"], ["a", "b"]], "no column is known by name; the columns are: x, y"),
    ],
)
def test_sheets_that_are_no_table_of_samples(tmp_path, rows, said):
    (problem,) = problems(book(tmp_path, *rows))
    assert said in problem


def test_a_title_above_the_table_is_told_where_it_is_merged_too(tmp_path):
    path = book(tmp_path, ["评测集"], HEADER, ["a", "b", "c", "d"], edit=lambda sheet: sheet.merge_cells("A1:D1"))
    assert "title" in problems(path)[0]


def test_a_cell_has_the_limit_it_has_everywhere(tmp_path):
    with pytest.raises(DataError, match=r"--max-cell-mb.*cell B2"):
        scan(book(tmp_path, HEADER, ["q", "长" * 10_000, None, None]), max_cell_mb=0.01, lang="en")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_off_is_damaged(tmp_path, kept):
    path = book(tmp_path, HEADER, ["q", "a", "c", "r"])
    data = path.read_bytes()
    path.write_bytes(data[: int(kept * len(data))])
    assert problems(path)[0].startswith("the XLSX file is damaged or cut off (")


def test_a_sheet_that_is_broken_inside_is_damaged(tmp_path):
    path, other = book(tmp_path, HEADER, *[["q", "a", json.dumps(["c"]), "r"]] * 100), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data[: 2 * len(data) // 3] if "sheet1" in name else data)
    assert any("damaged or cut off" in problem for problem in problems(other))


def test_a_workbook_without_a_sheet_is_damaged(tmp_path):
    path, other = book(tmp_path, HEADER, ["q", "a", "c", "r"]), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            if "sheet1" not in name:
                new.writestr(name, old.read(name))
    assert problems(other) == ["the XLSX file is damaged or cut off (no worksheet); save or download it again"]


def test_a_row_number_beyond_every_sheet_is_damage(tmp_path, monkeypatch):
    monkeypatch.setattr(spreadsheet, "_MOST_ROWS", 100)
    path, other = book(tmp_path, HEADER, ["q", "a", "c", "r"]), tmp_path / "b.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b'<row r="2"', b'<row r="99999999999"') if "sheet1" in name else data)
    assert "damaged or cut off (row " in problems(other)[0]
