"""Sample ids as consecutive numbers, 26 bytes each instead of the 150 a dict of strings takes."""

from array import array
from hashlib import blake2b

_SIZE = 16


class Ids:
    """Numbers ids in the order they are met. Holds 128-bit digests, not the ids: two ids meeting in one is out of the question."""

    def __init__(self) -> None:
        self._digests = bytearray()
        self._slots = array("i", [-1]) * 256
        self._last: tuple[str, int] | None = None

    def __len__(self) -> int:
        return len(self._digests) // _SIZE

    def number(self, name: str) -> int:
        """Return the number of an id, the next free one for an id not met before."""
        if self._last is not None and self._last[0] == name:
            return self._last[1]
        digest = _digest(name)
        slot = self._slot(digest)
        found = self._slots[slot]
        if found < 0:
            found = self._slots[slot] = len(self)
            self._digests += digest
            if 2 * len(self) > len(self._slots):
                self._spread()
        self._last = (name, found)
        return found

    def find(self, name: str) -> int | None:
        """Return the number of an id, None for an id not met before."""
        if self._last is not None and self._last[0] == name:
            return self._last[1]
        found = self._slots[self._slot(_digest(name))]
        if found < 0:
            return None
        self._last = (name, found)
        return found

    def _slot(self, digest: bytes) -> int:
        """Open addressing: the slot that holds the digest, else the free one where it belongs."""
        last = len(self._slots) - 1
        slot = int.from_bytes(digest[:8]) & last
        while (number := self._slots[slot]) >= 0 and self._digests[number * _SIZE : (number + 1) * _SIZE] != digest:
            slot = (slot + 1) & last
        return slot

    def _spread(self) -> None:
        self._slots = array("i", [-1]) * (2 * len(self._slots))
        for number in range(len(self)):
            self._slots[self._slot(bytes(self._digests[number * _SIZE : (number + 1) * _SIZE]))] = number


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()
