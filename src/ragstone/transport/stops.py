"""What ends a run: refusals that would meet every request, and endpoints that never took one."""

from ragstone.errors import EndpointError, StoppedError
from ragstone.transport.endpoint import Endpoint
from ragstone.transport.error_body import ApiError
from ragstone.transport.exchange import Step

HOPELESS = 100
"""Requests used up by an endpoint that never took one, after which nobody waits for the others to be tried."""
AWAY = ("timeout", "connection", "rate_limited", "bad_gateway")
"""Words of an endpoint that is not there, or for nobody: no request's own trouble, and every one of them takes long."""
AWAY_AT_FIRST, AWAY_LATER = 16, 100
"""Requests used up in a row for such words that end the run: before the endpoint has ever taken one, and after."""


class Stops:
    """Remembers why every further request of an endpoint would fail, and watches one that has accepted nothing yet."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._why: tuple[type[StoppedError], str] | None = None
        self._untried = self._used_up = self._silent = self._away = 0
        self.doubted = 1
        """Requests that must be used up before an endpoint is given up because no other one waits to be tried."""
        self._last = Step("fail")

    def stop(self, kind: type[StoppedError], name: str, error: ApiError | None = None, **values: object) -> StoppedError:
        """Remember why, in the words of `http.<name>`; returns the exception to raise."""
        told = {"status": error.status, "message": error.message} if error else {}
        self._why = (kind, self._endpoint.say(name, **{**told, **values}))
        return kind(self._why[1])

    def check(self) -> None:
        """Raise what was remembered."""
        if self._why is not None:
            raise self._why[0](self._why[1])

    def ended(self, step: Step, tries: int) -> StoppedError | None:
        """Take in how a request ended. Returns what to raise if so many in a row found nobody that the rest need not be tried."""
        self._away = self._away + 1 if step.then == "fail" and step.word in AWAY else 0
        if self._away != AWAY_LATER:
            return None
        return self.stop(EndpointError, "gone", trouble=_trouble(step), tries=tries, count=AWAY_LATER)

    # ------------------------------------------------------------------ while nothing was accepted
    def begin(self) -> "Watch":
        """Watch a request from its beginning."""
        self._untried += 1
        return Watch(self)

    def _tried(self) -> None:
        self._untried -= 1

    def met(self, step: Step, tries: int, *, first: bool, last: bool) -> None:
        """Take in that a request has met trouble, for the `first` time or at its `last` try."""
        self._silent += first and step.word == "timeout"
        self._used_up += last
        self._last, self._tries = step, tries

    def hopeless(self) -> StoppedError | None:
        """Return what to raise if a request was used up and every other one has met trouble as well: the endpoint is down.

        While one has not been tried there is hope: the first rows may well be the only bad ones. But so many requests that were not
        answered at all are enough: to wait for each of them as often as it may be repeated would take hours.
        """
        enough = AWAY_AT_FIRST if self._last.word in AWAY else HOPELESS
        alone = self._used_up >= self.doubted and not self._untried
        down = self._used_up >= enough or alone or self._silent >= AWAY_AT_FIRST
        if not down:
            return None
        return self.stop(EndpointError, "never_accepted", trouble=_trouble(self._last), tries=self._tries)


def _trouble(step: Step) -> str | None:
    return f"HTTP {step.status}: {step.message}" if step.status else step.message or step.word


class Watch:
    """One request while nothing was accepted: whether it has met trouble yet."""

    __slots__ = ("_fresh", "_stops")

    def __init__(self, stops: Stops) -> None:
        self._stops, self._fresh = stops, True

    def tried(self) -> bool:
        """Take in that it has been tried in vain, or has ended; True the first time."""
        first, self._fresh = self._fresh, False
        if first:
            self._stops._tried()
        return first
