"""What was asked and what was answered, found in the input and output that an application has put on its traces. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ragstone.langfuse.messages import BOTS, USERS, blocks_in, content_of, of_another, pairs_in, role_of, stream_in, turns_in
from ragstone.transport.error_body import read_json

SURE_QUESTIONS = (
    *(
        "question",
        "query",
        "user query",
        "user question",
        "user input",
        "user message",
        "user prompt",
        "user chat input",
        "chat input",
        "human input",
    ),
    *("query str", "str or query bundle", "sys query", "问题", "提问", "用户问题", "用户输入"),
)
QUESTIONS = (
    *SURE_QUESTIONS,
    *("input", "inputs", "prompt", "message", "new message", "contents", "text", "content", "kwargs", "args", "body", "data"),
)
"""Keys of an input that hold the question, or something that holds it, the surest first; _, - and . count as spaces."""
SURE_ANSWERS = ("answer", "final answer", "answer text", "final output", "replies", "答案", "回答", "回复")
ANSWERS = (
    *SURE_ANSWERS,
    *("output", "outputs", "response", "result", "output text", "reply", "completion", "generation", "message", "answers"),
    *("content", "text", "generated text", "text response", "ai message", "data", "body", "return", "return value", "raw", "kwargs"),
)
"""Keys of an output that hold the answer, or something that holds it, the surest first."""
T = TypeVar("T")
CHATS = ("messages", "chat history", "history")
CHOICES = ("choices", "candidates", "generations")
"""Keys of a model's reply that hold the alternatives; the first one counts."""
FAULTS = ("error", "errors", "exception", "traceback", "detail")
"""Keys that tell what went wrong: no answer."""
STATES = ("code", "status", "status code", "errno", "success")
"""Keys of an envelope: what stands beside them under `message` is the state, not the answer."""
OBJECT = re.compile(r"<[\w.]+ .*\bat 0x[0-9a-f]+>", re.IGNORECASE | re.DOTALL)
"""How Python writes an object that has no text of its own: nobody has asked that."""
DEEPEST = 6
"""Objects within objects that are looked into."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the turns before it."""

    question: str | None = None
    history: tuple[dict[str, str], ...] = ()
    """Earlier turns as {"role": "user" or "assistant", "content": text}, the first one first."""


def value_of(text: Any) -> Any:
    """Return what a text of JSON holds: an object, a list or a text, written as text in a text, too; anything else is returned as it is.

    Servers 3 have read numbers out of texts already: they are texts again.
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        return str(text)
    for _ in range(DEEPEST):
        if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "[", '"'):
            return text
        found = read_json(text.encode("utf-8", "replace"))
        if not isinstance(found, dict | list | str):
            return text
        text = found
    return text


def asked_in(given: Any) -> Asked:
    """Find the question: a text, the value of a known key, or the last message of the user; `Asked()` if there is none."""
    return _asked(given, DEEPEST) or Asked()


def answer_in(given: Any) -> str | None:
    """Find the answer: a text ("" too), the value of a known key, or the last message of the assistant; None if there is none."""
    return _answer(given, DEEPEST)


# ------------------------------------------------------------------ the question
def _asked(given: Any, depth: int) -> Asked | None:
    if isinstance(given, str):
        return Asked(given) if given.strip() and not OBJECT.fullmatch(given.strip()) else None
    if depth and isinstance(given, list):
        return _asked_of_list(given, depth)
    if not depth or not isinstance(given, Mapping) or of_another(given, USERS):
        return None
    if role_of(given) == "user" and (text := content_of(given)):
        return Asked(text)
    held = (_within(_asked, value, depth - 1) for value in _values(given, (CHATS[0], *QUESTIONS)))
    found = next((one for one in held if one is not None), None)
    if found is None:
        return _asked_aside(given, depth)
    return found if found.history else Asked(found.question, _before(given))


def _asked_of_list(given: list[Any], depth: int) -> Asked | None:
    if turns := list(turns_in(given)):
        last = next((at for at in range(len(turns) - 1, -1, -1) if turns[at]["role"] == "user"), None)
        return None if last is None else Asked(turns[last]["content"], tuple(turns[:last]))
    if text := blocks_in(given):
        return Asked(text)
    return next((found for one in given if (found := _asked(one, depth - 1)) is not None), None)


def _asked_aside(given: Mapping[Any, Any], depth: int) -> Asked | None:
    """Find it under a key that nobody knows: the only text, or what the parts of a pipeline were given."""
    if len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        return _asked(only, depth - 1)
    chats = [value for value in given.values() if isinstance(value, list) and any(True for _ in turns_in(value))]
    parts = (_asked(one, depth - 1) for one in (*chats, *_parts(given, (CHATS[0], *SURE_QUESTIONS))))
    return next((one for one in parts if one is not None), None)


def _before(given: Mapping[Any, Any]) -> tuple[dict[str, str], ...]:
    """The turns that stand beside a question of its own."""
    return next((tuple(turns_in(value)) or tuple(pairs_in(value)) for value in _values(given, CHATS[1:]) if isinstance(value, list)), ())


# ------------------------------------------------------------------ the answer
def _answer(given: Any, depth: int) -> str | None:
    if isinstance(given, str):
        return given
    if depth and isinstance(given, list):
        return _answer_of_list(given, depth)
    if not depth or not isinstance(given, Mapping) or of_another(given, BOTS):
        return None
    if (choices := next((value for value in _values(given, CHOICES) if isinstance(value, list) and value), None)) is not None:
        return _answer(choices[0], depth - 1)
    if role_of(given) == "assistant" and (text := content_of(given)) is not None:
        return text
    held = [_within(_answer, value, depth - 1) for value in _values(given, _answers(given))]
    if not held:
        return _answer_aside(given, depth)
    return next((one for one in held if one), next((one for one in held if one is not None), None))


def _answers(given: Mapping[Any, Any]) -> tuple[str, ...]:
    """The keys that may hold the answer, those of an envelope with what it carries first."""
    carried = ("data", "body", "result") if any(True for _ in _values(given, STATES)) else ()
    return (*SURE_ANSWERS, *carried, *ANSWERS, *CHATS)


def _answer_of_list(given: list[Any], depth: int) -> str | None:
    if (text := stream_in(given)) is not None:
        return text
    if turns := list(turns_in(given)):
        return next((turn["content"] for turn in reversed(turns) if turn["role"] == "assistant"), None)
    if (text := blocks_in(given)) is not None:
        return text
    return _answer(given[0], depth - 1) if len(given) == 1 else None


def _answer_aside(given: Mapping[Any, Any], depth: int) -> str | None:
    """Find it under a key that nobody knows: the only text, or what the parts of a pipeline gave."""
    name, only = next(iter(given.items())) if len(given) == 1 else ("", None)
    if isinstance(only, str):
        return None if _plain(str(name)) in FAULTS else only
    return next((found for one in _parts(given, SURE_ANSWERS) if (found := _answer(one, depth - 1))), None)


# ------------------------------------------------------------------ keys
def _values(given: Mapping[Any, Any], names: Sequence[str]) -> Iterator[Any]:
    told = {_plain(str(key)): value for key, value in given.items()}
    yield from (told[name] for name in map(_plain, names) if told.get(name) is not None)


def _parts(given: Mapping[Any, Any], names: Sequence[str]) -> Iterator[Mapping[Any, Any]]:
    """The objects within an object that have one of the keys."""
    yield from (one for one in given.values() if isinstance(one, Mapping) and any(True for _ in _values(one, names)))


def _plain(name: str) -> str:
    """A key without case and without what stands between its words."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _within(find: Callable[[Any, int], T | None], held: Any, depth: int) -> T | None:
    """Find it in what a text of JSON within an object holds; if it is not there, the text is what was said."""
    opened = value_of(held) if isinstance(held, str) else held
    found = None if isinstance(opened, str) else find(opened, depth)
    return find(held, depth) if found is None and isinstance(held, str) else found
