"""The head of the raw file: what was asked and how it was read, and whether kept responses still are answers to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

import ragstone
from ragstone.collect.base import Application, Kept, Row
from ragstone.collect.gold_rows import GoldRows
from ragstone.collect.journal import Journal
from ragstone.collect.values import plain
from ragstone.errors import ConfigError
from ragstone.text import say, screen_language

_FIRST = 3
"""Good responses a changed mapping is tried on."""
_MOST = 20
"""Responses without an answer a mapping is tried on."""
_LONGEST = 80
"""Characters of a value that are shown."""


def continued(
    journal: Journal,
    application: Application,
    rows: GoldRows,
    gold_fingerprint: str,
    samples: Path,
    tell: Callable[[str], None],
    *,
    retry: bool = False,
) -> bool:
    """Write the head that fits, if another one stands there. Returns True if responses are read as they were before.

    `retry`: failed rows are asked again, so that what was held of them counts no more.

    Raises ConfigError if other things are asked now and good responses are held: they are no answers to them; or if the mapping fits none
    of the responses that are held.
    """
    now = {"collect": plain(dict(application.asked)), "mapping": plain(dict(application.mapping)), "gold_fingerprint": gold_fingerprint}
    then = journal.head
    if then and then["collect"] != now["collect"] and _any_good(journal, application, rows):
        raise ConfigError(_differs(samples, then["collect"], now["collect"]))
    changed = then.get("mapping") != now["mapping"]
    if then and then["collect"] == now["collect"] and len(journal):
        _refit(journal, application, rows, changed=changed, retry=retry)
    if then and then["collect"] == now["collect"] and changed and len(journal):
        tell(say("collecting.read_anew", screen_language(), n=len(journal)))
    if any(then.get(name) != value for name, value in now.items()):
        born = datetime.now(UTC).isoformat(timespec="seconds")
        journal.begin({**now, "version": ragstone.__version__, "created_at": born})
    return (then.get("mapping"), then.get("version")) == (now["mapping"], ragstone.__version__)


def _refit(journal: Journal, application: Application, rows: GoldRows, *, changed: bool, retry: bool) -> None:
    """Let an application that can tell say how the mapping fails, if it does, before any sample is written by it."""
    if (refit := getattr(application, "refit", None)) is None:
        return
    held = (one for row in rows if (one := journal.answer_to(row)) is not None)
    good, whole = list[Kept](), list[Kept]()
    for one in held:
        if one.good:
            good.append(one.kept)
        elif one.kept.trouble is None and one.kept.received and len(whole) < _MOST:
            whole.append(one.kept)
        if len(good) == _FIRST or (good and not changed):
            break
    if good and changed:
        refit(good)
    elif not good and not retry and len(whole) >= min(_FIRST, len(rows)):
        try:
            refit(whole)
        except ConfigError as misfit:
            raise ConfigError(say("collecting.nothing_asked", screen_language(), misfit=misfit)) from None


def _any_good(journal: Journal, application: Application, rows: Iterable[Row]) -> bool:
    held = (journal.answer_to(row) for row in rows)
    return any(one is not None and (one.good or _reads_well(application, one.kept)) for one in held)


def _reads_well(application: Application, kept: Kept) -> bool:
    """True for an answer that could not be read then but can be now."""
    reading = application.read(kept)
    return kept.trouble is None and reading.trouble is None and reading.found is not None


def _differs(samples: Path, then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    lang = screen_language()
    names = [name for name in dict.fromkeys((*then, *now)) if then.get(name) != now.get(name)]
    lines = [
        say("collecting.differs", lang, path=samples, what=name, old=_shown(then.get(name), lang), new=_shown(now.get(name), lang))
        for name in names
    ]
    return "\n".join((*lines, say("collecting.differs_advice", lang)))


def _shown(value: Any, lang: Any) -> str:
    if value is None:
        return say("collecting.unset", lang)
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
