"""Which lessons hold after an examination."""

import pytest

from ragstone.doctor.taught import lessons_now
from ragstone.judge.dialect import Dialect
from ragstone.judge.lessons import Lesson, dated, written

NOW = 1_800_000_000.0
DAY = 86400


def kept(*older: Lesson, fresh: tuple[Lesson, ...] = (), limit_name: str | None = None, days: float = 1, **parameters: object) -> list[str]:
    dialect = Dialect("m", {"temperature": 0.0, **parameters}, {}, {})
    held = written([dated(lesson, NOW - days * DAY) for lesson in older])
    return [f"{row['change']} {row['name']}" for row in lessons_now(dialect, fresh, held, NOW, limit_name=limit_name)]


FORMAT = Lesson("format", "json_schema", "not here")
SECOND = Lesson("format", "json_object", "not here")
COLD = Lesson("drop", "temperature", "no", refused=0.0)
WARM = Lesson("drop", "temperature", "no", refused=1.5)
RENAME = Lesson("rename", "max_tokens", "no", sent="max_completion_tokens")
LARGEST = Lesson("limit", "largest_output", "no", sent=4096)


@pytest.mark.parametrize(
    ("older", "limit_name", "left"),
    [
        (FORMAT, None, []),
        (SECOND, None, ["format json_object"]),
        (COLD, None, []),
        (WARM, None, ["drop temperature"]),
        (RENAME, "max_tokens", []),
        (RENAME, None, ["rename max_tokens"]),
        (LARGEST, "max_tokens", ["limit largest_output"]),
    ],
)
def test_what_was_accepted_just_now_disproves_an_older_lesson(older, limit_name, left):
    assert kept(older, limit_name=limit_name) == left


def test_what_was_found_now_takes_the_place_of_what_is_out_of_date():
    switch = Lesson("add", "thinking", "thinks", sent={"thinking": {"type": "disabled"}})
    assert kept(RENAME, fresh=(RENAME, switch)) == ["rename max_tokens", "add thinking"]


def test_what_is_older_than_a_month_is_forgotten():
    assert kept(LARGEST, days=31) == []


def test_a_damaged_memory_costs_nothing():
    assert lessons_now(Dialect("m", {}, {}, {}), (), [{"change": "?"}, 3], NOW, limit_name=None) == []
