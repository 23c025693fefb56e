"""What came back from an endpoint, before anybody asks what it means."""

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response, read to its end."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def target(self) -> str:
        """The host a redirect points to, without what may be secret in the address."""
        try:
            parts = urlsplit(self.headers.get("Location", ""))
        except ValueError:
            return "?"
        return parts.netloc.rpartition("@")[2] or parts.path.partition("?")[0] or "?"


def in_utf8(raw: bytes, content_type: str) -> bytes:
    """Return a body in UTF-8: what is none is read in the encoding its type names, else as GB 2312 if it is that; otherwise as it came.

    Being UTF-8 counts for more than what the type says: many servers name an encoding that they do not use.
    """
    if b"\0" not in raw[:4]:  # UTF-16 and UTF-32 may look like UTF-8 with blanks
        try:
            raw.decode()
        except UnicodeDecodeError:
            pass
        else:
            return raw
    for name in (_charset(content_type), "gb2312"):
        try:
            return raw.decode(name).encode()
        except (UnicodeError, LookupError):
            continue
    return raw


def _charset(content_type: str) -> str:
    """The text encoding that a `Content-Type` names, UTF-8 if it names none that is known."""
    name = content_type.lower().partition("charset=")[2].partition(";")[0].strip("\"' ")
    try:
        known = codecs.lookup(name).name
    except (LookupError, ValueError):
        return "utf-8"
    return "gb18030" if known in ("gb2312", "gbk") else known  # what calls itself GBK often holds characters of its successor
