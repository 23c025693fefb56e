"""The page of all readings: nothing of the catalogue is missing, in either language."""

import re
from pathlib import Path

import pytest

from ragstone.shown.reading_page import Page, reading_page
from ragstone.shown.readings import catalogue

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_entry_stands_on_the_page(lang):
    page, parts = reading_page(lang), Page(lang)
    missing = [entry.id for entry in catalogue().values() if entry.kind != "slice" and parts.means(entry) not in page]
    assert missing == []
    assert all(parts.do(entry) in page for entry in catalogue().values() if entry.kind not in ("what_to_do", "worked"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_slot_is_left_open_and_every_table_is_whole(lang):
    page = reading_page(lang)
    assert not re.search(r"\{\w+\}", page)
    for table in re.findall(r"(?:^\|.*\n?)+", page, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


@pytest.mark.parametrize(("lang", "folder"), [("en", DOCS), ("zh", DOCS / "zh")])
def test_links_lead_somewhere(lang, folder):
    assert all((folder / target).is_file() for target in re.findall(r"\]\(([^)#]+)\)", reading_page(lang)))


def test_both_languages_say_the_same_in_the_same_order():
    shapes = [[line[:3].strip("*- ") and line[:2] for line in reading_page(lang).splitlines() if line[:1] in "#|"] for lang in ("en", "zh")]
    assert shapes[0] == shapes[1]


def test_what_is_typed_stands_as_code():
    page = reading_page("en")
    assert "`--preset fast`" in page
    assert "`--recall-points facts`" in page
    assert "context_\\*" in page


def test_the_fourfold_table_has_retrieval_across_and_generation_down():
    rows = Page("en").fourfold().splitlines()
    assert [cell.strip() for cell in rows[0].split("|")[2:4]] == ["retrieval bad", "retrieval good"]
    assert rows[2].startswith("| **generation bad** | Nothing supports these answers")
    assert rows[3].endswith("These work. What remains is polish. |")
