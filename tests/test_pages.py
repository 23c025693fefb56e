import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import orjson
import pytest

from ragstone import pages
from ragstone.metrics import PRESETS, available
from ragstone.metrics.base import Metric, Steps
from ragstone.types import Sample

NAMES = tuple(pages.CASES)
EXPECTED = orjson.loads((Path(__file__).parent / "gold" / "expected.json").read_bytes())


def part(page: str, number: int) -> str:
    """The text below the heading with this number."""
    return re.split(r"^## .*$", page, flags=re.MULTILINE)[number].strip()


STEPS, CASES, EXAMPLE = 1, 2, 3


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_every_part_filled(name, lang):
    page = pages.page(name, lang)
    assert len(re.findall(r"^## ", page, re.MULTILINE)) == 6
    assert all(part(page, number) for number in range(1, 7))
    assert not re.search(r"\{\w+\}", page)
    assert page.startswith("# ")
    assert f"`{name}`" in page.splitlines()[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", NAMES)
def test_special_cases_have_three_columns_and_the_reasons_the_metric_gives(name, lang):
    rows = part(pages.page(name, lang), CASES).split("\n\n")[0].splitlines()
    shared = 3 if available()[name].judged else 2
    assert len(rows) == 2 + shared + len(pages.CASES[name])
    assert {row.count(" | ") for row in rows if not row.startswith("|-")} == {2}


@pytest.mark.parametrize(
    ("name", "lang", "value"),
    [
        ("faithfulness", "en", "4 of 5 claims supported, 4 / 5 = **0.800**"),
        ("faithfulness", "zh", "5 条论断中 4 条有依据，4 ÷ 5 = **0.800**"),
        ("answer_relevancy", "en", "the mean of 0.23, 0.20, 0.32 = **0.250**"),
        ("answer_relevancy", "zh", "0.28、0.25、0.34 的平均值 = **0.290**"),
        ("context_precision", "en", "useful at ranks 2, 3: (1/2 + 2/3) / 2 = **0.583**"),
        ("context_precision", "zh", "有用片段在第 1、4 位，(1/1 + 2/4) ÷ 2 = **0.750**"),
        ("context_recall", "en", "3 of 5 claims supported, 3 / 5 = **0.600**"),
        ("context_recall", "zh", "5 条论断中 3 条有依据，3 ÷ 5 = **0.600**"),
        ("answer_correctness", "en", "P = 4/5, R = 4/5, F = 0.800, cosine 0.86: 0.75 × 0.800 + 0.25 × 0.86 = **0.815**"),
        ("keyword_recall", "en", "3 of 5 keywords found, 3 / 5 = **0.600**"),
        ("keyword_recall", "zh", "7 个关键词找到 3 个，3 ÷ 7 = **0.429**"),
        ("answer_correctness", "zh", "P = 4/5，R = 4/5，F = 0.800，余弦 0.84；0.75 × 0.800 + 0.25 × 0.84 = **0.810**"),
    ],
)
def test_the_worked_example_ends_in_its_working_and_value(name, lang, value):
    assert part(pages.page(name, lang), EXAMPLE).splitlines()[-1].endswith(value)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", PRESETS["full"])
def test_the_value_is_the_one_computed_by_hand_for_the_bundled_set(name, lang):
    shown = float(re.findall(r"\*\*([\d.]+)\*\*", part(pages.page(name, lang), EXAMPLE))[-1])
    expected = EXPECTED[pages.EXAMPLES[name][lang]][name]["value"]
    assert shown == pytest.approx(eval(expected), abs=5e-4)  # a sum written out, such as (0.28+0.25+0.34)/3


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("faithfulness", "ca"),
        ("answer_relevancy", "q"),
        ("context_precision", "c"),
        ("context_recall", "cr"),
        ("answer_correctness", "ar"),
        ("keyword_recall", "ck"),
    ],
)
def test_the_example_shows_each_claim_chunk_and_question_once(name, kinds, lang):
    ids = re.findall(r"^- ([ackqr]\d+) ", part(pages.page(name, lang), EXAMPLE), re.MULTILINE)
    assert len(ids) == len(set(ids)) > 2
    assert {identifier[0] for identifier in ids} == set(kinds)


@dataclass(frozen=True, kw_only=True)
class Brevity(Metric):
    """Is the answer short?"""

    name: ClassVar[str] = "brevity"
    side: ClassVar[Literal["retrieval", "generation"]] = "generation"
    needs: ClassVar[tuple[str, ...]] = ("answer", "reference_contexts")

    def steps(self, sample: Sample) -> Steps:
        """Never called here."""
        raise NotImplementedError


@pytest.mark.parametrize(
    ("lang", "needs"), [("en", "| needs | answer, reference_contexts |"), ("zh", "| 回答 answer、标准片段 reference_contexts |")]
)
def test_a_metric_of_another_package_shows_its_docstring_and_facts(lang, needs, monkeypatch):
    monkeypatch.setattr(pages, "available", lambda: {"brevity": Brevity})
    page = pages.page("brevity", lang)
    assert page.startswith("# `brevity`\n\nIs the answer short?\n")
    assert needs.removeprefix("| needs ") in page
