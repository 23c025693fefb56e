"""The history as a page: what is listed, how long it gets, and that texts stay texts."""

import pytest
from support.histories import claim_row, write_history_run

import ragstone
from ragstone.analysis.history import ClaimBook
from ragstone.shown.blocks import Items
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


def history_of(tmp_path, count):
    for i in range(1, count + 1):
        write_history_run(tmp_path / f"r{i}", [claim_row("a", "+" if i < count else "-")], min(i, 28))
    return ragstone.history(tmp_path)


@pytest.mark.parametrize(
    ("lang", "head", "first", "last"),
    [
        ("en", "counted from the left", "1: r1 (2026-03-01)", "4: r4 (2026-03-04)"),
        ("zh", "从左数起", "第 1 个：r1（2026-03-01）", "第 4 个：r4（2026-03-04）"),
    ],
)
def test_from_four_runs_on_each_mark_has_a_name(tmp_path, lang, head, first, last):
    page = history_of(tmp_path, 4).to_markdown(lang)
    assert page.index(head) < page.index(first) < page.index(last) < page.index("✓✓✓✗")


def test_three_runs_need_no_names(tmp_path):
    assert "counted from the left" not in history_of(tmp_path, 3).to_markdown("en")


@pytest.mark.parametrize(("count", "older", "oldest"), [(12, None, "1: r1 "), (13, 2, "3: r3 "), (30, 19, "10: r20 ")])
def test_at_most_twelve_lines_name_runs(tmp_path, count, older, oldest):
    found = history_of(tmp_path, count)
    (names,) = [block.items for block in found.blocks("en") if isinstance(block, Items)]
    assert len(names) == 12
    assert names[-1].startswith(f"{min(count, 20)}: r{count} ")
    assert names[1 if older else 0].startswith(oldest)
    assert (names[0] == f"{older} older runs are not named here") == (older is not None)
    place = int(names[-1].partition(":")[0])
    assert len(strip(found.claims[0])) == place
