"""Sample ids as consecutive numbers that can be turned back into ids."""

from collections.abc import Iterator

from ragstone.analysis.ids import Ids


class Names(Ids):
    """Numbers ids in the order they are met, and keeps them: for two runs that are put side by side, where every id may be asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[str]:
        """Yield the ids in the order of their numbers."""
        return iter(self._numbers)

    def number(self, name: str) -> int:
        """Return the number of an id, the next free one for an id not met before."""
        return self._numbers.setdefault(name, len(self._numbers))

    def find(self, name: str) -> int | None:
        """Return the number of an id, None for an id not met before."""
        return self._numbers.get(name)
