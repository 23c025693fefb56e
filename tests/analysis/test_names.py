from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.ids import Ids
from ragstone.analysis.names import Names


@given(st.lists(st.text(max_size=3)))
def test_names_are_numbered_as_ids_are_and_can_be_read_back(met):
    names, ids = Names(), Ids()
    assert [names.number(name) for name in met] == [ids.number(name) for name in met]
    assert list(names) == list(dict.fromkeys(met))
    assert len(names) == len(ids)
    assert [names.find(name) for name in (*met, "never met")] == [ids.find(name) for name in (*met, "never met")]
