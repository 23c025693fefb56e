"""What an embeddings endpoint takes, found out by its refusals, used at once and remembered for later runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragstone.embed.refusals import Fewer

if TYPE_CHECKING:
    from ragstone.transport.endpoint import Endpoint
    from ragstone.transport.error_body import ApiError
    from ragstone.transport.memory import Memory

BATCH, DROPPED, BARE = "batch_size", "embeddings_dropped", "embeddings_bare"
"""Names of the facts in the memory, which the judge of the same name may share."""


class Taught:
    """Most texts a request may hold, the parameters sent beside them, and whether a lone text goes out without a list.

    What earlier runs were taught is recalled when the first request is made, so that what a run is asked to do can be told
    apart from what it does.
    """

    def __init__(self, endpoint: "Endpoint", batch_size: int, memory: "Memory | None" = None) -> None:
        self._endpoint, self._memory, self._recalled = endpoint, memory, False
        self.asked = self.batch_size = batch_size
        """Most texts in one request: as the settings want it, and as known now."""
        self.parameters: dict[str, Any] = {"encoding_format": "float"}
        self.dropped: dict[str, str] = {}
        self.bare = False
        """A request of one text holds the text itself."""
        self.taken = 0
        """Most texts that were taken at once so far."""
        self.base64 = False
        """Vectors came as base64, although numbers were asked for."""
        self.cut = 0
        """Texts that were probably cut without a word."""
        self._unkept = False

    @property
    def effective(self) -> dict[str, Any]:
        """Parameters as sent, what had to be left out, and what else came to be otherwise than asked for."""
        changed: dict[str, Any] = {"dropped": dict(self.dropped)} if self.dropped else {}
        changed |= {"batch_size": self.batch_size} if self.batch_size < self.asked else {}
        changed |= {"received": "base64"} if self.base64 else {}
        changed |= {"cut_texts": self.cut} if self.cut else {}
        return {**self.parameters, **changed}

    @property
    def notices(self) -> list[str]:
        """What a person should hear about it at the end of a run."""
        told = [self._endpoint.say("embeddings_batch", most=self.batch_size, asked=self.asked)] if self.batch_size < self.asked else []
        told += [self._endpoint.say("embeddings_dropped", parameter=name, why=why) for name, why in self.dropped.items()]
        return told + ([self._endpoint.say("embeddings_cut", count=self.cut)] if self.cut else [])

    def recall(self) -> None:
        """Take over what earlier runs were taught; the first call alone does."""
        if self._recalled or self._memory is None:
            return
        self._recalled = True
        facts = self._memory.recall(self._endpoint.url, self._endpoint.model)
        size, dropped = facts.get(BATCH), facts.get(DROPPED)
        if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
            self.batch_size = min(self.asked, size)
        for name, why in dropped.items() if isinstance(dropped, dict) else ():
            self._drop(name, str(why))
        self.bare = facts.get(BARE) is True

    def shrink(self, smaller: Fewer) -> None:
        """Put fewer texts into a request from now on; kept for later runs once a request of that size was taken."""
        self.batch_size = min(self.batch_size, smaller.size)
        self._unkept = self._unkept or smaller.lasting

    def take(self, count: int) -> None:
        """Take note that so many texts were taken at once."""
        self.taken = max(self.taken, count)

    def settle(self, smaller: Fewer, size_before: int, words: Sequence[str]) -> None:
        """Judge what a refusal for the number of texts was about, now that they were asked for and failed with `words`.

        Where one turned out to be too long, that may have been all, and the size goes back to what it was before.
        """
        if not smaller.sure and "too_long" in words:
            self.batch_size = size_before
            return
        self.shrink(smaller)
        if self._unkept and self.taken:
            self._unkept = False
            self._remember({BATCH: self.batch_size})

    def drop(self, name: str, error: "ApiError") -> None:
        """Send a parameter no more."""
        self._drop(name, f"HTTP {error.status}: {error.message[:200]}")
        self._remember({DROPPED: self.dropped})

    def lay_bare(self) -> None:
        """Send texts one by one, and none of them in a list."""
        self.bare, self.batch_size = True, 1
        self._remember({BARE: True, BATCH: 1})

    def _drop(self, name: str, why: str) -> None:
        if self.parameters.pop(name, None) is not None:
            self.dropped[name] = why

    def _remember(self, facts: dict[str, Any]) -> None:
        if self._memory is None:
            return
        url, model = self._endpoint.url, self._endpoint.model
        held = {name: fact for name, fact in self._memory.recall(url, model).items() if name not in ("at", "since")}
        self._memory.keep(url, model, held | facts)
