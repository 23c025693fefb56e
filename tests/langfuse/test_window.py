"""Which traces are meant: spans of time, and samples that do not depend on what else there is."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ConfigError
from ragstone.langfuse.window import Window, is_fixed, is_own, share, window_of, zulu

NOW = datetime(2026, 12, 2, 9, 30, 0, 123456, tzinfo=UTC)
IDS = st.lists(st.text("0123456789abcdef", min_size=1, max_size=32), unique=True, max_size=60)
RATES = st.floats(0.01, 1)


@pytest.mark.parametrize(
    ("since", "until", "first", "last"),
    [
        (None, None, "2026-12-01T09:30:00.123Z", "2026-12-02T09:30:00.123Z"),
        ("24h", None, "2026-12-01T09:30:00.123Z", "2026-12-02T09:30:00.123Z"),
        ("7d", "1h", "2026-11-25T09:30:00.123Z", "2026-12-02T08:30:00.123Z"),
        ("90 min", "30m", "2026-12-02T08:00:00.123Z", "2026-12-02T09:00:00.123Z"),
        ("2W", None, "2026-11-18T09:30:00.123Z", "2026-12-02T09:30:00.123Z"),
        ("2026-12-01", "2026-12-02", "2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"),
        ("2026-12-01T08:00", None, "2026-12-01T08:00:00Z", "2026-12-02T09:30:00.123Z"),
        ("2026-12-01T08:00+08:00", "2026-12-01 09:00:00Z", "2026-12-01T00:00:00Z", "2026-12-01T09:00:00Z"),
    ],
)
def test_a_window_in_utc(since, until, first, last):
    assert window_of(since, until, NOW, "en").to_dict() == {"since": first, "until": last}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("text", ["yesterday", "昨天", "2026-13-01", "24", "h", "-3h", "3y", "", "9" * 30 + "d"])
def test_what_is_no_time_is_told_with_examples(text, lang):
    with pytest.raises(ConfigError) as told:
        window_of("2026-12-01", text, NOW, lang)
    assert all(word in str(told.value) for word in ("--until", "2026-12-01T08:00+08:00", "24h", "7d"))


EMPTY = [("2026-12-02", "2026-12-01"), ("2026-12-01", "2026-12-01"), ("1h", "2h"), ("2027-01-01", None)]


@pytest.mark.parametrize(("since", "until"), EMPTY)
def test_an_empty_window_is_told_with_both_ends(since, until):
    with pytest.raises(ConfigError) as told:
        window_of(since, until, NOW, "en")
    assert str(told.value).count("Z") == 2


@given(st.integers(0, 4 * 10**15), st.integers(1, 10**9))
def test_a_window_that_was_stored_is_the_same_when_it_is_read(microseconds, seconds):
    moment = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)
    window = window_of(moment.isoformat(), (moment + timedelta(seconds=seconds)).isoformat(), NOW, "en")
    assert window_of(**window.to_dict(), now=NOW, lang="zh") == window
    assert window.holds(window.since)
    assert not window.holds(window.until)


@pytest.mark.parametrize(
    ("since", "until", "fixed"),
    [
        ("2026-12-01", "2026-12-02", True),
        ("2026-12-01", None, False),
        (None, None, False),
        ("24h", "2026-12-02", False),
        ("2026-12-01", "1h", False),
    ],
)
def test_a_window_that_moves_with_the_time(since, until, fixed):
    assert is_fixed(since, until) is fixed


def test_a_moment_in_another_zone_is_told_in_utc():
    assert zulu(datetime.fromisoformat("2026-12-01T07:59:59.999+08:00")) == "2026-11-30T23:59:59.999Z"


# ------------------------------------------------------------------ sampling
@given(IDS, IDS, RATES, st.integers(0, 2**32 - 1))
def test_a_trace_is_sampled_whatever_other_traces_there_are(some, others, rate, seed):
    alone = {name for name in some if share(seed, name) < rate}
    assert {name for name in reversed([*some, *others]) if share(seed, name) < rate} & {*some} == alone


@given(IDS, RATES, RATES, st.integers(0, 2**32 - 1))
def test_a_larger_rate_holds_a_smaller_one_and_1_holds_all(ids, one, other, seed):
    small, large = sorted((one, other))
    assert {name for name in ids if share(seed, name) < small} <= {name for name in ids if share(seed, name) < large}
    assert all(0 <= share(seed, name) < 1 for name in ids)


def test_as_many_are_sampled_as_the_rate_says_and_others_with_another_seed():
    ids = [f"{n:032x}" for n in range(20_000)]
    one, other = ({name for name in ids if share(seed, name) < 0.1} for seed in (0, 1))
    assert 1_850 < len(one) < 2_150
    assert 100 < len(one & other) < 300  # a tenth of a tenth


@pytest.mark.parametrize(
    ("environment", "tags", "own"),
    [
        ("production", (), False),
        (None, ("faq", "zh"), False),
        ("ragstone-app", (), False),
        ("ragstone", (), True),
        ("eval", (), True),
        ("production", ("ragstone",), True),
        ("sdk-experiment", (), True),
        ("langfuse-llm-as-a-judge", (), True),
    ],
)
def test_traces_that_no_user_has_caused(environment, tags, own):
    assert is_own(environment, tags, {"eval"}) is own


def test_a_window_holds_its_beginning_alone():
    window = Window(NOW, NOW + timedelta(hours=1))
    assert [window.holds(NOW + timedelta(minutes=at)) for at in (-1, 0, 59, 60)] == [False, True, True, False]
