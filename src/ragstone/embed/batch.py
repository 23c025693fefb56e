"""One request for vectors on its way: how many texts it holds, how its answer is read, what follows a refusal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.embed.cuts import cut_texts
from ragstone.embed.refusals import fewer, wants_text
from ragstone.embed.replies import read_vectors, sends_base64, shows_vectors
from ragstone.transport.wire import AGAIN, DONE, Posted, Spared, Step, Tally

if TYPE_CHECKING:
    from ragstone.embed.base import Vector
    from ragstone.embed.taught import Taught
    from ragstone.transport.error_body import ApiError


class Batch(Posted):
    """As many of the texts as the endpoint takes at once, the first of them first."""

    def __init__(self, model: str, texts: Sequence[str], taught: "Taught") -> None:
        self._model, self._texts, self._taught = model, texts, taught
        self._sent: dict[str, Any] = {}
        self._bare = False
        self.asked = texts
        """The texts of the last try: those the outcome is about."""
        self.outcomes: list[Vector | str] = []
        self.refusal: ApiError | None = None
        """Why a text that was sent alone was not taken, where no reason word says it."""
        self.divisible = False
        """Refused for one of its texts, as far as the words tell."""
        self.tally = Tally()
        self.spared: Spared = None

    def body(self) -> bytes:
        """Return the request, with as many texts as are known to be taken now."""
        self._taught.recall()
        self._sent, self._bare = dict(self._taught.parameters), self._taught.bare
        self.asked = self._texts[: self._taught.batch_size]
        request = {"model": self._model, "input": self.asked, **self._sent}
        try:
            return orjson.dumps(request | {"input": self.asked[0]} if self._bare else request)
        except TypeError:  # half of a surrogate pair, which no JSON can carry
            whole = [text.encode("utf-8", "replace").decode() for text in self.asked]
            return orjson.dumps({**request, "input": whole[0] if self._bare else whole})

    def known(self, data: dict[str, Any]) -> bool:
        """Return whether the object has a place for vectors."""
        return shows_vectors(data)

    def read(self, data: dict[str, Any]) -> Step:
        """Take in the vectors."""
        self.outcomes = read_vectors(data, len(self.asked))
        self._taught.cut += cut_texts(self.asked, data.get("usage"))
        self._taught.base64 = self._taught.base64 or sends_base64(data)
        return DONE

    def refused(self, error: "ApiError", sure: bool) -> Step | None:
        """Send less, or say that a text is the trouble, or nothing where the address or the model is."""
        if any(self._drop(name, error) for name in self._sent) or self._shrink(error):
            return AGAIN
        if (sure and self._nothing_here(error)) or (error.unsupported and error.mentions("embedding|向量")):
            return None
        if len(self.asked) > 1:
            self.divisible = True
        elif error.too_long:
            return Step("fail", "too_long", error.message)
        else:
            self.refusal = error
        return Step("fail", "bad_reply", error.message)

    def _drop(self, name: str, error: "ApiError") -> bool:
        if error.refuses(name):
            self._taught.drop(name, error)
            return True
        return False

    def _shrink(self, error: "ApiError") -> bool:
        """Find out how many texts are taken, and whether in a list."""
        if smaller := fewer(error, len(self.asked), self._taught.taken):
            self._taught.doubt(self.asked, smaller)
            return True
        listless = self._taught.bare or not self._taught.taken
        if len(self.asked) == 1 and not self._bare and listless and wants_text(error):
            self._taught.try_bare(self.asked[0])
            return True
        return False

    @staticmethod
    def _nothing_here(error: "ApiError") -> bool:
        return error.status in (404, 405, 410, 501) or (error.model and not error.too_long)
