"""How many requests at once an endpoint stands, found out by trying."""

SMALLEST = 16
"""Fewest outcomes on which a decision rests."""
GROW, BAD, CUT = 0.125, 0.25, 0.5
"""Refused share of a window up to which the limit may grow; above which it is halved if that helps; above which in any case."""
AFTER_CUT, BY_LOT = 2, 4
"""So many times longer are the window after a cut, and those of refusals drawn by lot."""
HELPED = 0.6
"""A cut has helped if the refused share falls to less than this share of what it was."""
MOST_PATIENCE = 64


class Adapting:
    """A limit between 1 and `most` that follows what an endpoint refuses for being asked too much.

    Outcomes are counted in windows of `max(16, limit)`. More than half refused halves the limit as soon as that is certain, more
    than a quarter at the end of the window; what lies between that and an eighth takes a quarter of it away when it lasts; at
    most an eighth lets it grow. Where up to a half is refused and a cut has not helped (seen in a window of twice the length),
    the refusals are drawn by lot: the limit goes back to what it was, and windows of four times the length decide whether it
    doubles, up to `most`, or falls. Below the limit at which trouble was last seen half of the way to it is taken a
    window; from there on one more is tried after `patience` good windows, twice as many after each such try that went wrong: an
    endpoint with a hard limit refuses little. (Additive increase, multiplicative decrease after Chiu and Jain, 1989, with
    a memory of where the last trouble was.)
    """

    __slots__ = ("_before", "_by_lot", "_doubt", "_good", "_patience", "_refused", "_seen", "_trouble", "epoch", "limit", "most")

    def __init__(self, most: int) -> None:
        self.most = self.limit = most
        self.epoch = 0
        """Changes with the limit: what was sent before says nothing of the limit that holds now."""
        self._trouble = most + 1
        """The limit at which trouble was last seen."""
        self._patience, self._good, self._doubt = 1, 0, False
        self._seen = self._refused = 0
        self._before: tuple[int, float] | None = None
        """The limit before the last cut and the share refused there, while the first window after the cut is not over."""
        self._by_lot = False

    @property
    def _window(self) -> int:
        """Outcomes a decision rests on: more where chance may have its hand in it."""
        return max(SMALLEST, self.limit) * (BY_LOT if self._by_lot else AFTER_CUT if self._before else 1)

    def note(self, epoch: int, refused: bool) -> bool:
        """Count how a request sent in `epoch` ended. Returns True if the limit was cut, or would have been were it not 1."""
        if epoch != self.epoch:
            return False
        size = self._window
        self._seen += 1
        self._refused += refused
        if self._refused > size * CUT:
            self._before, self._by_lot = None, False
            self._retreat(max(1, self.limit // 2))
            return True
        return self._seen >= size and self._close(self._refused / self._seen)

    def _close(self, share: float) -> bool:
        """Decide at the end of a window; returns whether the limit was cut."""
        before, self._before = self._before, None
        self._seen = self._refused = 0
        if share <= GROW:
            self._by_lot = False
            self._grow()
        elif before is not None and share >= HELPED * before[1]:
            self._by_lot = True
            self._change(before[0])
        elif self._by_lot:
            self._change(min(self.most, 2 * self.limit))
        elif share > BAD or self._doubt:
            limit = self.limit
            self._retreat(max(1, limit // 2 if share > BAD else limit - max(1, limit // 4)))
            self._before = (limit, share)
            return True
        else:
            self._doubt, self._good = True, 0
        return False

    def _retreat(self, limit: int) -> None:
        if self.limit >= self._trouble:
            self._patience = min(MOST_PATIENCE, 2 * self._patience)
        self._trouble = max(2, self.limit)
        self._change(limit)

    def _grow(self) -> None:
        self._doubt, self._good = False, self._good + 1
        if self.limit >= self._trouble:
            self._patience = 1
        if self.limit >= self.most:
            return
        if self.limit + 1 < self._trouble:
            self._change(min(self.most, self.limit + max(1, (self._trouble - self.limit) // 2)))
        elif self._good >= self._patience:
            self._trouble = max(self._trouble, self.limit + 1)
            self._change(self.limit + 1)

    def _change(self, limit: int) -> None:
        self.limit, self.epoch = limit, self.epoch + 1
        self._seen = self._refused = self._good = 0
        self._doubt = False
