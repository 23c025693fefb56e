import codecs
import csv
import gzip
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DataError, Problem
from ragstone.reading.formats import JsonLinesTable, open_table

MB = 1_000_000


def table(path, encoding="utf-8", lang="en"):
    return open_table(path, encoding, lang, MB)


def write(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows(path, **options):
    return [(row.number, dict(row.cells)) for row in table(path, **options).rows()]


def trouble(path, **options):
    """All texts of what is wrong, with the row."""
    try:
        return [(item.row, item.text) for item in table(path, **options).rows() if isinstance(item, Problem)]
    except DataError as error:
        return [(problem.row, problem.text) for problem in error.problems]


PIECES = ['{"问题": "甲"}', '{"a": 1}', "{", "}", "[1]", '"\u2028\x85"', "\n", "\r\n", "\r", " ", "\v\f", "\ufeff", "\0", "NaN", "\ud800"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_law_lines_of_utf_8_are_read_as_those_of_any_encoding(tmp_path_factory, text):
    path = write(tmp_path_factory.mktemp("lines"), "a.jsonl", text.encode("utf-8", "surrogatepass"))
    found, same = (list(JsonLinesTable(path, encoding, "en").rows()) for encoding in ("utf-8", "utf-8-sig"))
    if "\ud800" in text:  # a decoder reads ahead, so it meets the bad byte before it gives the rows above it
        assert isinstance(found[-1], Problem)
        assert found[-1].row is None
    else:
        assert found == same


AB = [(1, {"问题": "甲", "answer": "a"}), (2, {"问题": "乙", "answer": "b"})]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.jsonl", '{"问题":"甲","answer":"a"}\n{"问题":"乙","answer":"b"}\n'),
        ("x.ndjson", '{"问题":"甲","answer":"a"}\r\n{"问题":"乙","answer":"b"}'),
        ("x.json", '[{"问题":"甲","answer":"a"},\n {"问题":"乙","answer":"b"}]'),
        ("X.JSON", '{"问题":"甲","answer":"a"}\n{"问题":"乙","answer":"b"}'),
        ("x.csv", "问题,answer\n甲,a\n乙,b\n"),
        ("x.csv", '"问题","answer"\r\n"甲","a"\r\n"乙","b"'),
        ("x.csv", "问题,answer\r甲,a\r乙,b\r"),
        ("x.csv", " 问题 ;answer\n甲;a\n乙;b\n"),
        ("x.tsv", "问题\tanswer\n甲\ta\n乙\tb\n"),
        ("x.csv", ",问题,answer\n0,甲,a\n1,乙,b\n"),
        ("unknown", '[{"问题":"甲","answer":"a"},{"问题":"乙","answer":"b"}]'),
        ("unknown.txt", '{"问题":"甲","answer":"a"}\n{"问题":"乙","answer":"b"}'),
        ("unknown.data", "问题,answer\n甲,a\n乙,b\n"),
        ("unknown.dat", "问题\tanswer\n甲\ta\n乙\tb\n"),
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_format_gives_the_same_rows(tmp_path, name, text, mark):
    assert rows(write(tmp_path, name, mark + text)) == AB


@pytest.mark.parametrize("encoding", ["gbk", "gb18030", "big5", "utf-16", "utf-16-le", "GB2312", "utf-8-sig"])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json"])
def test_encodings(tmp_path, encoding, name):
    text = {"x.csv": "问题,answer\n甲,a\n乙,b\n", "x.jsonl": '{"问题":"甲","answer":"a"}\n{"问题":"乙","answer":"b"}'}.get(name)
    text = text or '[{"问题":"甲","answer":"a"},{"问题":"乙","answer":"b"}]'
    text = text.replace("问题", "問題") if encoding == "big5" else text
    found = rows(write(tmp_path, name, text.encode(encoding)), encoding=encoding)
    assert [list(cells.values()) for _, cells in found] == [["甲", "a"], ["乙", "b"]]


def test_rows_can_be_read_again_and_again(tmp_path):
    found = table(write(tmp_path, "x.csv", "a,b\n1,2\n"))
    assert [row.cells for row in found.rows()] == [row.cells for row in found.rows()] == [{"a": "1", "b": "2"}]


def test_blank_rows_are_skipped_and_counted(tmp_path):
    assert rows(write(tmp_path, "x.jsonl", '\n{"a":1}\n\n  \n{"a":2}\n')) == [(2, {"a": 1}), (5, {"a": 2})]
    assert rows(write(tmp_path, "x.csv", "\na,b\n1,2\n\n,\n3,4\n")) == [(1, {"a": "1", "b": "2"}), (4, {"a": "3", "b": "4"})]


def test_cells_may_hold_line_breaks_quotes_and_a_megabyte(tmp_path):
    before = csv.field_size_limit()
    path = tmp_path / "x.csv"
    cells = ['a "quoted"\nline', "x" * MB]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a", "b"], cells])
    assert rows(path) == [(1, {"a": cells[0], "b": cells[1]})]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    ("name", "data", "row", "part"),
    [
        ("x.csv", "a,b\n1,2\n1,2,3\n", 2, "3 cells, too many: the header has 2"),
        ("x.csv", "a,b\n1,2\n1\n", 2, "1 cells, too few: the header has 2"),
        ("x.csv", 'a,b\n1,2\n"he said "hi" to",2\n3,4\n', 2, "quotes cannot be read (line 3 of the file)"),
        ("x.csv", 'a,b\n1,2\n"never,closed\n3,4\n', 2, "(line 3 of the file) is never closed"),
        ("x.csv", 'a,"b\n1,2\n', None, "never closed"),
        ("x.csv", "a,b\n1,2\n3,\0\n", 2, "NUL"),
        ("x.csv", "a,b\n", None, "only a header"),
        ("x.csv", "a,b\n\n,,\n", None, "only a header"),
        ("x.csv", "a,b,a\n1,2,3\n", None, "two columns have this name (places 1, 3)"),
        ("x.csv", "a, a \n1,2\n", None, "two columns have this name"),
        ("x.csv", "# exported today\na,b\n1,2\n", None, "comment"),
        ("x.csv", ",,\n,,\n", None, "column names"),
        ("x.csv", "a\0,b\n1,2\n", None, "NUL"),
        ("x.csv", "", None, "empty"),
        ("x.jsonl", " \n\n", None, "empty"),
        ("x.json", "\ufeff", None, "empty"),
        ("x.jsonl", '{"a":1}\n[1]\n', 2, "found a list"),
        ("x.jsonl", '{"a":1}\n"text"\n', 2, "found text"),
        ("x.jsonl", '{"a":1}\n5\n', 2, "found a number"),
        ("x.jsonl", '{"a":1}\ntrue\n', 2, "found true/false"),
        ("x.jsonl", '{"a":1}\nnull\n', 2, "found null"),
        ("x.jsonl", '{"a":1}\n{"a":\n', 2, "not valid JSON at character"),
        ("x.jsonl", '{"a":1}\n{"a":NaN}\n', 2, "write null"),
        ("x.jsonl", '{"a":1}\n{"a":-Infinity}\n', 2, "write null"),
        ("x.jsonl", '{"a":1}\n{"a":"\\ud800"}\n', 2, "not valid JSON"),
        ("x.jsonl", '{"a":1}\n# note\n', 2, "no comments"),
        ("x.jsonl", '{"a":1}\n// note\n', 2, "no comments"),
        ("x.jsonl", '{\n "a": 1\n}\n', 1, "several lines"),
        ("x.jsonl", '[{"a":1}]', 1, ".json file"),
        ("x.jsonl", '{"a":1}'.encode("utf-16-le"), 1, "--encoding utf-16"),
        ("x.json", '{"data":[{"a":1}]}', None, 'under "data"'),
        ("x.json", '{"a":1}', None, "square brackets"),
        ("x.json", "5", None, "found a number"),
        ("x.json", '[{"a":1},[2]]', 2, "found a list"),
        ("x.json", '[{"a":1}', None, "not valid JSON at line 1"),
        ("x.json", '[\n{"a":NaN}]', None, "write null"),
        ("x.csv", "问题\n甲\n".encode("gbk"), None, "byte offset 0 (line 1) is not utf-8: ce ca cc e2; try --encoding gbk"),
        ("x.csv", b"a,b\n1,2\n" + "3,中\n".encode("gbk"), None, "byte offset 10 (line 3)"),
        ("x.jsonl", b'{"a":"\xff"}', None, "byte offset 6"),
        ("x.json", b'[{"a":"\xff"}]', None, "byte offset 7"),
        ("x.csv", "a,b\n1,2".encode("utf-16"), None, "utf-16 byte order mark"),
        ("x.csv", codecs.BOM_UTF32_LE + "a".encode("utf-32-le"), None, "utf-32"),
        ("x.xlsx", "x", None, "named .xlsx but is none"),
        ("x.xls", "x", None, "Excel workbook (.xlsx)"),
        ("x.xlsx", b"\xd0\xcf\x11\xe0rest", None, "protected with a password"),
        ("x.csv", b"PK\x03\x04rest", None, "zip files cannot be read"),
        ("x.xlsx", b"PK\x03\x04rest", None, "damaged or cut off"),
        ("x.ods", b"PK\x03\x04rest", None, "Excel workbook (.xlsx)"),
        ("x.parquet", "x", None, "named .parquet but is none"),
        ("x.feather", "x", None, "Parquet or JSONL"),
        ("x.csv", b"PAR1rest", None, "damaged or cut off"),
        (
            "x.jsonl",
            gzip.compress(b"{}", mtime=0),
            None,
            "gzip files cannot be read; the formats are .jsonl, .json, .csv, .tsv, .xlsx and .parquet",
        ),
        ("x.yaml", "a: 1", None, "yaml files cannot be read"),
    ],
)
def test_bad_files_name_the_row_and_what_to_do(tmp_path, name, data, row, part):
    path = write(tmp_path, name, data)
    ((found, _),) = [item for item in trouble(path) if part in item[1]]
    assert found == row
    ((_, chinese), *_) = [item for item in trouble(path, lang="zh") if item[0] == row]
    assert any("\u4e00" <= c <= "\u9fff" for c in chinese)


def test_one_bad_row_leaves_the_others_readable(tmp_path):
    found = list(table(write(tmp_path, "x.csv", 'a,b\n1\n"x"y,2\n3,4\n')).rows())
    assert [item.row if isinstance(item, Problem) else item.cells["a"] for item in found] == [1, 2, "3"]


def test_the_offset_of_a_wrong_byte_far_into_a_file(tmp_path):
    good = "问题,答\n".encode() + "甲,乙\n".encode() * 20_000
    path = write(tmp_path, "x.csv", good + b"\xff,a\n")
    assert trouble(path)[0][1].startswith(f"byte offset {len(good)} (line 20002)")


def test_a_character_cut_at_the_end_of_a_file(tmp_path):
    data = '{"a":"中'.encode()[:-1]
    assert "byte offset 6" in trouble(write(tmp_path, "x.jsonl", data))[0][1]


def test_a_wrong_encoding_option(tmp_path):
    utf8 = write(tmp_path, "x.csv", "问题\n甲乙丙\n")
    assert "try --encoding utf-8" in trouble(utf8, encoding="ascii")[0][1]
    newer = write(tmp_path, "w.csv", "问题\n㐀乙\n".encode("gb18030"))
    for encoding in ("gbk", "GB2312", "cp936", "utf-8"):
        assert "try --encoding gb18030" in trouble(newer, encoding=encoding)[0][1]
    assert "try --encoding utf-8" in trouble(write(tmp_path, "v.csv", "问题\n甲乙丙㐀\n"), encoding="gbk")[0][1]
    marked = write(tmp_path, "y.csv", "\ufeff问题\n甲\n")
    assert "leave --encoding out" in trouble(marked, encoding="gbk")[0][1]
    odd = write(tmp_path, "z.csv", "a\n1\n".encode("utf-16-le") + b"x")
    assert trouble(odd, encoding="utf-16-le")


@pytest.mark.parametrize("name", ["klingon", "hex", "", "a\0b", "idna"])
def test_an_unknown_encoding(tmp_path, name):
    with pytest.raises(ConfigError, match="is not known"):
        table(write(tmp_path, "x.csv", "a\n1\n"), encoding=name)


def test_a_missing_file_names_a_similar_one(tmp_path):
    write(tmp_path, "samples.jsonl", "{}")
    assert trouble(tmp_path / "sample.jsonl") == [(None, "the file does not exist; did you mean samples.jsonl?")]
    assert trouble(tmp_path / "nowhere" / "a.csv") == [(None, "the file does not exist")]


def test_a_folder_is_no_file(tmp_path):
    assert "folder" in trouble(tmp_path)[0][1]


def test_notices_of_a_table(tmp_path):
    found = table(write(tmp_path, "x.csv", ";a;b\n0;1;2\n"))
    assert found.columns == ("a", "b")
    assert found.notices == ("column 1 has no name and is left out", "cells are separated by ;")


def test_a_json_file_of_many_rows(tmp_path):
    path = write(tmp_path, "x.json", json.dumps([{"a": i} for i in range(1000)]))
    assert [row.cells["a"] for row in table(path).rows()] == list(range(1000))


@pytest.mark.skipif(os.name == "nt", reason="links and names differ there")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_the_system_refuses_is_told(tmp_path, lang):
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    for path in (tmp_path / ("x" * 300), loop):
        ((row, text),) = trouble(path, lang=lang)
        assert (row, text.split(":")[0].split("：")[0]) == (None, {"en": "the file cannot be read", "zh": "无法读取文件"}[lang])
    assert trouble(tmp_path / "a\0b", lang="en") == [(None, "the file does not exist")]
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    assert "did you mean" not in trouble(tmp_path / "dangling.jsonl")[0][1]
