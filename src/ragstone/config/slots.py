"""Keys in the table `[collect]`: a slot `$env.NAME` in headers and bodies is let through, a key written out is not."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

from ragstone.text import say
from ragstone.types import Language

_SLOT = re.compile(r"\$\{?[A-Za-z_][\w.]*\}?")
_SCHEME = re.compile(r"\s*(?:bearer|basic|token|apikey|api-key)?\s*", re.IGNORECASE)
"""What may stand beside the slot of a key in a header."""
_SECRET_NAME = re.compile(r"(?:^|[-_])(?:key|token|secret|sig|signature|password|passwd|authorization|auth|cookie)$|apikey$", re.IGNORECASE)
ADDRESSES = ("url", "path")


def without_slots(text: str) -> str:
    """Return a text of `[collect]` without its slots: what the user has written out."""
    return _SLOT.sub("", text)


def bare_scheme(text: str) -> bool:
    """True if nothing, or only the scheme of a key ("Bearer"), is left of a text without its slots."""
    return _SCHEME.fullmatch(text) is not None


def written_out(where: tuple[str, ...], name: str, at: str, text: str, lang: Language) -> str | None:
    """Return what is wrong with a text of `[collect]` that holds a key in plain sight; None if nothing is. The key is not quoted."""
    if where[-1] in ADDRESSES:
        return say("platforms.key_in_address", lang, name=name, at=at) if _query_key(text) else None
    if "headers" in where[1:-1] and _SECRET_NAME.search(where[-1]) and not bare_scheme(without_slots(text)):
        return say("platforms.key_in_request", lang, name=name, at=at)
    return None


def _query_key(text: str) -> bool:
    """True if a parameter of an address is called like a secret and holds one."""
    try:
        query = urlsplit(text).query
    except ValueError:
        return False  # told as a bad address
    return any(_SECRET_NAME.search(name) and without_slots(value).strip() for name, value in parse_qsl(query))
