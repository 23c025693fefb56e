"""The page of a comparison, in both languages."""

import re
from pathlib import Path

import pytest
from support.two_runs import claim, compared, row, rows

from ragstone.cli.blocks import COLUMNS, screen
from ragstone.cli.width import width
from ragstone.shown.blocks import Items, Text

GOLDEN = Path(__file__).parent / "golden"
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def correct(name, value, word, *chunks):
    lines = [claim("reference_claim", "r1", f"claim of {name}", word, key="k")]
    carried = [claim("reference_claim", "r1", f"claim of {name}", "supported" if chunks else "not_found", *chunks, key="k")]
    return [
        row(name, value, "answer_correctness", verdicts=lines, detail={"f1": value, "cosine": 0.5}),
        row(name, float(bool(chunks)), "context_recall", verdicts=carried),
    ]


def page_runs():
    """Two runs whose intervals are all computed, none of them drawn: the same digits with any numpy."""
    names = [f"问题-{i}" for i in range(24)]
    base = [r for name in names for r in correct(name, 1.0, "covered", "c1")]
    new = [r for i, name in enumerate(names) for r in correct(name, *((0.25, "missing") if i < 18 else (1.0, "covered", "c2")))]
    new[-7] = row(names[-4], "timeout", "context_recall")
    base += rows({f"old-{i}": 0.5 for i in range(12)}, "answer_correctness")
    samples = [
        {"id": name, "question": name, "meta": {"category": "same" if i > 20 else "leave" if i % 3 else "退换货"}}
        for i, name in enumerate(names)
    ]
    return compared(base, new, by="category", base_samples=samples, new_samples=samples, base_manifest={"signature": "one | t=0"})


@LANGUAGES
def test_the_whole_page(lang):
    page = screen(page_runs().blocks(lang, claims=2)) + "\n"
    assert page == (GOLDEN / f"comparison.{lang}.txt").read_text(encoding="utf-8")


@LANGUAGES
def test_no_line_is_wider_than_the_screen(lang):
    assert max(width(line) for line in screen(page_runs().blocks(lang)).split("\n")) <= COLUMNS


@LANGUAGES
@pytest.mark.parametrize("count", [0, 1, 18, 50])
def test_so_many_claims(lang, count):
    page = screen(page_runs().blocks(lang, claims=count))
    assert len(re.findall("claim of", page)) == min(18, count)


def test_markdown_and_html_hold_what_the_screen_holds(monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "en")
    found = page_runs()
    for text in (found.to_markdown("en"), found._repr_html_()):
        assert all(part in text for part in ("问题-3", "worse", "old-0", "category"))


def test_sample_text_is_data():
    nasty = "<img src=x onerror=alert(1)> \x1b[31m {0} {name} [a](http://e.example)"
    lines = ([claim("reference_claim", "r1", nasty, word)] for word in ("covered", "missing"))
    base, new = ([row(nasty, 0.5, "answer_correctness", verdicts=held)] for held in lines)
    found = compared(base, new)
    assert "<img" not in found._repr_html_()
    assert "\\<img" in found.to_markdown("en")
    assert "\x1b" not in screen(found.blocks("en"))


def test_runs_on_the_same_questions_are_told_on_the_page_and_not_in_the_document(tmp_path):
    from support.two_runs import write

    import ragstone

    folders = [write(tmp_path / str(i), rows([0.5] * 8), manifest={"gold_fingerprint": "g", "run_id": str(i)}) for i in range(4)]
    found = ragstone.compare(folders[0], folders[1])
    warned = [block.text for block in found.blocks("en") if isinstance(block, Text) and block.warning]
    assert any("This folder holds 4 runs on these questions" in text for text in warned)
    assert "This folder holds" not in str(found.to_dict("en"))


def test_a_smoke_test_stands_above_everything():
    found = compared(rows([0.5] * 8), rows([0.6] * 8), base_manifest={"judge": "local"})
    blocks = found.blocks("en")
    assert isinstance(blocks[1], Text)
    assert blocks[1].warning
    assert sum(isinstance(block, Text) and block.text == blocks[1].text for block in blocks) == 1


@LANGUAGES
@pytest.mark.parametrize("samples", [True, False])
def test_a_key_no_sample_has_is_told_above_the_verdicts(lang, samples):
    scores = rows({f"s{i}": 0.5 for i in range(8)})
    told = [{"id": f"s{i}", "question": f"q{i}", "meta": {"team": "a"} if samples else {}} for i in range(8)]
    found = compared(scores, scores, by="teem", base_samples=told, new_samples=told)
    blocks = found.blocks(lang)
    at = next(i for i, block in enumerate(blocks) if isinstance(block, Text) and block.warning and "teem" in block.text)
    assert at < next(i for i, block in enumerate(blocks) if isinstance(block, Items))
    assert sum(isinstance(block, Text) and "teem" in block.text for block in blocks) == 1
