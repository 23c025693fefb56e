from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.ids import Ids


@given(st.lists(st.text(max_size=3)))
def test_numbers_follow_the_order_ids_are_first_met_in(names):
    ids, expected = Ids(), {}
    for name in names:
        assert ids.number(name) == expected.setdefault(name, len(expected))
        assert ids.find(name) == expected[name]
    assert len(ids) == len(expected)
    assert ids.find("never met") is None
    assert len(ids) == len(expected)


def test_thousands_of_ids_keep_their_numbers():
    ids = Ids()
    names = [f"退货-{i}" for i in range(5000)]
    assert [ids.number(name) for name in names] == list(range(5000))
    assert [ids.number(name) for name in reversed(names)] == list(reversed(range(5000)))


def test_a_lone_surrogate_is_an_id_like_any_other():
    ids = Ids()
    assert [ids.number("\ud800"), ids.number("\ud801"), ids.number("\ud800")] == [0, 1, 0]
