"""What was asked and what was answered, found in the input and output that an application has put on its traces. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.transport.error_body import read_json

QUESTIONS = (
    *("question", "query", "user_query", "user_question", "user_input", "user_message", "sys.query", "input", "inputs", "prompt"),
    *("message", "text", "content", "kwargs", "args", "body", "data"),
)
"""Keys of an input that hold the question, or something that holds it, the surest first."""
ANSWERS = (
    *("answer", "final_answer", "output", "outputs", "response", "result", "output_text", "reply", "completion", "message"),
    *("content", "text", "data", "return", "return_value", "kwargs"),
)
"""Keys of an output that hold the answer, or something that holds it, the surest first."""
CHATS = ("messages", "chat_history", "history")
USERS, BOTS = ("user", "human"), ("assistant", "ai", "model", "bot")
DEEPEST = 6
"""Objects within objects that are looked into."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the turns before it."""

    question: str | None = None
    history: tuple[dict[str, str], ...] = ()
    """Earlier turns as {"role": "user" or "assistant", "content": text}, the first one first."""


def value_of(text: Any) -> Any:
    """Return what a text of JSON holds: an object, a list or a text; anything else is returned as it is."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "[", '"'):
        return text
    found = read_json(text.encode("utf-8", "replace"))
    return found if isinstance(found, dict | list | str) else text


def asked_in(given: Any) -> Asked:
    """Find the question: a text, the value of a known key, or the last message of the user; `Asked()` if there is none."""
    return _asked(given, DEEPEST) or Asked()


def answer_in(given: Any) -> str | None:
    """Find the answer: a text ("" too), the value of a known key, or the last message of the assistant; None if there is none."""
    return _answer(given, DEEPEST)


# ------------------------------------------------------------------ the question
def _asked(given: Any, depth: int) -> Asked | None:
    if isinstance(given, str):
        return Asked(given) if given.strip() else None
    if depth and isinstance(given, list):
        return _asked_of_list(given, depth)
    if not depth or not isinstance(given, Mapping):
        return None
    if _of_another(given, USERS):
        return None
    held = (_asked(value, depth - 1) for value in _values(given, (CHATS[0], *QUESTIONS)))
    found = next((one for one in held if one is not None), None)
    if found is None and len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        found = _asked(only, depth - 1)
    if found is None or found.history:
        return found
    return Asked(found.question, _before(given))


def _asked_of_list(given: list[Any], depth: int) -> Asked | None:
    if turns := list(_turns(given)):
        last = next((at for at in range(len(turns) - 1, -1, -1) if turns[at]["role"] == "user"), None)
        return None if last is None else Asked(turns[last]["content"], tuple(turns[:last]))
    if text := _blocks(given):
        return Asked(text)
    return next((found for one in given if (found := _asked(one, depth - 1)) is not None), None)


def _before(given: Mapping[Any, Any]) -> tuple[dict[str, str], ...]:
    """The turns that stand beside a question of its own."""
    return next((tuple(_turns(value)) for name in CHATS[1:] if isinstance(value := given.get(name), list)), ())


# ------------------------------------------------------------------ the answer
def _answer(given: Any, depth: int) -> str | None:
    if isinstance(given, str):
        return given
    if depth and isinstance(given, list):
        return _answer_of_list(given, depth)
    if not depth or not isinstance(given, Mapping):
        return None
    if _of_another(given, BOTS):
        return None
    if isinstance(choices := given.get("choices"), list) and choices:
        return _answer(choices[0], depth - 1)
    held = [_answer(value, depth - 1) for value in _values(given, (*ANSWERS, CHATS[0]))]
    if held:
        return next((one for one in held if one), next((one for one in held if one is not None), None))
    only = next(iter(given.values())) if len(given) == 1 else None
    return only if isinstance(only, str) else None


def _answer_of_list(given: list[Any], depth: int) -> str | None:
    if turns := list(_turns(given)):
        return next((turn["content"] for turn in reversed(turns) if turn["role"] == "assistant"), None)
    if (text := _blocks(given)) is not None:
        return text
    return _answer(given[0], depth - 1) if len(given) == 1 else None


# ------------------------------------------------------------------ messages
def _values(given: Mapping[Any, Any], names: Sequence[str]) -> Iterator[Any]:
    lowered = {str(key).casefold(): value for key, value in given.items()}
    yield from (lowered[name] for name in names if lowered.get(name) is not None)


def _of_another(message: Mapping[Any, Any], roles: Sequence[str]) -> bool:
    """True for a message that somebody else has said."""
    return isinstance(role := message.get("role"), str) and role.casefold() not in roles


def _turns(messages: Any) -> Iterator[dict[str, str]]:
    """Yield the messages of user and assistant that say something; those of LangChain name their `type` in place of a role."""
    for one in messages if isinstance(messages, list) else ():
        if isinstance(one, list):  # LangChain puts the messages of each prompt into a list of their own
            yield from _turns(one)
            continue
        if not isinstance(one, Mapping):
            continue
        role = str(one.get("role") or one.get("type") or "").casefold()
        said = "user" if role in USERS else "assistant" if role in BOTS else None
        content = one.get("content")
        text = content if isinstance(content, str) else _blocks(content)
        if said and text and text.strip():
            yield {"role": said, "content": text}


def _blocks(content: Any) -> str | None:
    """The texts of a message's blocks, joined; None if it has no such blocks."""
    if not isinstance(content, list) or not content:
        return None
    typed = [one for one in content if isinstance(one, Mapping) and isinstance(one.get("type"), str)]
    if len(typed) != len(content):
        return None
    texts = [one["text"] for one in typed if one["type"] in ("text", "input_text", "output_text") and isinstance(one.get("text"), str)]
    return "".join(texts) if texts else None
