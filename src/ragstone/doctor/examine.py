"""One examination: what the settings name is made, what answers over HTTP is probed, the rest is usable as it is."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.config import Config
from ragstone.doctor.chat import ChatProbes
from ragstone.doctor.findings import MOST, Examined, Finding
from ragstone.doctor.line import Heard, Line
from ragstone.doctor.vectors import SIZES, VectorProbes
from ragstone.embed.base import Embedder
from ragstone.embed.http import HttpEmbedder
from ragstone.embed.select import embeddings_key, make_embedder
from ragstone.errors import StoppedError
from ragstone.judge.base import Judge
from ragstone.judge.http import HttpJudge
from ragstone.judge.select import judge_key, judge_url, make_judge
from ragstone.text import say
from ragstone.transport.endpoint import EMBEDDINGS, JUDGE, Endpoint, Key
from ragstone.transport.memory import Memory
from ragstone.transport.wire import Sleep
from ragstone.types import Language

SPARED = len(SIZES) + 1
"""Requests the judge leaves for the embeddings."""

Probes = ChatProbes | VectorProbes


async def examine(
    config: Config, environ: Mapping[str, str], lang: Language, memory: Memory | None = None, *, sleep: Sleep = asyncio.sleep
) -> tuple[Examined, Examined]:
    """Probe judge and embeddings of the settings, in at most MOST requests; each takes at most twice the time limit of a try.

    What they teach is kept in `memory`, beside what is known already.

    Raises:
        ConfigError: no judge, no address, or a key variable that is empty; nothing is sent then.
    """
    pace: dict[str, Any] = {"concurrency": 1, "environ": environ, "lang": lang}
    embedder = make_embedder(config.embeddings, config.judge, **pace)
    judge = make_judge(config.judge, **pace, embedder=embedder)
    given = _Given(config, environ, lang, memory, sleep)
    try:
        remote = isinstance(embedder, HttpEmbedder)
        first = await given.judge(judge, MOST - SPARED if remote else MOST)
        return first, await given.embeddings(embedder, MOST - first.requests)
    finally:
        await judge.close()
        await embedder.close()


@dataclass(frozen=True, slots=True)
class _Given:
    """What both parts of an examination need."""

    config: Config
    environ: Mapping[str, str]
    lang: Language
    memory: Memory | None
    sleep: Sleep

    async def judge(self, judge: Judge, most: int) -> Examined:
        if not isinstance(judge, HttpJudge):
            return _at_home("judge", judge)
        settings = self.config.judge
        name, key = judge_key(settings, self.environ, self.lang)
        endpoint = Endpoint(judge_url(settings, self.environ) or "", settings.model or "", Key(key, name), JUDGE, self.lang)
        line = Line(endpoint, settings.timeout, most, self.sleep)
        return await _probe(line, ChatProbes(line, settings), self.memory)

    async def embeddings(self, embedder: Embedder, most: int) -> Examined:
        if not isinstance(embedder, HttpEmbedder):
            return _at_home("embeddings", embedder)
        settings, judges = self.config.embeddings, self.config.judge
        name, key = embeddings_key(settings, judges, self.environ, self.lang)
        url = settings.base_url or judge_url(judges, self.environ) or ""
        line = Line(Endpoint(url, settings.model or "", Key(key, name), EMBEDDINGS, self.lang), judges.timeout, most, self.sleep)
        return await _probe(line, VectorProbes(line, settings.model or "", settings.batch_size), self.memory)


async def _probe(line: Line, probes: Probes, memory: Memory | None) -> Examined:
    endpoint = line.endpoint
    stopped = await _run(probes, line)
    trouble = stopped or (None if probes.usable else _why(endpoint, probes, line))
    told = (endpoint.model, endpoint.url, tuple(probes.findings), line.used, trouble is None, trouble)
    return Examined(*told, advice=probes.advice, kept=memory is not None and _remember(probes, endpoint, memory))


def _remember(probes: Probes, endpoint: Endpoint, memory: Memory) -> bool:
    """Keep what later runs are spared to learn; False if there is nothing to keep."""
    if not probes.usable:
        return False
    known = {name: fact for name, fact in memory.recall(endpoint.url, endpoint.model).items() if name not in ("since", "at")}
    memory.keep(endpoint.url, endpoint.model, {**known, **probes.taught(known, time.time())})
    return True


async def _run(probes: Probes, line: Line) -> str | None:
    """Send the probes; returns why a run would be stopped, if it would."""
    limit = 2 * line.timeout
    try:
        async with asyncio.timeout(limit):
            await probes.run()
    except TimeoutError:
        if not probes.findings:
            probes.trouble = Heard(None, None, "timeout", "", limit)
        probes.findings.append(Finding(_next(probes), "unknown" if probes.findings else "no", "time_up", {"seconds": f"{limit:g}"}))
    except StoppedError as error:
        probes.findings.append(Finding(_next(probes), "no", "stopped"))
        return f"{error}\n{line.endpoint.say('embeddings_hint')}" if isinstance(probes, VectorProbes) else str(error)
    finally:
        await line.close()
    return None


def _next(probes: Probes) -> str:
    """What an early end cost: the first probe, or the rest of them."""
    return "rest" if probes.findings else probes.start


def _why(endpoint: Endpoint, probes: Probes, line: Line) -> str:
    """Why nothing could be used, as a run would meet it in every cell, and which settings to look at."""
    told = {"url": endpoint.url, "model": endpoint.model, "url_setting": endpoint.role.url, "model_setting": endpoint.role.model}
    if probes.trouble is not None:
        return say("doctor.no_answer", endpoint.lang, **told, word=_words(probes.trouble), count=line.used)
    code = "nothing_read" if isinstance(probes, ChatProbes) else "no_vectors"
    return say(f"doctor.{code}", endpoint.lang, **told)


def _words(heard: Heard) -> str:
    return f"{heard.word}: {heard.message}" if heard.message else str(heard.word)


def _at_home(role: str, backend: Judge | Embedder) -> Examined:
    identity = backend.identity
    return Examined(identity.model, identity.endpoint, (Finding(role, "yes", "at_home"),))
