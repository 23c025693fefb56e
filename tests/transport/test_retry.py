from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.transport.retry import LONGEST_DEMAND, Backoff, retry_after

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
