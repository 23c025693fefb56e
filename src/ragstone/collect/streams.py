"""Streams put together: server-sent events and JSON lines become one object that the mapping of a whole response fits. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragstone.collect.base import Trouble

if TYPE_CHECKING:
    from ragstone.collect.spec import Spec


class Assembled(dict[str, Any]):
    """A stream as one object: the merged keys of its events, and `events`."""

    text: str | None = None
    """The answer joined of the pieces in the events, where the mapping's `answer` finds pieces."""
    trouble: Trouble | None = None
    """An error event, or an end that never came."""

    def with_keys(self, keys: dict[str, Any]) -> Assembled:
        """Return an object with other keys that is the same stream."""
        other = Assembled(keys)
        other.text, other.trouble = self.text, self.trouble
        return other


def is_stream(text: str, spec: Spec) -> bool:
    """Return whether a body that is no JSON value is a stream, by its shape."""
    return bool(re.match(r"\ufeff?\s*(?::|(?:data|event|id|retry)\s*:)", text))


def assemble(text: str, spec: Spec) -> Any:
    """Return the object a stream comes to."""
    return Assembled()
