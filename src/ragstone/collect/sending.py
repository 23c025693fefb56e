"""One request to an application as the wire sends it, and how its answers are taken in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect.base import Received, Trouble
from ragstone.collect.meaning import Meaning, Meant
from ragstone.errors import AuthError, EndpointError, StoppedError
from ragstone.transport.answer import Answer
from ragstone.transport.exchange import DONE, Spared, Step, Tally

if TYPE_CHECKING:
    from ragstone.collect.address import Address
    from ragstone.collect.refusals import Refusals
    from ragstone.transport.stops import Stops

LONGEST_PAGE = 20_000
"""Characters that are kept of a page or text that came as an error."""
_TEXT: Any = object()
Examine = Callable[["Request", Received], Trouble | None]
"""Looks at a whole response: what is wrong with it, None if it is good. May put a cleaner body in its place."""


class Request:
    """One request: what is sent, and what came back of it last."""

    spared: Spared = None

    def __init__(
        self,
        step: str,
        method: str,
        headers: Mapping[str, str],
        fill: Callable[[], bytes],
        examine: Examine,
        chunk: int | None = None,
    ) -> None:
        self.tally = Tally()
        self.step, self.method, self.headers, self.chunk = step, method.upper(), headers, chunk
        self.examine = examine
        self.received: Received | None = None
        self.parsed: Any = None
        """The response in the shape the mapping expects."""
        self.trouble: Trouble | None = None
        """What the last answer meant, if it was no good one and reading it would not tell."""
        self._fill = fill

    def body(self) -> bytes:
        """The body, filled anew for every try: a repeated question must not go on with a conversation that was begun."""
        return self._fill()


class Sorting:
    """Sorts the answers of one application for the wire, and stops it."""

    def __init__(self, address: Address, stops: Stops, meaning: Meaning, refusals: Refusals) -> None:
        self._address, self._stops, self._meaning, self._refusals = address, stops, meaning, refusals

    def sort(self, answer: Answer, data: Any, exchange: Request, url: str) -> tuple[Step, bool]:
        """Return what follows, and whether the application has taken the request. Raises StoppedError."""
        exchange.received = self._taken(answer, data, exchange, url)
        if not 200 <= answer.status < 300:
            meant = self._meaning.refused(answer, data, answered=self._refusals.answered or exchange.chunk is not None)
            return self._follow(meant, exchange), False
        found = exchange.examine(exchange, exchange.received)
        exchange.trouble = None
        if found is None:
            return DONE, True
        told = exchange.parsed if data is None and found.word == "platform_error" else data  # a stream tells its codes in an event
        meant = self._meaning.whole(answer, told, found)
        if meant.then == "fail" and meant.trouble.word == found.word:
            return DONE, found.word not in ("no_answer", "not_json", "login_page")
        # what a whole answer tells of a crowd comes from the application itself: it is there, and this row must not end the asking
        return self._follow(meant, exchange), meant.then == "wait"

    def _follow(self, meant: Meant, exchange: Request) -> Step:
        trouble = exchange.trouble = meant.trouble
        if meant.then == "wait":
            exchange.tally.rate_limits += trouble.word == "rate_limited"
            return Step("wait", trouble.word, trouble.message, meant.after, meant.busy, meant.status)
        if meant.then == "stop":
            raise self.stop(trouble, exchange.received)
        return Step("fail", trouble.word, trouble.message, status=meant.status)

    def _taken(self, answer: Answer, data: Any, exchange: Request, url: str) -> Received:
        errs = answer.status >= 300
        body = self._value(data, errs) if data is not None or answer.raw.strip() == b"null" else _TEXT
        if body is _TEXT:
            body = self._address.clean(answer.raw.decode("utf-8-sig", "replace"), echoes=errs)
            body = body[:LONGEST_PAGE] if errs else body
        return Received(exchange.step, body, answer.status, exchange.method, self._address.shown(url), exchange.chunk)

    def _value(self, data: Any, errs: bool) -> Any:
        """The JSON value without secrets; a marker for one that no file can hold (nested too deep, numbers too large)."""
        try:
            value = self._address.cleaned(data, echoes=errs)
            orjson.dumps(value)
        except (TypeError, ValueError, RecursionError):
            return _TEXT
        return value

    def stop(self, trouble: Trouble, received: Received | None, rows: int | None = None) -> StoppedError:
        """Stop the wire for what every further row would meet. `rows` = how many rows in a row met it."""
        kind, name, hint = self._ending(trouble, received.status if received else 0)
        asked = f"{received.method} {received.url}" if received else self._address.url
        repeated = self._address.say("in_a_row", rows=rows) if rows else ""
        return self._stops.stop(kind, name, None, asked=asked, message=trouble.message, rows=repeated, hint=hint)

    def _ending(self, trouble: Trouble, status: int) -> tuple[type[StoppedError], str, str]:
        """The exception a trouble ends in, the name of its text, and what to do about an app that is none."""
        match trouble.word:
            case "key":
                return AuthError, self._key_text(), ""
            case "quota":
                return AuthError, "quota_used", ""
            case "app":
                return EndpointError, "app_refused", self._hint(trouble.message, status)
            case "refused":
                return EndpointError, "body_refused", ""
            case _:
                return EndpointError, "no_json", ""

    def _key_text(self) -> str:
        if self._address.key:
            return "key_refused"
        return "own_key_refused" if self._address.own_keys else "no_key"

    def _hint(self, message: str, status: int) -> str:
        said = message.lower()
        if "not_workflow_app" in said:
            return self._address.say("hint_chat")
        if "not_chat_app" in said or "not_completion_app" in said:
            return self._address.say("hint_workflow")
        if "blocking mode" in said:
            return self._address.say("hint_streaming")
        if status < 300 or status == 400:
            return self._address.say("hint_app")
        if self._address.own_path:
            return self._address.say("hint_path")
        return self._address.say("hint_address" if self._address.model else "hint_base")
