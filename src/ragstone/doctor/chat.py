"""The probes of a judge: the questions of a run in both languages, then what its endpoint takes beside them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import orjson

from ragstone.config import JudgeSettings
from ragstone.doctor.findings import Finding, State
from ragstone.doctor.line import Heard, Line
from ragstone.doctor.requests import COUNT, RIGHT, ROOM, SEAL, SEALED, SEALS, SHORT, SKY, SUM, Small, dotted, kept_to, questions, switches
from ragstone.doctor.signs import content_of, has_logprobs, object_in, thought, was_cut
from ragstone.doctor.taught import lessons_now
from ragstone.judge.dialect import Dialect
from ragstone.judge.lessons import Lesson
from ragstone.judge.pupil import FACT
from ragstone.judge.replies import read_completion
from ragstone.judge.shape import LIMITS
from ragstone.judge.thinking import thinking_off, wants_thinking
from ragstone.questions.base import Question
from ragstone.transport.error_body import ApiError

PATH = "chat/completions"


class ChatProbes:
    """The probes in the order they are sent; `findings` grows as they are answered, so that what ends them early loses none."""

    start = "chat_en"

    def __init__(self, line: Line, settings: JudgeSettings) -> None:
        self.findings: list[Finding] = []
        self.advice: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}
        self.read = 0
        """Questions whose reply could be read."""
        self.trouble: Heard | None = None
        """What the first question failed with."""
        self._line, self._settings = line, settings
        off = settings.thinking == "off"
        wanted = {name: getattr(settings, name) for name in ("temperature", "top_p", "seed", "max_tokens")}
        self._switch = thinking_off(line.endpoint.host, settings.model or "", urlsplit(line.endpoint.url).port) if off else {}
        self.dialect = Dialect(settings.model or "", wanted, settings.extra_body, self._switch, switch=off)
        self.lessons: list[Lesson] = []
        """What the probes taught beside what the first question did."""
        self._limit_name: str | None = None
        self._thought: str | None = None

    async def run(self) -> None:
        """Send the probes.

        Raises:
            AuthError, EndpointError: what would stop a run.
        """
        asked = questions()
        if (first := await self._first(asked["en"])) is None:
            return
        await self._second(asked["zh"])
        self._told(first)
        self._temperature()
        await self._limit()
        await self._schema()
        await self._object(first)
        await self._thinking()

    @property
    def usable(self) -> bool:
        """True if a reply to a question of a run could be read."""
        return self.read > 0

    def taught(self, known: Mapping[str, Any], now: float) -> dict[str, Any]:
        """Return what later runs are spared to learn, by name; `known` is what was kept so far."""
        taught = lessons_now(self.dialect, self.lessons, known.get(FACT), now, limit_name=self._limit_name)
        return {**self.facts, FACT: taught}

    def _note(self, probe: str, state: State, code: str, **values: Any) -> None:
        self.findings.append(Finding(probe, state, code, values))

    # ------------------------------------------------------------------ questions of a run
    async def _first(self, question: Question) -> dict[str, Any] | None:
        """Ask as a run would; what is refused on the way is learned as a run would learn it."""
        sent = self.dialect.shape

        def body() -> dict[str, Any]:
            nonlocal sent
            sent = self.dialect.shape
            return self._as_asked(question)

        heard = await self._line.ask(PATH, body, "choices", lambda e, sure: self.dialect.learn(e, sent, question, sure), first=True)
        self._judge("chat_en", question, heard)
        if heard.data is None:
            self.trouble = heard
            return None
        return heard.data

    async def _second(self, question: Question) -> None:
        """Ask in Chinese, and for log probabilities on the way."""
        more: dict[str, Any] = {"logprobs": True}
        refusal: list[str] = []

        def learn(error: ApiError, sure: bool) -> bool:
            if not more or (sure and not error.mentions("log_?prob")):
                return False
            more.clear()
            refusal.append(error.message)
            return True

        heard = await self._line.ask(PATH, lambda: self._as_asked(question) | more, "choices", learn)
        self._judge("chat_zh", question, heard)
        if refusal:
            self._note("logprobs", "no", "logprobs_refused", message=refusal[0])
        elif heard.data is not None and has_logprobs(heard.data):
            self._note("logprobs", "yes", "logprobs_given")
        elif heard.data is not None:
            self._note("logprobs", "no", "logprobs_missing")
        else:
            self._unknown("logprobs", heard)
            return
        if heard.data is not None:
            self.facts["logprobs"] = not refusal and has_logprobs(heard.data)

    def _judge(self, probe: str, question: Question, heard: Heard) -> None:
        if heard.data is None:
            self._failed(probe, heard)
            return
        self._saw(heard.data)
        completion = read_completion(heard.data)
        if completion.text is None:
            code = "chat_cut" if completion.word == "truncated" else "chat_empty"
            self._note(probe, "no", code, word=completion.word)
            return
        reading = question.kind.read(question.input, completion.text)
        if reading.parsed is None:
            self._note(probe, "no", "chat_unread", start=completion.text[:60])
            return
        self.read += 1
        verdicts = {line["id"]: line["verdict"] for line in reading.parsed["verdicts"]}
        right = sum(verdicts.get(id) == verdict for id, verdict in enumerate(RIGHT, 1))
        code = "chat_part" if len(verdicts) < len(RIGHT) else "chat_read" if right == len(RIGHT) else "chat_wrong"
        told = {"right": right, "count": len(verdicts), "asked": len(RIGHT), "seconds": f"{heard.seconds:.1f}"}
        self._note(probe, "yes" if code == "chat_read" else "no", code, **told)

    def _told(self, data: dict[str, Any]) -> None:
        served = data.get("model")
        if isinstance(served, str) and served and served != self._settings.model:
            self._note("served", "unknown", "served_other", model=served[:60])
        if read_completion(data).usage is None:
            self._note("usage", "no", "usage_missing")
        else:
            self._note("usage", "yes", "usage_told")

    # ------------------------------------------------------------------ parameters
    def _temperature(self) -> None:
        """What became of the temperature on the way to the first reply."""
        wanted = self._settings.extra_body.get("temperature", self._settings.temperature)
        sent = self.dialect.shape.parameters.get("temperature")
        if sent is None:
            self._note(
                "temperature", "no", "temperature_refused", value=_number(wanted), message=self.dialect.dropped.get("temperature", "")
            )
        elif sent != wanted:
            self._note("temperature", "yes", "temperature_changed", value=_number(wanted), sent=_number(sent))
        else:
            self._note("temperature", "yes", "temperature_taken", value=_number(sent))

    async def _limit(self) -> None:
        """Ask for a long reply with a small limit, under either name."""
        mine = self.dialect.shape.limit_name
        refused: list[str] = []
        ignored: list[str] = []
        why = ""
        for name in (mine, *(other for other in LIMITS if other != mine)):
            heard = await self._ask(COUNT, **{name: SHORT})
            if heard.data is not None and kept_to(heard.data):
                self._limit_name = name
                self._note("max_tokens", "yes", "limit_kept" if name == LIMITS[0] else "limit_renamed", name=name)
                if name != mine:
                    self.lessons.append(Lesson("rename", mine, why, sent=name))
                return
            if heard.data is None and heard.error is None:
                self._unknown("max_tokens", heard)
                return
            (refused if heard.data is None else ignored).append(name)
            why = f"HTTP {heard.error.status}: {heard.error.message[:200]}" if heard.error else "HTTP 200, but the limit is not kept to"
        self._limit_name = None
        if ignored:
            self._note("max_tokens", "no", "limit_ignored", names=", ".join(ignored))
        else:
            self._note("max_tokens", "no", "limit_refused", names=", ".join(refused))

    async def _schema(self) -> None:
        """Demand a key and a word that nothing but a schema would bring about."""
        if (why := self.dialect.dropped.get("json_schema")) is not None:
            self._note("json_schema", "no", "schema_refused", message=why)
            return
        if not self.dialect.shape.formats:
            return
        heard = await self._ask(SKY, response_format=SEALED)
        if heard.data is None:
            self._refused_or_unknown("json_schema", "schema_refused", heard)
        elif (object_in(content_of(heard.data))[0] or {}).get(SEAL) in SEALS:
            self._note("json_schema", "yes", "schema_applied")
        elif not content_of(heard.data).strip() or was_cut(heard.data):
            self._note("json_schema", "unknown", "schema_cut")
        else:
            self._note("json_schema", "no", "schema_ignored")

    async def _object(self, first: dict[str, Any]) -> None:
        formats = self.dialect.shape.formats
        if (why := self.dialect.dropped.get("json_object")) is not None:
            self._note("json_object", "no", "object_refused", message=why)
        elif formats[:1] == ("json_object",):
            self._bare(content_of(first))
        elif formats:
            heard = await self._ask(SKY, response_format={"type": "json_object"})
            if heard.data is None:
                self._refused_or_unknown("json_object", "object_refused", heard)
            else:
                self._bare(content_of(heard.data))

    def _bare(self, text: str) -> None:
        found, alone = object_in(text)
        if found is not None and alone:
            self._note("json_object", "yes", "object_given")
        elif found is not None:
            self._note("json_object", "no", "object_wrapped")
        else:
            self._note("json_object", "no", "object_ignored", start=text[:40])

    # ------------------------------------------------------------------ thinking
    async def _thinking(self) -> None:
        sent = {name: self.dialect.shape.parameters[name] for name in self._off() if name in self.dialect.shape.parameters}
        if self._thought is None:
            if sent:
                self._note("thinking", "yes", "thinking_off", switch=dotted(sent))
            else:
                self._note("thinking", "yes", "thinking_none")
            return
        if self._settings.thinking == "auto" or wants_thinking(self._settings.extra_body):
            self._note("thinking", "unknown", "thinking_left", sign=self._thought)
            return
        for switch in switches(self._thought):
            if not switch.items() <= self.dialect.shape.parameters.items() and await self._stops(switch):
                self.advice["extra_body"] = {**self._settings.extra_body, **switch}
                self.lessons.append(Lesson("add", ", ".join(switch), f"the model thinks ({self._thought})", sent=switch))
                self._note("thinking", "no", "thinking_stopped", sign=self._thought, switch=dotted(switch))
                return
        self._note("thinking", "no", "thinking_on", sign=self._thought)

    def _off(self) -> set[str]:
        """Names under which something stands in the request that turns thinking off."""
        return {name for switch in (self._switch, self.dialect.added, *switches("")) for name in switch}

    async def _stops(self, switch: Mapping[str, Any]) -> bool:
        heard = await self._line.ask(PATH, lambda: self._small(SUM) | dict(switch), "choices")
        return heard.data is not None and thought(heard.data) is None and bool(content_of(heard.data).strip())

    # ------------------------------------------------------------------ sending
    def _as_asked(self, question: Question) -> dict[str, Any]:
        made: dict[str, Any] = orjson.loads(self.dialect.shape.body(question))
        return made

    def _small(self, small: Small, **more: Any) -> dict[str, Any]:
        """A small request in the shape learned so far, without its reply format."""
        bare = replace(self.dialect.shape, formats=(), limit=None)
        room = {self._limit_name: ROOM} if self._limit_name and not more.keys() & set(LIMITS) else {}
        parameters = {name: value for name, value in bare.parameters.items() if name != "response_format"}
        return {"model": bare.model, "messages": small.messages, **parameters, **room, **more}

    async def _ask(self, small: Small, **more: Any) -> Heard:
        heard = await self._line.ask(PATH, lambda: self._small(small, **more), "choices")
        if heard.data is not None:
            self._saw(heard.data)
        return heard

    def _saw(self, data: dict[str, Any]) -> None:
        self._thought = self._thought or thought(data)

    # ------------------------------------------------------------------ what did not come
    def _failed(self, probe: str, heard: Heard) -> None:
        if heard.word in ("requests", "time"):
            self._unknown(probe, heard)
        else:
            self._note(probe, "no", "chat_failed", word=heard.word, message=heard.message)

    def _refused_or_unknown(self, probe: str, code: str, heard: Heard) -> None:
        if heard.error is None:
            self._unknown(probe, heard)
        else:
            self._note(probe, "no", code, message=f"HTTP {heard.error.status}: {heard.error.message}")

    def _unknown(self, probe: str, heard: Heard) -> None:
        self._note(probe, "unknown", "not_told", word=heard.word or "requests")


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else str(value)
