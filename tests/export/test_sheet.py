"""Sheets hold any text as text, and never more of it than a cell can."""

import io

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.export import sheet
from ragstone.export.sheet import Book, Title


def reopened(book):
    file = io.BytesIO()
    book.save(file)
    return openpyxl.load_workbook(file)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.text(st.characters(), max_size=20) | st.integers() | st.floats(0, 1) | st.booleans() | st.none(), max_size=6))
def test_what_goes_in_comes_out_and_texts_stay_texts(values):
    book = Book("en")
    made = book.sheet("s", [Title(f"c{n}") for n in range(len(values))] or [Title("none")])
    made.append(values)
    found = list(reopened(book)["s"].iter_rows(min_row=2))
    cells = found[0] if found else ()
    for value, cell in zip(values, cells, strict=False):
        if isinstance(value, str):
            plain = value.replace("\r\n", "\n").replace("\r", "\n")
            assert len(cell.value or "") == len(plain)
            assert all(a == b or b == "\ufffd" for a, b in zip(plain, cell.value or "", strict=True))
            assert cell.data_type == "s" or not value
        elif isinstance(value, int) and abs(value) >= 10**15:
            assert cell.value == str(value)
        else:
            assert cell.value == value or cell.value == pytest.approx(value, rel=1e-15)
            assert cell.data_type in ("n", "b")


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from("a很😀\r\n"), min_size=1, max_size=30), times=st.integers(1, 40))
def test_no_cell_holds_more_than_it_can(text, times):
    most, sheet.MOST_CHARACTERS = sheet.MOST_CHARACTERS, 100
    try:
        book = Book("zh")
        book.sheet("s", [Title("t")]).append([text * times])
        found = reopened(book)["s"]["A2"].value or ""
    finally:
        sheet.MOST_CHARACTERS = most
    plain = (text * times).replace("\r\n", "\n").replace("\r", "\n")
    whole = len(plain.encode("utf-16-le")) // 2 <= 100
    assert len(found.encode("utf-16-le")) // 2 <= 100
    assert (found == plain) == whole
    assert book.cut == (not whole)


def test_a_sheet_without_rows_has_its_head_and_filter():
    book = Book("en")
    book.sheet("s", [Title("a"), Title("b", "score", "scale")])
    found = reopened(book)["s"]
    assert ([cell.value for cell in found[1]], found.auto_filter.ref, len(found.conditional_formatting)) == (["a", "b"], "A1:B1", 0)
