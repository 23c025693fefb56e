"""Where an application is: its base address, whatever of a path was pasted with it, and the secrets its requests carry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from ragstone.collect.slot_checks import secrets
from ragstone.collect.spec import Spec, Step
from ragstone.errors import ConfigError
from ragstone.text import listing, say
from ragstone.transport.endpoint import COLLECT, Endpoint, Key
from ragstone.types import Language

_SECRET_HEADER = re.compile(r"key|token|secret|auth|cookie|session|signature|password", re.IGNORECASE)
"""Names of headers whose literal values are secrets."""
_HALF = re.compile("[\ud800-\udfff]")


class Address(Endpoint):
    """The base address of an application. Paths are put below it; what base and path have in common stands there once.

    Raises:
        ConfigError: there is no address, it holds user:password, or the key cannot be sent.
    """

    def __init__(self, spec: Spec, key: Key, environ: Mapping[str, str], lang: Language | None) -> None:
        super().__init__(spec.url, spec.app or "", key, COLLECT, lang, secrets=_secrets(spec, environ), whole=True)
        self.own_path = "path" in spec.own
        self.own_keys = tuple(dict.fromkeys(held.name for held in _secrets(spec, environ)))
        """The variables and headers that hold a secret besides the key."""
        parts = urlsplit(self.url)
        self._base = urlunsplit(parts._replace(path=_without(parts.path, spec.path, spec.app)))

    def _split(self, base_url: str) -> SplitResult:
        if not base_url:
            raise ConfigError(say("asking.no_url", self.lang, setting=self.role.url))
        return super()._split(base_url)

    def at(self, path: str) -> str:
        """Return the address of a path; its query and that of the base address are both kept."""
        path, _, query = path.partition("?")
        base, steps = _steps(self._base), _steps(path)
        common = next((n for n in range(min(len(base) - 2, len(steps)), 0, -1) if base[-n:] == steps[:n]), 0)
        url = "/".join([self._base, *steps[common:]]) + ("/" if path.endswith("/") and steps else "")
        both = "&".join(part for part in (self._query, query) if part)
        return f"{url}?{both}" if both else url

    def shown(self, url: str) -> str:
        """The address of a request without the secrets in it."""
        return self._unlocked(url.replace(str(self._query), "…") if self._query else url)

    def clean(self, text: str, *, echoes: bool = False) -> str:
        """Return what the application sent without secrets; with `echoes` (errors) however it may spell them."""
        for key in (self.key, *self._others):
            text = key.scrub_echoes(text) if echoes else key.scrub(text)
        return text

    def cleaned(self, value: Any, *, echoes: bool = False) -> Any:
        """Return a JSON value in which no text holds a secret."""
        match value:
            case str():
                return self.clean(_whole(value), echoes=echoes)
            case dict():
                return {self.clean(_whole(str(name)), echoes=echoes): self.cleaned(inner, echoes=echoes) for name, inner in value.items()}
            case list():
                return [self.cleaned(inner, echoes=echoes) for inner in value]
            case _:
                return value

    def say(self, name: str, **values: object) -> str:
        """Return the text `asking.<name>` with address, app, masked key and the settings' names filled in."""
        key = self.key.masked if self.key else say("asking.unset_key", self.lang)
        who = say("asking.app_and_key" if self.model else "asking.key_alone", self.lang, app=self.model, key=key)
        known = {"url": self.url, "who": who, "key": key, "key_setting": self.key.name, "own_keys": listing(self.own_keys, self.lang)}
        settings = {"url_setting": self.role.url, "app_setting": self.role.model, "body_setting": self.role.body}
        return self._unlocked(say(f"asking.{name}", self.lang, **{**known, **settings, **values}))


def _whole(text: str) -> str:
    """The text with U+FFFD for halves of characters, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode() if _HALF.search(text) else text


def _steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step]


def _without(base: str, path: str, app: str | None) -> str:
    """The base path without the request's path at its end: people paste the address of the operation."""
    have, want = _steps(base), _steps(path.partition("?")[0])
    known = [quote(app, safe="") if app and step == "$app" else step for step in want]
    pairs = zip(have[-len(want) :], known, strict=False)
    if want and len(have) >= len(want) and all("$" in step or step == own for own, step in pairs) and any("$" not in s for s in known):
        have = have[: -len(want)]
    else:
        common = next((n for n in range(min(len(have), len(known)), 0, -1) if have[-n:] == known[:n]), 0)
        have = have[: len(have) - common]
    return "".join(f"/{step}" for step in have)


def _secrets(spec: Spec, environ: Mapping[str, str]) -> Iterable[Key]:
    """The values of `$env.NAME`, and what literal headers hold that look like credentials."""
    yield from (Key(value, name) for name, value in secrets(spec, environ))
    for step in (spec, spec.before, *spec.then):
        for name, value in step.headers.items() if step else ():
            if _SECRET_HEADER.search(name) and "$" not in value:
                yield Key(value.rpartition(" ")[2], name)


def headers_shown(step: Spec | Step) -> dict[str, str]:
    """The headers as they are set, literal credentials masked."""
    return {name: "…" if _SECRET_HEADER.search(name) and "$" not in value else value for name, value in step.headers.items()}


def refuse_foreign(spec: Spec, lang: Language) -> None:
    """Raise ConfigError if a path names a host of its own: the key is for the one of `url`."""
    for path in (spec.path, *([spec.before.path] if spec.before else []), *(step.path for step in spec.then)):
        if re.match(r"(https?:)?//", path.strip(), re.IGNORECASE):
            raise ConfigError(say("asking.path_is_url", lang, path=path, setting=COLLECT.url))
