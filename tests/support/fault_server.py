"""A good judge on a real socket, between whose replies and the product a case puts its fault.

    def fault(call):                                   # called for every chat request
        if call.kind == "check_claims" and call.nth == 0:
            return say("sorry")                        # the first time; None = the good reply

    with FaultServer(table([EN, ZH]), fault) as server: ...

Embeddings are the truth table's `vectors`; a text it does not hold gets [1, 0].
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from support.server import Answer, Seen, ThreadedServer, say, vectors

from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import ask
from ragstone.questions.kinds import KINDS

USAGE = {"prompt_tokens": 40, "completion_tokens": 12}


def _finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("the scripted judge waited")


@dataclass(frozen=True)
class Call:
    """A chat request as the judge sees it."""

    seen: Seen
    kind: str
    input: dict[str, Any]
    nth: int
    """How often the same user text was asked before."""
    judge: ScriptedJudge

    @functools.cached_property
    def good(self) -> str:
        """What a good judge replies."""
        return _finished(self.judge.complete(ask(KINDS[self.kind], "en", 0, "", self.input))).text

    @property
    def parsed(self) -> dict[str, Any]:
        """The good reply as JSON, to be changed."""
        return orjson.loads(self.good)

    def about(self, *texts: str) -> bool:
        """True if the request holds one of the texts."""
        return any(text in self.seen.user for text in texts)


Fault = Callable[[Call], Answer | None]


def kind_of(seen: Seen) -> str:
    """Return the kind the first line of the system prompt names."""
    found = re.match(r"task: (\w+)/\d+\n", seen.body["messages"][0]["content"])
    assert found
    return found.group(1)


def reply(content: Any, **more: Any) -> Answer:
    """A chat completion with token counts; an object is written as JSON, a list goes out as parts of the content."""
    return say(orjson.dumps(content).decode() if isinstance(content, dict) else content, usage=USAGE, **more)


def error(status: int, message: str, code: str | None = None, param: str | None = None, **headers: str) -> Answer:
    """A refusal in OpenAI's shape."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class FaultServer(ThreadedServer):
    """Chat from a truth table with faults, embeddings from its vectors. `said` holds the contents of all chat replies."""

    def __init__(self, truth: Mapping[str, Any], fault: Fault | None = None, embed: Callable[[Seen], Answer] | None = None) -> None:
        super().__init__(self._chat, embed or self._embed)
        self._judge = ScriptedJudge.from_dict({**truth, "vectors": {}})
        self._vectors = truth.get("vectors") or {}
        self.fault: Fault | None = fault
        """May be replaced at any time."""
        self._asked: Counter[str] = Counter()
        self.calls: list[Call] = []
        self.statuses: list[int] = []
        """One a call; an error under HTTP 200 counts as 400."""
        self.said: list[str] = []
        self.mistakes: list[Exception] = []

    def _chat(self, seen: Seen) -> Answer:
        call = Call(seen, kind_of(seen), orjson.loads(seen.user), self._asked[seen.user], self._judge)
        self._asked[seen.user] += 1
        self.calls.append(call)
        try:
            answer = (self.fault and self.fault(call)) or reply(call.good)
        except Exception as mistake:  # a mistake of the test must not look like a fault of the server
            self.mistakes.append(mistake)
            raise
        self.statuses.append(400 if isinstance(answer.body, dict) and "error" in answer.body else answer.status)
        if answer.status == 200 and isinstance(answer.body, dict) and answer.body.get("choices"):
            content = (answer.body["choices"][0].get("message") or {}).get("content")
            self.said.append("".join(part.get("text", "") for part in content) if isinstance(content, list) else content)
        return answer

    def _embed(self, seen: Seen) -> Answer:
        return vectors(*(list(self._vectors.get(text, (1.0, 0.0))) for text in seen.body["input"]))

    def kinds(self) -> Counter[str]:
        """How often each kind was asked."""
        return Counter(call.kind for call in self.calls)
