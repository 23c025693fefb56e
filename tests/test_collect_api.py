import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.answering import FakeApplication, lines

import ragstone
from ragstone.errors import ConfigError

GOLD = [{"id": "a", "question": "A?"}, {"id": "b", "question": "B?"}]


def test_an_application_object_is_asked_and_closed(tmp_path: Path) -> None:
    application, told = FakeApplication(), list[Any]()
    found = ragstone.collect_samples(GOLD, application, to=tmp_path / "s.jsonl", concurrency=2, on_progress=told.append)
    assert (found.ok, application.closed, told[-1].total) == (2, 1, 2)
    assert [row["answer"] for row in lines(tmp_path / "s.jsonl")] == ["a/0", "b/0"]


def test_a_function_is_asked(tmp_path: Path) -> None:
    async def answer(question: str) -> dict[str, Any]:
        return {"answer": f"{question} yes", "contexts": ["c"]}

    async def within() -> Any:
        return await ragstone.acollect_samples(GOLD, answer, to=str(tmp_path / "s.jsonl"), repeat=2)

    found = asyncio.run(within())
    assert found.rows == 4
    rows = lines(tmp_path / "s.jsonl")
    assert [(row["id"], row["answer"]) for row in rows] == [("a#0", "A? yes"), ("a#1", "A? yes"), ("b#0", "B? yes"), ("b#1", "B? yes")]


def test_what_is_left_unread_of_results_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    ragstone.collect_samples(GOLD, lambda question: {"answer": "x", "took": 3}, to=tmp_path / "s.jsonl", on_notice=told.append)
    assert "Not read from what the function returned: took" in told


def test_it_works_inside_a_running_loop(tmp_path: Path) -> None:
    async def notebook() -> Any:
        return ragstone.collect_samples(GOLD, lambda question: question, to=tmp_path / "s.jsonl", on_notice=[].append)

    assert asyncio.run(notebook()).ok == 2


def test_what_is_collected_can_be_evaluated(tmp_path: Path) -> None:
    ragstone.collect_samples(GOLD, FakeApplication(), to=tmp_path / "s.jsonl")
    run = ragstone.evaluate(tmp_path / "s.jsonl", metrics="faithfulness", judge="local", on_notice=[].append)
    assert len(list(run.scores)) == 2


def test_samples_without_chunks_are_told_to_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    ragstone.collect_samples(GOLD, lambda question: question, to=tmp_path / "s.jsonl")
    assert "No row exposes" in caplog.text


@pytest.mark.parametrize("application", [3, "no_such_module:f", "no-such-platform"])
def test_what_cannot_be_asked_is_told_before_anything_is_written(tmp_path: Path, application: Any) -> None:
    with pytest.raises(ConfigError):
        ragstone.collect_samples(GOLD, application, to=tmp_path / "s.jsonl", url="http://127.0.0.1:1")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_setting_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="concurrency"):
        ragstone.collect_samples(GOLD, FakeApplication(), to=tmp_path / "s.jsonl", concurency=3)
