"""Requests and tokens a minute, in a time that the test makes."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.transport.pace import Pace, Rate


@given(per_minute=st.integers(1, 3000), gaps=st.lists(st.floats(0, 5), min_size=1, max_size=80))
def test_no_minute_holds_more_than_allowed(per_minute: int, gaps: list[float]) -> None:
    rate, now, sent = Rate(per_minute), 1000.0, []
    for gap in gaps:
        now += gap
        sent.append(now + rate.take(1, now))
    for start in sent:
        assert sum(start <= moment < start + 60 for moment in sent) <= per_minute + 1e-6


def test_requests_are_spread_after_a_small_burst() -> None:
    pace = Pace(60, None, now=lambda: 0.0)
    assert [round(pace.take(b"{}")[0], 2) for _ in range(4)] == [0, 0, 0.15, 1.2]


@pytest.mark.parametrize("usage", [{"total_tokens": 400}, {"prompt_tokens": 300, "completion_tokens": 100}])
def test_tokens_are_put_right_by_the_usage_that_comes_back(usage: dict[str, int]) -> None:
    pace, body = Pace(None, 6300, now=lambda: 0.0), b"x" * 400
    wait, reserved = pace.take(body)
    assert (wait, reserved) == (0, 100)
    pace.settle(reserved, {"usage": usage})
    wait, reserved = pace.take(body)
    assert wait == pytest.approx(4 - (3 - reserved / 100))
    assert 100 < reserved <= 400


@pytest.mark.parametrize("data", [None, [], {}, {"usage": None}, {"usage": {"total_tokens": "many"}}])
def test_an_endpoint_that_tells_no_usage_is_paced_by_the_estimate(data: object) -> None:
    pace, body = Pace(None, 6300, now=lambda: 0.0), orjson.dumps("字" * 400)
    _, reserved = pace.take(body)
    pace.settle(reserved, data)
    assert pace.take(body)[0] == pytest.approx(reserved / 100)
