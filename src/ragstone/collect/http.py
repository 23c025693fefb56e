"""A RAG application behind HTTP, described by a spec."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragstone.collect import mapping
from ragstone.collect.address import Address, headers_shown, refuse_foreign
from ragstone.collect.base import Kept, Reading, Row, Trouble
from ragstone.collect.conversation import Conversation, Line
from ragstone.collect.expressions import search
from ragstone.collect.meaning import Meaning, envelope
from ragstone.collect.misfit import misfit, missing, unseen
from ragstone.collect.refusals import FIRST, TOLD, Refusals
from ragstone.collect.sending import Sorting
from ragstone.collect.slot_checks import columns_sent
from ragstone.collect.spec import Spec, Step
from ragstone.collect.template import Values
from ragstone.collect.told import told_error
from ragstone.errors import ConfigError, RagstoneError, StoppedError
from ragstone.transport.endpoint import COLLECT, Endpoint, Key
from ragstone.transport.key import hidden
from ragstone.transport.retry import Backoff
from ragstone.transport.stops import Stops
from ragstone.transport.wire import Sleep, Wire
from ragstone.types import Language

_READ = (
    *("answer", "contexts", "context_id", "context_text", "context_score", "context_source", "error", "usage", "strip"),
    *("strip_context", "fail_if", "stream", "replace", "success", "reader"),
)
_READ_OF_STEP = ("text", "answer", "contexts", "error")


class HttpApplication:
    """Asks an application over HTTP, each row in a conversation of its own; one pooled session, opened at the first question.

    Repeats, waits, proxies and redirects are those of `transport.wire.Wire`. What an answer means is said by its status and by its
    body: many platforms tell their errors under HTTP 200.

    Args:
        spec: how the application is asked and read.
        key: its key, or None for applications without one.
        environ: where `$env.NAME` is looked up.
        key_name: the setting that holds the key, for error texts.
        lang: language of error texts; None = the screen's.
        backoff: waits between repeats.
        sleep: how to wait.
        rpm: most requests a minute; None = any.

    Raises:
        ConfigError: there is no address, it holds a password or is none, or a path names a host of its own.
    """

    def __init__(
        self,
        spec: Spec,
        key: str | None,
        *,
        environ: Mapping[str, str],
        key_name: str = COLLECT.key,
        lang: Language | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        rpm: int | None = None,
    ) -> None:
        environ = {name: value.strip() for name, value in environ.items()}
        address = self._address = Address(spec, Key(hidden(key), key_name), environ, lang)
        refuse_foreign(spec, address.lang)
        self._spec, self._refusals = spec, Refusals()
        self._rows: int | None = None
        self._bodies: list[Any] | None = []
        """The first good responses, until the mapping has been seen to fit one; None from then on."""
        self._tell: Callable[[str], None] = lambda _: None
        wire = self._wire = Wire(
            address,
            timeout=spec.timeout,
            retries=spec.retries,
            concurrency=spec.concurrency,
            backoff=backoff or Backoff(),
            sleep=sleep,
            rpm=rpm,
            headers={"Accept": "application/json, text/event-stream;q=0.9, */*;q=0.5", **address.key.header(spec.auth)},
            meaning=self._sorted_by,
        )
        self._columns = columns_sent(spec)
        self._line = Line(spec, address, wire, environ, sleep, address.lang)

    def _sorted_by(self, _: Endpoint, stops: Stops, __: Callable[[], bool]) -> Sorting:
        meaning = Meaning(self._spec, self._address.lang, self._address.scrub)
        self._sorting = Sorting(self._address, stops, meaning, self._refusals)
        return self._sorting

    def __repr__(self) -> str:
        return f"HttpApplication({self._spec.platform!r}, {self._address.url!r})"

    @property
    def asked(self) -> Mapping[str, Any]:
        """What can change an answer, without secrets."""
        spec = self._spec
        asked = {"platform": spec.platform, "url": self._address.url, "app": spec.app, **_sent(spec), "auth": spec.auth}
        if spec.before:
            asked["before"] = _sent(spec.before)
        if spec.then:
            asked["then"] = [{**_sent(step), "per": step.per, "until": step.until} for step in spec.then]
        return {name: self._address.cleaned(value) for name, value in asked.items()}

    @property
    def mapping(self) -> Mapping[str, Any]:
        """How answers are read."""
        spec = self._spec.model_dump(mode="json", include=set(_READ))
        then = [step.model_dump(mode="json", include=set(_READ_OF_STEP)) for step in self._spec.then]
        return {**{name: spec[name] for name in _READ}, "then": then}

    def hear(self, tell: Callable[[str], None]) -> None:
        """Tell `tell`, from now on, what a person should know of the platform while it is asked."""
        self._tell = tell

    def uses(self, row: Row) -> Any:
        """The columns of a row that its requests hold."""
        values = Values(row, app=None, environ={})
        return {name: values.lookup(name) for name in self._columns} or None

    def expect(self, rows: int) -> None:
        """Hear how many rows are going to be asked: fewer than three end the asking sooner, and many may be repeated more often."""
        self._rows = rows
        self._refusals.expect(rows)
        steps = 1 + (self._spec.before is not None) + sum(step.per == "answer" for step in self._spec.then)
        # a call that was killed leaves the rows that took long, one for each under way: they come first in the next one
        doubted = self._spec.concurrency + 1 if self._refusals.answered else min(FIRST, rows)
        self._wire.expect(rows * steps, lambda text: self._tell(text), doubted=doubted)

    def accepted(self) -> None:
        """Hear that earlier calls have got good answers: the mapping fits, and it takes more to look like the end."""
        self._refusals.good()
        self._bodies = None

    def refit(self, answered: Sequence[Kept]) -> None:
        """Raise ConfigError if the mapping finds nothing in responses that are good otherwise."""
        lang = self._address.lang
        bodies = [mapping.parsed(self._spec, one, lang) for kept in answered for one in kept.received if one.step == "ask"]
        bodies = [body for body in bodies if self._good_otherwise(body, mapping.look(self._spec, body, (), lang).trouble)]
        if len(bodies) < min(FIRST, len(answered)):
            return
        if (found := misfit(self._spec, bodies, lang)) is None:
            self._tell_missing(bodies)
            return
        text = self._address.clean(found.text)
        if found.certain:
            raise ConfigError(text)
        self._tell(text)

    async def ask(self, row: Row) -> Kept:
        """Ask one question in a new conversation.

        What would fail every row is raised by rows that were not asked any more; the row that met it is returned, and holds it as
        `stop`: AuthError, EndpointError, or ConfigError for a mapping that fits none of the first responses.

        Raises:
            StoppedError: the application cannot be reached, or an earlier row has met what would fail every row.
        """
        talk = Conversation(self._line, row)
        try:
            trouble = await talk.run()
        except StoppedError as stop:
            if talk.stopped is None or (met := talk.stopped.trouble) is None or talk.stopped.tally.attempts == 0:
                raise
            return talk.kept(met, stop)
        return talk.kept(trouble, self._counted(talk, trouble) or self._misfit(talk, trouble))

    def read(self, kept: Kept) -> Reading:
        """Find answer and chunks in what was kept."""
        return mapping.read(self._spec, kept, self._address.lang)

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._wire.close()

    # ------------------------------------------------------------------ what ends the asking
    def _counted(self, talk: Conversation, trouble: Trouble | None) -> RagstoneError | None:
        """Count refusals in a row, also those that stand in whole responses; returns what to stop with."""
        trouble = trouble or (talk.look.trouble if talk.look else None)
        if trouble is None or trouble.word in ("no_answer", "empty_answer"):
            self._refusals.good()
            return None
        rows = self._refusals.met(trouble.word)
        return None if rows is None else self._sorting.stop(trouble, talk.last, rows)

    def _misfit(self, talk: Conversation, trouble: Trouble | None) -> ConfigError | None:
        """Return an error if the mapping has found nothing in the first responses, which are good otherwise."""
        if self._bodies is None or talk.question is None or (trouble and trouble.word in TOLD):
            return None
        if not self._good_otherwise(talk.question, talk.look.trouble if talk.look else None):
            return None
        self._bodies.append(talk.question)
        found = misfit(self._spec, self._bodies, self._address.lang)
        if (found is not None or unseen(self._spec, self._bodies)) and len(self._bodies) < min(FIRST, self._rows or FIRST):
            return None
        if found is not None and found.certain:
            return ConfigError(self._address.clean(found.text))
        if found is not None:
            self._tell(self._address.clean(found.text))
        self._tell_missing(self._bodies)
        self._bodies = None
        return None

    def _tell_missing(self, bodies: Sequence[Any]) -> None:
        for text in missing(self._spec, bodies, self._address.lang):
            self._tell(self._address.clean(text))

    def _good_otherwise(self, body: Any, trouble: Trouble | None) -> bool:
        """True if a response tells no trouble but, at most, that nothing stands where the answer should."""
        if trouble is None or trouble.word == "no_answer":
            return True
        if trouble.word == "empty_answer":  # it may be the application's own, unless the place of its text is wrong
            return misfit(self._spec, [body], self._address.lang) is not None
        if self._spec.success is not None and not search(self._spec.success, body):
            return False
        # without an answer any `message` is taken for the trouble, also one that says that all is well
        told = told_error(self._spec.error, body, self._address.lang) or (isinstance(body, dict) and envelope(body))
        return trouble.word == "platform_error" and not told


def _sent(step: Spec | Step) -> dict[str, Any]:
    return {"method": step.method.upper(), "path": step.path, "headers": headers_shown(step), "body": step.body}
