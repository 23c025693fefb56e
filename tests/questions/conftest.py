"""A driver of one exchange: answers its questions from a function and keeps what was asked."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ragstone.questions.base import Question, Reading, Reply


@dataclass
class Driver:
    """Plays judge: each question goes to `judge`, which gives raw text, a JSON value, or a Reply of its own."""

    asked: list[Question] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    @property
    def inputs(self) -> list[dict[str, Any]]:
        return [json.loads(question.body) for question in self.asked]

    def run(self, talk: Any, judge: Callable[[dict[str, Any]], Any]) -> Any:
        try:
            questions = next(talk)
            while True:
                self.rounds.append(len(questions))
                questions = talk.send([self._reply(question, judge) for question in questions])
        except StopIteration as done:
            keys = [question.key for question in self.asked]
            assert len(keys) == len(set(keys)), "an identical request was asked twice"
            return done.value

    def script(self, talk: Any, *replies: Any) -> Any:
        left = iter(replies)
        result = self.run(talk, lambda _: next(left))
        assert not list(left), "fewer asks than expected"
        return result

    def _reply(self, question: Question, judge: Callable[[dict[str, Any]], Any]) -> Reply:
        self.asked.append(question)
        said = judge(json.loads(question.body))
        if isinstance(said, Word):
            return Reply(question.key, None, Reading(), said.word)
        raw = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        return Reply(question.key, raw, question.kind.read(question.input, raw))


@dataclass(frozen=True)
class Word:
    """A failure word in place of a reply."""

    word: str


@pytest.fixture
def driver() -> Driver:
    return Driver()


@pytest.fixture
def fails() -> type[Word]:
    return Word
