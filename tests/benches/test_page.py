import copy
import json
from pathlib import Path

import pytest
from support.benches import ROOT, load

page = load("page")
rows = load("rows")

GOLDEN = Path(__file__).parent / "golden"
REPORT = json.loads((GOLDEN / "report.json").read_text(encoding="utf-8"))
ROW = {row.key: row for row in rows.ROWS}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("page.en.md", lambda: page.page(REPORT, "en")),
        ("page.zh.md", lambda: page.page(REPORT, "zh")),
        ("block.en.md", lambda: page.block(REPORT, "en") + "\n"),
        ("block.zh.md", lambda: page.block(REPORT, "zh") + "\n"),
        ("plain.txt", lambda: page.plain(REPORT) + "\n"),
    ],
)
def test_the_texts_made_from_given_figures(name, made):
    assert made() == (GOLDEN / name).read_text(encoding="utf-8")


# ------------------------------------------------------------------ bars
@pytest.mark.parametrize(
    ("key", "figure", "met"),
    [
        ("requests", {"value": 7.0}, True),
        ("requests", {"value": 7.005}, False),
        ("heavy", {"value": 0.0}, True),
        ("heavy", {"value": 1.0}, False),
        ("requests_joint", {"value": None, "why": "timeout"}, False),  # what could not be shown is not kept
        ("cpu_bare", {"value": 0.3}, None),  # has no bar
        ("requests", None, None),  # was not asked for
    ],
)
def test_a_bar_is_kept_up_to_the_bar_itself(key, figure, met):
    assert page.is_met(ROW[key], figure) is met


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("requests", 7.0, "7.00"),
        ("requests", 7.001, "7.001"),  # rounded it would look as if it kept the bar of 7
        ("requests", 8.001, "8.00"),
        ("tokens", 2.2, "2.20×"),
        ("tokens", 2.2004, "2.2004×"),
        ("megabytes", 148.2, "148 MB"),
        ("megabytes", 160.4, "160.4 MB"),
        ("failed", 0.4, "0.4"),
        ("cpu", 0.871, "0.87 ms"),
    ],
)
def test_rounding_never_hides_a_miss(key, value, shown):
    assert page.number(value, ROW[key]) == shown


# ------------------------------------------------------------------ texts
@pytest.mark.parametrize("lang", page.LANGUAGES)
def test_every_row_and_every_reason_has_a_name(lang):
    assert page.TEXTS["row"].keys() == {row.key for row in rows.ROWS}
    for row in rows.ROWS:
        assert page.name_of(row, REPORT, lang)
    for why in page.TEXTS["why"]:
        assert page.say(f"why.{why}", lang, detail="x")


@pytest.mark.parametrize(("lang", "told"), [("en", "Not a measurement"), ("zh", "不是测量结果")])
@pytest.mark.parametrize("made", [page.page, page.block])
def test_a_quick_run_is_never_shown_as_a_measurement(made, lang, told):
    assert told in made({**REPORT, "quick": True}, lang)
    assert told not in made(REPORT, lang)


def test_a_row_that_was_not_measured_is_left_out():
    report = copy.deepcopy(REPORT)
    del report["rows"]["requests"]
    shown = page.page(report, "en")
    assert "| chat requests, plan separate |" not in shown
    assert "| embedding requests |" in shown


# ------------------------------------------------------------------ the block of a README
README = f"# ragstone\n\n{page.BEGIN}\nold figures\n{page.END}\n\nMore.\n"


def test_only_what_stands_between_the_markers_changes():
    assert page.with_block(README, "new", "README.md") == f"# ragstone\n\n{page.BEGIN}\n\nnew\n\n{page.END}\n\nMore.\n"


def test_writing_a_block_twice_changes_nothing():
    once = page.with_block(README, "new", "README.md")
    assert page.with_block(once, "new", "README.md") == once


@pytest.mark.parametrize("readme", ["# ragstone\n", f"{page.BEGIN}\n", f"{page.END}\n{page.BEGIN}\n"])
def test_a_readme_without_a_place_is_told_what_to_put_where(readme):
    with pytest.raises(page.MarkerError) as told:
        page.with_block(readme, "new", "README.md")
    assert all(word in str(told.value) for word in ("README.md", page.BEGIN, page.END))


# ------------------------------------------------------------------ what is in the repository
PUBLISHED = json.loads((ROOT / "docs" / "benchmarks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("lang", "where"), [("en", "docs/benchmarks.md"), ("zh", "docs/zh/benchmarks.md")])
def test_the_published_page_is_that_of_the_published_figures(lang, where):
    written = (ROOT / where).read_text(encoding="utf-8")
    assert written == page.page(PUBLISHED, lang), "run `python benches/run.py --from docs/benchmarks.json`"


@pytest.mark.parametrize(("lang", "where"), [("en", "README.md"), ("zh", "README.zh.md")])
def test_the_readme_quotes_the_published_figures(lang, where):
    written = (ROOT / where).read_text(encoding="utf-8")
    assert written == page.with_block(written, page.block(PUBLISHED, lang), where), (
        "run `python benches/run.py --from docs/benchmarks.json`"
    )


@pytest.mark.parametrize("key", [row.key for row in rows.ROWS])
def test_the_published_bars_are_those_of_the_table(key):
    assert PUBLISHED["bars"].get(key) == ROW[key].bar


def test_nothing_published_names_a_path_of_the_machine():
    assert not [word for word in ("/tmp", "/home", "/work", "/root", "/usr") if word in json.dumps(PUBLISHED)]
