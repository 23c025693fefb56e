"""How one server wants things sent: found out by asking once, remembered for the next time, found out anew when it no longer fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

if TYPE_CHECKING:
    from ragstone.transport.memory import Memory

Way = Literal["array", "events", "single"]
WAYS: tuple[Way, ...] = ("array", "events", "single")
"""How scores are sent, best first: lists, events of the ingestion (that say of each what became of it), one a request."""
_NAME = "langfuse"


class Strategy:
    """What is known of one server. Only what it has accepted is remembered, and for one version of it."""

    def __init__(self, url: str, version: str = "", memory: Memory | None = None) -> None:
        """Recall what an earlier export was taught by the same version at the same address."""
        self._url, self._version, self._memory = url, version, memory
        facts = memory.recall(url, _NAME) if memory is not None else {}
        held = facts if facts.get("version") == version else {}
        self._way = cast(Way, held["scores"]) if held.get("scores") in WAYS else None
        self._run_items = held["run_items"] if isinstance(held.get("run_items"), bool) else None
        self.sure = False
        """True once the server has taken scores in this way from this very process: a refusal is about the scores then."""

    @property
    def way(self) -> Way | None:
        """How scores are sent; None = not known yet."""
        return self._way

    @property
    def run_items(self) -> bool | None:
        """Whether the server links runs to items by requests of their own; None = not known yet."""
        return self._run_items

    def took(self, way: Way) -> None:
        """Learn that the server has taken scores so."""
        self.sure = True
        if way != self._way:
            self._way = way
            self._keep()

    def unfit(self, way: Way) -> None:
        """Learn that the server does not take scores so, whatever an earlier export was taught."""
        if way == self._way:
            self._way, self.sure = None, False
            self._keep()

    def links(self, run_items: bool) -> None:
        """Learn whether the server takes run items."""
        if run_items != self._run_items:
            self._run_items = run_items
            self._keep()

    def _keep(self) -> None:
        if self._memory is None:
            return
        known = {"scores": self._way, "run_items": self._run_items}
        facts = {name: fact for name, fact in known.items() if fact is not None}
        self._memory.keep(self._url, _NAME, {**facts, "version": self._version} if facts else {})
