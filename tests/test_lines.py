import pytest

from ragstone.lines import FileLines, ListLines


def read(lines):
    notices = []
    return [row for *_, row in lines.read(notices)], [str(notice) for notice in notices]


@pytest.mark.parametrize(
    ("content", "rows", "notices"),
    [
        pytest.param(b'{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}], [], id="whole"),
        pytest.param(b'{"a":1}\n{"a":2}', [{"a": 1}, {"a": 2}], [], id="no last line break"),
        pytest.param(b'{"a":1}\n{"a":', [{"a": 1}], ["line_torn: file=x.jsonl, line=2"], id="torn"),
        pytest.param(b'{"a":1}\n{"a":\n', [{"a": 1}], ["line_torn: file=x.jsonl, line=2"], id="torn, then a line break"),
        pytest.param(b'{"a":1}\nrubbish\n\n{"a":2}\n', [{"a": 1}, {"a": 2}], ["line_skipped: file=x.jsonl, line=2"], id="corrupt"),
        pytest.param(b'{"a":\n[1]\n{"a":2}\n', [{"a": 2}], [f"line_skipped: file=x.jsonl, line={n}" for n in (1, 2)], id="two corrupt"),
        pytest.param(b"\x00\x00\x00\n" + b'{"a":2}\n', [{"a": 2}], ["line_skipped: file=x.jsonl, line=1"], id="zeros after a power cut"),
        pytest.param(b'{"a":"\xff"}\n{"a":2}\n', [{"a": 2}], ["line_skipped: file=x.jsonl, line=1"], id="not UTF-8"),
        pytest.param(b"\n  \n" + b'{"a":"\xe9\x80\x80"}\r\n', [{"a": "退"}], [], id="blank lines and CRLF"),
        pytest.param(b'{"a":"x\\ud800y"}\n', [{"a": "x?y"}], [], id="a lone surrogate"),
        pytest.param(b"[" * 100000 + b"\n" + b'{"a":2}\n', [{"a": 2}], ["line_skipped: file=x.jsonl, line=1"], id="far too deep"),
        pytest.param(b"", [], [], id="empty"),
    ],
)
def test_a_file_is_read_as_far_as_it_can_be(content, rows, notices, tmp_path):
    (tmp_path / "x.jsonl").write_bytes(content)
    assert read(FileLines(tmp_path / "x.jsonl")) == (rows, notices)


def test_nan_is_handed_on_so_that_it_can_be_refused_by_name(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b'{"a":NaN}\n')
    ((row,), notices) = read(FileLines(tmp_path / "x.jsonl"))
    assert row["a"] != row["a"]
    assert notices == []


def test_a_place_gets_its_row_back(tmp_path):
    (tmp_path / "x.jsonl").write_bytes('{"a":"退货"}\nrubbish\n{"a":2}\n'.encode())
    for lines in (FileLines(tmp_path / "x.jsonl"), ListLines("x", [{"a": "退货"}, {"a": 2}])):
        assert all(lines.at(place) == row for place, _, row in lines.read([]))
        with lines.fetching() as fetch:
            assert all(fetch(place) == row for place, _, row in reversed(list(lines.read([]))))
