"""What an embeddings endpoint takes, found out by its refusals, used at once and remembered for later runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.embed.refusals import Fewer

if TYPE_CHECKING:
    from ragstone.transport.endpoint import Endpoint
    from ragstone.transport.error_body import ApiError
    from ragstone.transport.memory import Memory

BATCH, DROPPED, BARE = "batch_size", "embeddings_dropped", "embeddings_bare"
"""Names of the facts in the memory, which the judge of the same name may share."""


@dataclass(slots=True)
class Doubt:
    """A request that may have held too many texts, or one that is not taken in any company."""

    count: int
    left: set[str]
    """Those of its texts that no smaller request has got through yet."""
    fewer: Fewer


class Taught:
    """Most texts a request may hold, the parameters sent beside them, and whether a lone text goes out without a list.

    A refusal for the number of texts is a doubt at first: fewer are sent. It is a lesson once all of the refused texts were taken
    with less company, whenever that is; where one of them is not taken at all, that may have been the whole trouble, and
    the doubt is dismissed. So what is learned does not depend on which texts happened to share a request.

    What earlier runs were taught is recalled when the first request is made, so that what a run is asked to do can be told
    apart from what it does.
    """

    def __init__(self, endpoint: "Endpoint", batch_size: int, memory: "Memory | None" = None) -> None:
        self._endpoint, self._memory, self._recalled = endpoint, memory, False
        self.asked = self._most = self._kept = batch_size
        """Most texts in one request as the settings want it, as taught, and as kept for later runs."""
        self._doubts: list[Doubt] = []
        self.parameters: dict[str, Any] = {"encoding_format": "float"}
        self.dropped: dict[str, str] = {}
        self.bare = False
        """A request of one text holds the text itself."""
        self._tried_bare: str | None = None
        """The text that has to show whether that helps."""
        self.taken = 0
        """Most texts that were taken at once so far."""
        self.base64 = False
        """Vectors came as base64, although numbers were asked for."""
        self.cut = 0
        """Texts that were probably cut without a word."""

    @property
    def batch_size(self) -> int:
        """Most texts to put into a request now."""
        if self.bare:
            return 1
        return min(self._learned, max(self.taken, min((doubt.fewer.size for doubt in self._doubts), default=self.asked)))

    @property
    def _learned(self) -> int:
        return max(self.taken, self._most)

    @property
    def effective(self) -> dict[str, Any]:
        """Parameters as sent, what had to be left out, and what else came to be otherwise than asked for."""
        changed: dict[str, Any] = {"dropped": dict(self.dropped)} if self.dropped else {}
        changed |= {"batch_size": self._learned} if self._learned < self.asked else {}
        changed |= {"received": "base64"} if self.base64 else {}
        changed |= {"cut_texts": self.cut} if self.cut else {}
        return {**self.parameters, **changed}

    @property
    def notices(self) -> list[str]:
        """What a person should hear about it at the end of a run."""
        told = [self._endpoint.say("embeddings_batch", most=self._learned, asked=self.asked)] if self._learned < self.asked else []
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
            self._most = self._kept = min(self.asked, size)
        for name, why in dropped.items() if isinstance(dropped, dict) else ():
            self._drop(name, str(why))
        self.bare = facts.get(BARE) is True

    def doubt(self, texts: Sequence[str], smaller: Fewer) -> None:
        """Put fewer texts into a request, for these were refused together."""
        self._doubts.append(Doubt(len(texts), set(texts), smaller))

    def take(self, texts: Sequence[str]) -> None:
        """Take note that these were taken together."""
        self.taken = max(self.taken, len(texts))
        for doubt in self._doubts:
            doubt.left.difference_update(texts)
        settled = [doubt for doubt in self._doubts if not doubt.left]
        self._doubts = [doubt for doubt in self._doubts if doubt.left]
        for doubt in settled:
            if doubt.count > self.taken:
                self._learn(doubt.fewer)
        if self._tried_bare in texts:
            self._tried_bare = None
            self._learn(Fewer(1), {BARE: True})

    def dismiss(self, texts: Sequence[str]) -> None:
        """Conclude nothing from refusals of these texts that were not settled: one of them may be one that is never taken."""
        self._doubts = [doubt for doubt in self._doubts if doubt.left.isdisjoint(texts)]
        if self._tried_bare in texts:
            self._tried_bare, self.bare = None, False

    def drop(self, name: str, error: "ApiError") -> None:
        """Send a parameter no more."""
        self._drop(name, f"HTTP {error.status}: {error.message[:200]}")
        self._remember({DROPPED: self.dropped})

    def try_bare(self, text: str) -> None:
        """Send texts one by one and none of them in a list, for good if that gets this one through."""
        if not self.bare:
            self.bare, self._tried_bare = True, text

    def _learn(self, smaller: Fewer, more: dict[str, Any] | None = None) -> None:
        self._most = min(self._most, smaller.size)
        if more or (smaller.lasting and smaller.size < self._kept):
            self._kept = smaller.size
            self._remember({BATCH: self._learned} | (more or {}))

    def _drop(self, name: str, why: str) -> None:
        if self.parameters.pop(name, None) is not None:
            self.dropped[name] = why

    def _remember(self, facts: dict[str, Any]) -> None:
        if self._memory is None:
            return
        url, model = self._endpoint.url, self._endpoint.model
        held = {name: fact for name, fact in self._memory.recall(url, model).items() if name not in ("at", "since")}
        self._memory.keep(url, model, held | facts)
