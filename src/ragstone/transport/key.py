"""An API key: held in one place, sent as a header, shown nowhere."""

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from typing import Any, NoReturn
from urllib.parse import quote

from ragstone.errors import ConfigError
from ragstone.text import say
from ragstone.types import Language

SECRET = 6
"""Shorter keys ("EMPTY", "none") are placeholders of servers without keys; masking them would garble texts."""
_BETWEEN = r"(?:\s|\\[nrt])*"
"""What stands between two characters of a key that was broken over lines."""
_LEAST_CODED = 8
"""Shortest piece of a key in base64 that is looked for; shorter ones stand in ordinary words."""


class Secret(str):
    """A text that shows itself to nobody who asks for a `repr`: tracebacks with variables, debuggers, logs of headers."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'…'"

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Secret":
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError("a key is written nowhere, so what holds it cannot be pickled: make a new one where it is needed")


def hidden(value: str | None) -> Secret | None:
    """Return a key as a text without a `repr`, for the variables of functions it passes through."""
    return Secret(value) if value is not None else None


class Key:
    """An API key. It leaves this object only as a request header; every text shows `masked`. It cannot be pickled."""

    __slots__ = ("_coded", "_escaped", "_spelt", "_value", "_written", "name")

    def __init__(self, value: str | None, name: str) -> None:
        value = self._value = Secret((value or "").strip())
        self._escaped = re.compile("".join(_as_json(char) for char in value), re.IGNORECASE)
        self._spelt = re.compile(_BETWEEN.join(_spellings(char) for char in value), re.IGNORECASE)
        self._coded = tuple(re.compile(re.escape(piece)) for piece in _coded(value))
        self._written = tuple(_written(value))
        self.name = name
        """The setting that holds the key, for error texts."""

    def __repr__(self) -> str:
        return f"Key({self.masked!r})"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __copy__(self) -> "Key":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Key":
        return self

    @property
    def masked(self) -> str:
        """First 3 and last 2 characters; nothing of a key under 12 characters."""
        return f"{self._value[:3]}…{self._value[-2:]}" if len(self._value) >= 12 else "…"

    @property
    def mark(self) -> str | None:
        """Four hex digits that tell most keys apart, and are too few to find one by; None without a key."""
        return hashlib.sha256(self._value.encode()).hexdigest()[:4] if self._value else None

    def header(self, scheme: str = "Bearer") -> dict[str, str]:
        """Return the Authorization header, or nothing without a key. `scheme` "" = the key alone."""
        return {"Authorization": Secret(f"{scheme} {self._value}".strip())} if self._value else {}

    def scrub(self, text: str) -> str:
        """Return `text` with the key masked: for replies, where models and applications repeat what they saw.

        As it is, escaped for JSON, URLs or HTML as these are usually written, in base64 and in hexadecimal digits.
        """
        if len(self._value) < SECRET:
            return text
        for spelling, mask in ((self._value, self.masked), *((other, "…") for other in self._written)):
            if spelling in text:
                text = text.replace(spelling, mask)
        return self._escaped.sub(self._mask, text) if "\\" in text else text

    def scrub_echoes(self, text: str) -> str:
        """Return `text` with the key masked however a server may spell it: for error texts.

        Any case, escaped for JSON, URLs or HTML, broken over lines, as hexadecimal digits or in base64.
        """
        if len(self._value) < SECRET:
            return text
        text = self._spelt.sub(self._mask, text)
        for piece in self._coded:
            text = piece.sub("…", text)
        return text

    def _mask(self, _: re.Match[str]) -> str:
        return self.masked  # as a function, for a backslash in the mask is no reference to a group

    def check(self, lang: Language) -> None:
        """Raise ConfigError if the key cannot stand in a header (a line break, a pasted Chinese quote)."""
        if not self._value.isascii() or not self._value.isprintable() or " " in self._value:
            raise ConfigError(say("http.bad_key", lang, name=self.name))


def _as_json(char: str) -> str:
    """A pattern for a character as it is or as JSON may escape it."""
    return rf"(?:\\?{re.escape(char)}|\\u{ord(char):04x})"


def _spellings(char: str) -> str:
    """A pattern for a character as it is or as JSON (once or twice), a URL or HTML may escape it."""
    code = ord(char)
    named = html.escape(char, quote=True)
    entities = [rf"&#0*{code};", rf"&#x0*{code:x};", *([re.escape(named)] if named != char else [])]
    return rf"(?:\\*{re.escape(char)}|\\+u{code:04x}|%(?:25)*{code:02x}|{'|'.join(entities)})"


def _written(value: str) -> Iterator[str]:
    """Yield the key as URLs, HTML, base64 and hexadecimal digits hold it, as far as they do not hold it as it is."""
    if len(value) < SECRET:
        return
    lower = re.sub("%..", lambda code: code[0].lower(), whole := quote(value, safe=""))
    some = (whole, lower, quote(value), html.escape(value), html.escape(value, quote=False), *_coded(value))
    yield from dict.fromkeys(spelling for spelling in (*some, value.encode("utf-8", "replace").hex().upper()) if spelling != value)


def _coded(value: str) -> Iterator[str]:
    """Yield what stands of a key wherever its bytes stand in base64, and its hexadecimal digits."""
    raw = value.encode("utf-8", "replace")
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        piece = whole[(before * 8 + 5) // 6 :]
        piece = piece[: len(piece) - (1 if (before + len(raw)) % 3 else 0)]
        if len(piece) >= _LEAST_CODED:
            yield from {piece, piece.replace("+", "-").replace("/", "_")}
    if len(raw) >= SECRET:
        yield raw.hex()
