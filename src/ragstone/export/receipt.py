"""What became of everything that was to be sent: accepted, there already, rejected with reasons, unmeasured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.shown.blocks import Block
    from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Rejected:
    """One thing the other side did not take, or that could not be sent."""

    kind: str
    """`score`, `trace`, `item`, `dataset`, `run_item`, `mean`, …: ASCII words."""
    id: str
    reason: str
    """In the words of the other side, without secrets."""
    sample_id: str | None = None
    metric: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What became of an export to another system. Counts are by kind of thing."""

    to: str
    """Name of the exporter."""
    target: str
    """Where it went: address, project, as people know it; never a key."""
    due: Mapping[str, int] = field(default_factory=dict)
    """Everything the run has for the other side."""
    accepted: Mapping[str, int] = field(default_factory=dict)
    """Taken in this call."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """Taken by earlier calls, not sent again."""
    rejected: tuple[Rejected, ...] = ()
    at_first: tuple[Rejected, ...] = ()
    """What had to be sent again because a pack was refused, in part or whole: of a pack whose refused ones were not named, all of it.

    It may have been taken in the end: what was not stands under `rejected` besides.
    """
    retried: int = 0
    """Requests that had to be sent again, and things sent anew on their own after a pack was refused in part."""
    requests: int = 0
    """Requests sent, reading ones included; of a dry run: those it would take at least."""
    unmeasured: Mapping[str, int] = field(default_factory=dict)
    """Cells without a value, by their reason: nothing is sent of them."""
    dry_run: bool = False
    signature: str | None = None
    notice: str | None = None
    """The smoke-test notice, in English."""
    links: tuple[str, ...] = ()
    """Addresses where a person can look at it."""
    notices: tuple[str, ...] = ()
    """Sentences in the language of the screen."""

    @property
    def missing(self) -> int:
        """Things that are due and not there."""
        return 0 if self.dry_run else sum(self.due.values()) - sum(self.accepted.values()) - sum(self.kept.values())

    @property
    def exit_code(self) -> int:
        """1 if anything is missing on the other side, else 0."""
        return 1 if self.missing else 0

    def blocks(self, lang: Language) -> list[Block]:
        """The page for people."""
        from ragstone.shown.receipt import receipt_blocks

        return list(receipt_blocks(self, lang))

    def to_dict(self) -> dict[str, Any]:
        """The document of `export --json`."""
        counts = {name: dict(getattr(self, name)) for name in ("due", "accepted", "kept", "unmeasured")}
        refusals = {name: [_row(one) for one in getattr(self, name)] for name in ("rejected", "at_first")}
        plain = {name: getattr(self, name) for name in ("to", "target", "retried", "requests", "dry_run", "signature", "notice")}
        lists = {"links": list(self.links), "notices": list(self.notices)}
        return {**plain, **counts, "missing": self.missing, **refusals, **lists}


def _row(one: Rejected) -> dict[str, str | None]:
    return {name: getattr(one, name) for name in ("kind", "id", "sample_id", "metric", "reason")}
