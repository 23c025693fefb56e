import datetime as dt
import math
from decimal import Decimal

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pytest

from ragstone.reading.plain import plain

UTC = dt.UTC


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, np.float32("nan"), pd.NaT, pd.NA, np.datetime64("NaT"), Decimal("NaN")])
def test_whatever_says_that_nothing_is_there_is_none(value):
    assert plain(value) is None
    assert plain([value, {"a": (value,)}]) == [None, {"a": [None]}]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("年假", "年假"),
        (True, True),
        (np.bool_(False), False),
        (np.int64(7), 7),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.str_("字"), "字"),
        (Decimal("12.50"), 12.5),
        (Decimal("3"), 3),
        (Decimal("1E+2"), 100),
        (dt.date(2024, 5, 1), "2024-05-01"),
        (dt.datetime(2024, 5, 1, 9, 30, tzinfo=UTC), "2024-05-01T09:30:00+00:00"),
        (dt.time(9, 30), "09:30:00"),
        (dt.timedelta(hours=1), "1:00:00"),
        (pd.Timestamp("2024-05-01 09:30"), "2024-05-01T09:30:00"),
        (np.datetime64("2024-05-01T09:30:00.000000000"), "2024-05-01T09:30:00.000000000"),
        ("片段".encode(), "片段"),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        (pd.Series(["a", None]), ["a", None]),
        (pa.scalar("x"), "x"),
        (pa.array([["a"], None]), [["a"], None]),
        (({"text": np.str_("a"), "score": np.float64("nan")},), [{"text": "a", "score": None}]),
        ({1: "a"}, {"1": "a"}),
    ],
)
def test_values_become_what_json_would_hold(value, expected):
    found = plain(value)
    assert found == expected
    assert orjson.loads(orjson.dumps(found)) == expected


@pytest.mark.parametrize("value", [b"\xff", {1, 2}, object(), 2j])
def test_what_json_cannot_hold_stays_to_be_refused_by_name(value):
    assert plain(value) is value


def test_infinity_stays_to_be_refused():
    assert math.isinf(plain(np.float64("inf")))
