"""The limit as a law, and what endpoints of several kinds make of it; the endpoints are simulated, in tries and not in seconds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.transport.adapting import Adapting


def tell(adapting: Adapting, refused: int, taken: int) -> bool:
    """One window; returns whether the limit was cut."""
    epoch = adapting.epoch
    return sum(adapting.note(epoch, kind) for kind in [False] * taken + [True] * refused) > 0


@pytest.mark.parametrize(("refused", "taken", "limit"), [(5, 11, 8), (4, 12, 16), (0, 16, 16), (9, 0, 8), (8, 0, 16)])
def test_more_than_a_quarter_of_a_window_halves_and_more_than_a_half_at_once(refused: int, taken: int, limit: int) -> None:
    adapting = Adapting(16)
    assert tell(adapting, refused, taken) == (limit < 16)
    assert adapting.limit == limit


def test_where_halving_does_not_help_the_refusals_are_drawn_by_lot() -> None:
    adapting = Adapting(16)
    tell(adapting, 5, 11)
    assert not tell(adapting, 10, 22)
    assert adapting.limit == 16, "as many refused as before"
    for _ in range(4):
        tell(adapting, 28, 36)
    assert adapting.limit == 16, "and so it stays"
    assert not tell(adapting, 32, 0)
    assert tell(adapting, 1, 0)
    assert adapting.limit == 8, "until it is worse"


def test_what_is_drawn_by_lot_holds_no_limit_down() -> None:
    adapting = Adapting(64)
    for _ in range(3):
        tell(adapting, 40, 0)
    assert adapting.limit == 8, "halved at once, three times"
    tell(adapting, 5, 11)
    tell(adapting, 10, 22)
    assert adapting.limit == 8, "drawn by lot"
    for limit in (16, 32, 64, 64):
        tell(adapting, int(adapting._window * 0.4), adapting._window - int(adapting._window * 0.4))
        assert adapting.limit == limit


def test_where_halving_helps_it_stays_halved() -> None:
    adapting = Adapting(16)
    tell(adapting, 8, 8)
    tell(adapting, 8, 24)
    assert adapting.limit == 8


def test_a_window_that_is_neither_good_nor_bad_changes_nothing() -> None:
    adapting = Adapting(16)
    tell(adapting, 9, 0)
    assert not tell(adapting, 4, 12)
    assert adapting.limit == 8
    assert not tell(adapting, 2, 14)
    assert adapting.limit == 12


@pytest.mark.parametrize(("refused", "then"), [(0, 14), (6, 16)])
def test_two_such_windows_in_a_row_take_a_quarter_away_if_that_helps(refused: int, then: int) -> None:
    adapting = Adapting(16)
    tell(adapting, 3, 13)
    assert adapting.limit == 16
    tell(adapting, 3, 13)
    assert adapting.limit == 12
    tell(adapting, refused, 32 - refused)
    assert adapting.limit == then


def test_what_was_sent_before_the_limit_changed_says_nothing() -> None:
    adapting = Adapting(16)
    epoch = adapting.epoch
    for _ in range(16):
        adapting.note(epoch, refused=True)
    assert adapting.limit == 8


def test_the_limit_comes_back_to_where_the_trouble_was_and_tries_beyond_it_ever_more_rarely() -> None:
    adapting, limits = Adapting(16), []
    tell(adapting, 9, 0)
    while adapting.limit < 16:
        tell(adapting, 0, 16)
        limits.append(adapting.limit)
    assert limits == [12, 14, 15, 16]
    windows = []
    for _ in range(4):
        tell(adapting, 9, 0)
        count = 0
        while adapting.limit < 16:
            tell(adapting, 0, 16)
            count += 1
        windows.append(count)
    assert windows == [3 + 2, 3 + 4, 3 + 8, 3 + 16]


@given(most=st.integers(1, 40), outcomes=st.lists(st.booleans(), max_size=600))
def test_the_limit_stays_between_one_and_the_most(most: int, outcomes: list[bool]) -> None:
    adapting = Adapting(most)
    for refused in outcomes:
        before = adapting.limit
        cut = adapting.note(adapting.epoch, refused)
        assert 1 <= adapting.limit <= most
        assert not cut or adapting.limit in (max(1, before // 2), max(1, before - max(1, before // 4)))


def simulate(refuses: "object", tries: int, most: int = 16) -> tuple[list[int], int]:
    """Rounds in which `limit` requests are out together; returns the limits, one a try, and how many tries were refused."""
    adapting, limits, refused = Adapting(most), [], 0
    while len(limits) < tries:
        epoch, out = adapting.epoch, adapting.limit
        for place in range(out):
            bad = refuses(place)  # type: ignore[operator]
            refused += bad
            limits.append(out)
            adapting.note(epoch, bad)
    return limits, refused


@pytest.mark.parametrize(("share", "least"), [(0.1, 15), (0.15, 13.5), (0.2, 13), (0.3, 13)])
def test_refusals_by_lot_cost_little(share: float, least: float) -> None:
    lot = random.Random(0)
    runs = [simulate(lambda _place: lot.random() < share, 400)[0] for _ in range(100)]
    assert sum(sum(limits) / len(limits) for limits in runs) / len(runs) > least
    assert min(sum(limits) / len(limits) for limits in runs) > 3.5


@pytest.mark.parametrize("cap", [1, 2, 4, 10, 15])
def test_a_hard_limit_is_found_and_seldom_passed(cap: int) -> None:
    limits, refused = simulate(lambda place: place >= cap, 2000)
    late = limits[1000:]
    assert max(late) <= cap + cap // 2 + 1
    assert sum(late) / len(late) > 0.7 * cap
    assert refused < 420, "a fifth at most, where all of a round come back at the same moment"


def test_an_endpoint_that_recovers_is_used_in_full_again() -> None:
    adapting = Adapting(16)
    for _ in range(6):
        tell(adapting, 9, 0)
    assert adapting.limit == 1
    windows = 0
    while adapting.limit < 16:
        tell(adapting, 0, 16)
        windows += 1
    assert windows < 20
