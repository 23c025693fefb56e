"""What came back from an endpoint, before anybody asks what it means."""

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
