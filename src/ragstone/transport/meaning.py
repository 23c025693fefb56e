"""What an answer means: taken, to be repeated, this request's own trouble, or the whole run's."""

from collections.abc import Callable
from typing import Any

from ragstone.errors import AuthError, EndpointError, StoppedError
from ragstone.transport.answer import Answer
from ragstone.transport.endpoint import Endpoint
from ragstone.transport.error_body import ApiError, holds_error, is_page, read_error
from ragstone.transport.exchange import AGAIN, Exchange, Step, Tally
from ragstone.transport.retry import demanded, retry_after
from ragstone.transport.stops import Stops

PIECE = 120
"""Characters shown of what came back from something that is no such API."""
_WORDS = {408: "timeout", 429: "rate_limited", 502: "bad_gateway", 503: "bad_gateway", 504: "bad_gateway"}


class Meaning:
    """Reads answers of one endpoint. Raises AuthError or EndpointError for what would fail every request."""

    def __init__(self, endpoint: Endpoint, stops: Stops, accepted: Callable[[], bool]) -> None:
        """`accepted` tells whether the endpoint has taken any request yet."""
        self._endpoint, self._stops, self._accepted = endpoint, stops, accepted

    def sort(self, answer: Answer, data: Any, exchange: Exchange, url: str) -> tuple[Step, bool]:
        """Return what follows, and whether the endpoint has accepted the request. `data` is the body's JSON value."""
        status = answer.status
        if 200 <= status < 300:
            if isinstance(data, dict) and not holds_error(data):
                if not self._accepted() and not exchange.known(data):
                    raise self._foreign(answer, url)
                return exchange.read(data), True
            if not isinstance(data, dict):
                return self._no_object(answer, url), False
        if 300 <= status < 400:
            raise self._stops.stop(EndpointError, "redirected", status=status, target=answer.target)
        error = read_error(status, answer.raw, data, self._endpoint.scrub)
        if error.status in (403, 500) and error.of_parameter and exchange.refused(error, True) is AGAIN:
            return AGAIN, False
        if error.status in (408, 409, 425, 429) or (error.status >= 500 and error.status != 501):
            return self._passing(error, answer, exchange.tally), False
        return self._refused(error, exchange), False

    def _no_object(self, answer: Answer, url: str) -> Step:
        # nothing at all, or an object that breaks off, may come of a bad line; anything else comes of a wrong address
        if not self._accepted() and answer.raw.lstrip()[:1] not in (b"", b"{"):
            raise self._foreign(answer, url)
        if is_page(answer.raw):
            return Step("wait", "bad_gateway", self._page(answer))
        if not answer.raw.strip():
            return Step("wait", "empty_reply")
        return Step("wait", "bad_reply", read_error(answer.status, answer.raw, None, self._endpoint.scrub).message)

    def _foreign(self, answer: Answer, url: str) -> StoppedError:
        """Stop the run: what answers at this address has never been heard to speak the protocol."""
        said = read_error(answer.status, answer.raw, None, self._endpoint.scrub).message[:PIECE]
        hint = "" if self._endpoint.versioned else self._endpoint.say("version_hint")
        name = "foreign_page" if is_page(answer.raw) else "foreign"
        return self._stops.stop(EndpointError, name, asked=self._endpoint.scrub(url), status=answer.status, message=said, hint=hint)

    def _page(self, answer: Answer) -> str:
        hint = "" if self._endpoint.versioned else self._endpoint.say("version_hint")
        said = read_error(answer.status, answer.raw, None, self._endpoint.scrub).message
        return self._endpoint.say("page", status=answer.status, message=said) + hint

    def _passing(self, error: ApiError, answer: Answer, tally: Tally) -> Step:
        """Trouble that waiting may cure."""
        if error.status == 429:
            tally.rate_limits += 1
            if error.balance:
                raise self._stops.stop(AuthError, "balance", error)
        if error.too_long_by_code:
            return Step("fail", "too_long", error.message)
        page = is_page(answer.raw)
        word = "bad_gateway" if page and error.status >= 500 else _WORDS.get(error.status, "server_error")
        word = "bad_gateway" if 520 <= error.status < 530 else word
        busy, headers = error.busy, answer.headers
        after = demanded(headers, error.message, error.after) if busy else retry_after(headers)
        return Step("wait", word, self._page(answer) if page else error.message, after, busy, error.status)

    def _refused(self, error: ApiError, exchange: Exchange) -> Step:
        """A refusal: cured by changing the request, or this request's own, or the whole run's."""
        if error.status != 401 and error.blocked:
            return Step("fail", "blocked", error.message)
        if error.balance:
            raise self._stops.stop(AuthError, "balance", error)
        if error.key:
            raise self._stops.stop(AuthError, "key_refused" if self._endpoint.key else "no_key", error)
        if step := exchange.refused(error, True):
            return step
        if error.too_long:
            return Step("fail", "too_long", error.message)
        if error.status in (404, 405, 410, 501) or error.model:
            hint = "" if self._endpoint.versioned else self._endpoint.say("version_hint")
            raise self._stops.stop(EndpointError, "not_found", error, hint=hint)
        if step := exchange.refused(error, False):
            return step
        if not self._accepted():
            raise self._stops.stop(EndpointError, "refused", error)
        return Step("fail", "bad_reply", error.message)
