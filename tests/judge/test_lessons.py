"""Lessons survive being written down; what is old or damaged is no lesson."""

from typing import Any

import orjson
import pytest

from ragstone.judge.lessons import Lesson, dated, read, together, written

NOON = 1_795_000_000.0
FORMAT = Lesson("format", "json_schema", "no", at=NOON)
ALL = [
    FORMAT,
    Lesson("drop", "temperature", "只能为 1", refused=0.0, scope="all_but_one", at=NOON),
    Lesson("send", "temperature", "no", refused=0.0, sent=0.01, at=NOON),
    Lesson("rename", "max_tokens", "no", sent="max_completion_tokens", at=NOON),
    Lesson("add", "enable_thinking", "no", sent={"enable_thinking": False}, at=NOON),
    Lesson("limit", "largest_output", "no", refused=9000, sent=8192, at=NOON),
]


def test_what_is_written_is_read_again_with_its_day() -> None:
    back = read(orjson.loads(orjson.dumps(written(ALL))), NOON)
    assert [(x.change, x.name, x.why, x.refused, x.sent, x.scope, x.at) for x in back] == [
        (x.change, x.name, x.why, x.refused, x.sent, x.scope, x.at) for x in ALL
    ]
    assert {x.since for x in back} == {"2026-11-18"}
    assert back[0].told == "no (remembered since 2026-11-18)"


@pytest.mark.parametrize(
    "damage",
    [
        {"change": "explode"},
        {"change": None},
        {"name": 3},
        {"why": None},
        {"at": "yesterday"},
        {"at": NOON - 1},
        {"scope": "some"},
        {"change": "add", "sent": [1]},
        {"change": "limit", "sent": "8192"},
        {"change": "rename", "sent": None},
    ],
)
def test_what_is_old_or_damaged_is_left_out(damage: dict[str, Any]) -> None:
    good = written([FORMAT])[0]
    assert [x.name for x in read([good | damage, good, 7, None], NOON)] == ["json_schema"]
    assert read({"a": 1}, NOON) == []
    assert read(None, NOON) == []


def test_what_is_taught_anew_takes_the_place_of_what_was_known() -> None:
    anew = [
        Lesson("limit", "largest_output", "no", sent=4096),
        Lesson("rename", "max_completion_tokens", "no", sent="max_tokens"),
        Lesson("drop", "temperature", "no", refused=0.7),
    ]
    assert together(ALL, anew) == [*ALL[:3], ALL[4], *anew]
    assert together(ALL, []) == ALL


def test_a_remembered_lesson_keeps_its_moment() -> None:
    assert dated(FORMAT, 5.0).at == 5.0
    (old,) = read(written([FORMAT]), NOON)
    assert dated(old, 5.0) is old


@pytest.mark.parametrize(
    ("scope", "meant", "not_meant"), [("value", [0.0, 0], [0.7, 1]), ("all_but_one", [0.0, 0.7], [1, 1.0]), ("all", [0.0, 1, 0.7], [])]
)
def test_a_lesson_means_its_value_all_but_one_or_all(scope: Any, meant: list[float], not_meant: list[float]) -> None:
    lesson = Lesson("drop", "temperature", "no", refused=0.0, scope=scope)
    assert all(lesson.means(value) for value in meant)
    assert not any(lesson.means(value) for value in not_meant)
