"""The history as a page: what is listed, how long it gets, and that texts stay texts."""

import pytest
from support.histories import claim_row, write_history_run

import ragstone
from ragstone.analysis.history import ClaimBook
from ragstone.shown.history import strip

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


@pytest.fixture
def found(tmp_path):
    for day, marks in enumerate(["+-++-", "++-+-", "++-+-"], 1):
        row = claim_row("退货<b>", marks)
        row["verdicts"][2]["text"] = "<script>|x|</script> {name}\n# 标题"
        write_history_run(tmp_path / f"r{day}", [row, claim_row("退货<b>", marks, "context_recall")], day)
    return ragstone.history(tmp_path)


@LANGUAGES
def test_the_page_lists_what_is_wrong_and_counts_what_is_right(found, lang):
    page = found.to_markdown(lang)
    assert page.count("| --- | --- | --- | --- |") == 3  # lost, never covered, fixed; not what passes
    for mark in ("✓✗✗", "✗✓✓", "✗✗✗"):
        assert mark in page
    assert "✓✓✓" not in page
    assert page.index("✓✗✗") < page.index("✗✗✗") < page.index("✗✓✓")


@pytest.mark.parametrize(
    ("lang", "lost", "fixed"), [("en", "lost in r2, not retrieved", "since r2"), ("zh", "丢于 r2，未检索到", "自 r2 起")]
)
def test_what_happened_is_said_in_words(found, lang, lost, fixed):
    page = found.to_markdown(lang)
    assert lost in page
    assert fixed in page


@LANGUAGES
def test_texts_of_claims_stay_texts(found, lang, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    assert "<script>" not in found.to_markdown(lang)
    assert "<script>" not in found._repr_html_()
    assert f'lang="{lang}"' in found._repr_html_()


def test_a_kind_that_was_asked_for_is_listed_though_it_is_right(found, tmp_path):
    assert "✓✓✓" in ragstone.history(tmp_path, only="pass").to_markdown("en")
    assert "No claim of this kind." in ragstone.history(tmp_path, only="flaky").to_markdown("en")


def test_a_long_list_says_how_much_more(tmp_path):
    write_history_run(tmp_path / "r1", [claim_row("a", "-" * 12)])
    blocks = [getattr(block, "text", "") for block in ragstone.history(tmp_path).blocks("en", 5)]
    assert "and 7 more" in blocks


def test_nothing_wrong(tmp_path):
    write_history_run(tmp_path / "r1", [claim_row("a", "+")])
    assert "Every claim was covered" in ragstone.history(tmp_path).to_markdown("en")


def test_of_a_long_history_the_newest_marks_are_shown():
    book = ClaimBook(str)
    for mark in "-" * 30 + "+":
        book.add([claim_row("a", mark)])
    assert strip(book.claims()[0], 5) == "…✗✗✗✓"


def test_in_one_line(found):
    assert repr(found).endswith("runs=3, lost=1, flaky=0, fail=1, fixed=1, unknown=0, pass=2)")
