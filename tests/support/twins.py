"""Runs made of a list of scores, once with English and once with Chinese samples: nothing else may differ between the two."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from support.two_runs import Cell, row

from ragstone import Run

Row = dict[str, Any]

NAMES = {"en": "q{:02}", "zh": "题{:02}"}
QUESTIONS = {"en": "How many days of leave in year {}?", "zh": "第 {} 年有几天年假？"}
ANSWERS = {"en": "In year {} there are {} days.", "zh": "第 {} 年有 {} 天。"}
GROUPS = {"en": {"leave": "leave", "pay": "pay", "it": "IT"}, "zh": {"leave": "休假", "pay": "薪酬", "it": "信息"}}


def names(lang: str, places: Iterable[int]) -> list[str]:
    """Ids of the samples at these places."""
    return [NAMES[lang].format(i) for i in places]


def scores(lang: str, values: Sequence[Cell] | Mapping[int, Cell], metric: str = "faithfulness", repeat: int = 0) -> list[Row]:
    """Score rows; a list starts at place 0, a mapping says the places."""
    placed = values.items() if isinstance(values, Mapping) else enumerate(values)
    return [row(NAMES[lang].format(i), value, metric, repeat=repeat) for i, value in placed]


def samples(lang: str, places: Iterable[int], groups: Sequence[str] = (), **columns: Any) -> list[Row]:
    """Rows of samples.jsonl with question, answer and, given groups in turn, a category; more columns as functions of the place."""
    return [
        {
            "id": NAMES[lang].format(i),
            "language": lang,
            "question": QUESTIONS[lang].format(i),
            "answer": ANSWERS[lang].format(i, i % 7 + 5),
            **({"meta": {"category": GROUPS[lang][groups[i % len(groups)]]}} if groups else {}),
            **{name: given(i) for name, given in columns.items()},
        }
        for i in places
    ]


def run(
    lang: str, values: Sequence[Cell] | Mapping[int, Cell], groups: Sequence[str] = (), manifest: Row | None = None, **columns: Any
) -> Run:
    """A run of one metric, with samples."""
    places = values.keys() if isinstance(values, Mapping) else range(len(values))
    return Run.from_scores(scores(lang, values), samples(lang, places, groups, **columns), manifest)
