from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.transport.retry import LEAST_ALLOWANCE, LONGEST_DEMAND, Allowance, Backoff, Repeats, demanded, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "Sun, 01 Mar 2026 12:00:07 GMT"}, 7.0),
        ({"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-1"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
    ],
)
def test_the_demanded_wait_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(repeat=st.integers(1, 200), draw=st.floats(0, 1, exclude_max=True), demanded=st.none() | st.floats(0, 1e6))
def test_waits_grow_to_a_cap_and_honour_demands(repeat: int, draw: float, demanded: float | None) -> None:
    backoff = Backoff(base=0.5, cap=30.0, draw=lambda: draw)
    wait, own = backoff.delay(repeat, demanded), min(30.0, 0.5 * 2 ** (repeat - 1))
    least = max(own / 2, min(demanded or 0, LONGEST_DEMAND))
    assert least <= wait <= max(own, 1.1 * LONGEST_DEMAND)
    assert demanded is not None or wait <= own


@pytest.mark.parametrize(
    ("headers", "message", "after", "seconds"),
    [
        ({"Retry-After": "3", "x-ratelimit-reset-requests": "9s"}, "try again in 20s", 5.0, 3.0),
        ({"x-ratelimit-reset-requests": "9s"}, "", 5.0, 5.0),
        ({"x-ratelimit-reset-requests": "1s"}, "try again in 20s", None, 1.0),
        ({"x-ratelimit-reset-tokens": "6m0s"}, "", None, 360.0),
        ({"x-ratelimit-reset-tokens": "20ms"}, "", None, 0.02),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, "", None, 1.0),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "8s", "x-ratelimit-remaining-tokens": "0"}, "", None, 8.0),
        ({"ratelimit-reset": "12"}, "", None, 12.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() + 7)}, "", None, 7.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() * 1000 + 7000)}, "", None, 7.0),
        ({"x-ratelimit-reset": str(int(NOW.timestamp() + 7) * 1000_000)}, "", None, 7.0),
        ({"x-ratelimit-reset-requests": str(NOW.timestamp() + 7)}, "", None, 7.0),
        ({"Retry-After": str(int(NOW.timestamp()) + 7)}, "", None, 7.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() - 7)}, "", None, 0.0),
        ({"x-ratelimit-reset": "soon"}, "Rate limit reached for m. Please try again in 20s. See the page.", None, 20.0),
        ({}, "Please try again in 1m30s.", None, 90.0),
        ({}, "try again in 500ms", None, 0.5),
        ({}, "Please retry after 2 seconds.", None, 2.0),
        ({}, "请求过于频繁，请 20 秒后重试", None, 20.0),
        ({}, "请在2分钟之后再试", None, 120.0),
        ({}, "Too many requests. Limit 20 / min.", None, None),
        ({}, "慢一点", None, None),
    ],
)
def test_a_wait_is_demanded_in_many_ways(headers: dict[str, str], message: str, after: float | None, seconds: float | None) -> None:
    found = demanded(headers, message, after, NOW)
    assert found == (None if seconds is None else pytest.approx(seconds))


BACKOFF = Backoff(draw=lambda: 0.0)


def waits(repeats: Repeats, count: int, after: float | None = None, took: float = 0.0) -> list[float | None]:
    return [repeats.wait(BACKOFF, took, after, busy=after is not None) for _ in range(count)]


def test_a_request_is_repeated_so_often_and_thrice_as_often_as_the_server_demands() -> None:
    assert waits(Repeats(2, 120, Allowance()), 3) == [0.25, 0.5, None]
    assert waits(Repeats(2, 120, Allowance()), 7, after=3.0) == [3.0] * 6 + [None]
    assert waits(Repeats(0, 120, Allowance()), 1, after=3.0) == [None]
    assert waits(Repeats(1, 120, Allowance()), 2, after=0.0) == [0.25, None], "no wait at all is no demand"
    assert waits(Repeats(100, 120, Allowance()), 6, after=1e6) == [120.0] * 5 + [None]


@pytest.mark.parametrize(("timeout", "took", "tries"), [(10, 25, 3), (120, 120, 3), (10, 1, 9)])
def test_all_tries_of_a_request_take_three_of_the_longest_or_a_minute(timeout: float, took: float, tries: int) -> None:
    repeats = Repeats(100, timeout, Allowance())
    assert waits(repeats, tries, took=took)[-1] is None
    assert repeats.tries == tries
    assert None not in waits(Repeats(100, timeout, Allowance()), tries - 1, took=took)


def test_what_a_server_demands_takes_no_time_of_the_request() -> None:
    assert None not in waits(Repeats(10, 1, Allowance()), 10, after=50.0)


def test_repeats_are_shared_and_one_is_each_requests_own() -> None:
    allowance = Allowance()
    allowance.expect(1000)
    assert allowance.left == 200
    allowance.expect(10)
    assert allowance.left == LEAST_ALLOWANCE
    for _ in range(LEAST_ALLOWANCE):
        assert waits(Repeats(5, 120, allowance), 2) == [0.25, 0.5]
    assert waits(Repeats(5, 120, allowance), 2) == [0.25, None]
    assert waits(Repeats(5, 120, allowance), 3, after=2.0) == [2.0] * 3
    assert allowance.refused == 1
