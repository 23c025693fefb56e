from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading.row_ids import RowIds, made_id

QUESTIONS = ["一年保修吗？", "how long?", None]
BASES = [made_id(question, 0) for question in QUESTIONS]
NAMES = st.sampled_from(["s1", "样本二", *BASES, f"{BASES[0]}-2", f"{BASES[0]}-3"])
ROWS = st.lists(st.one_of(NAMES.map(lambda name: (name, None)), st.sampled_from(QUESTIONS).map(lambda q: (None, q))))


def go_through(rows: list[tuple[str | None, str | None]], earlier: RowIds | None = None) -> tuple[RowIds, list[str], set[int]]:
    """The ids of rows with a given id or a question, and the rows whose given id an earlier row had."""
    ids, names, doubled = RowIds(earlier), [], set()
    for number, (given_id, question) in enumerate(rows, 1):
        if given_id is None:
            names.append(ids.make(question, number))
            continue
        names.append(given_id)
        if ids.take(given_id, number) != number:
            doubled.add(number)
    return ids, names, doubled


@given(ROWS)
def test_law_every_row_gets_an_id_of_its_own(rows: list[tuple[str | None, str | None]]) -> None:
    ids, names, doubled = go_through(rows)
    if ids.clashes:
        ids, names, again = go_through(rows, ids)
        assert again == doubled
        assert not ids.clashes
    firsts = [name for number, name in enumerate(names, 1) if number not in doubled]
    assert len(set(firsts)) == len(firsts)
    for number, (given_id, question) in enumerate(rows, 1):
        suffix = ids.suffixes[number] if number < len(ids.suffixes) else 0
        assert names[number - 1] == (given_id or made_id(question, suffix))


def test_namesakes_are_numbered_in_order_around_ids_that_are_taken() -> None:
    taken = f"{BASES[0]}-3"
    _, names, _ = go_through([(taken, None), *[(None, QUESTIONS[0])] * 3])
    assert names == [taken, BASES[0], f"{BASES[0]}-2", f"{BASES[0]}-4"]


def test_the_first_row_of_a_doubled_id_is_told() -> None:
    ids = RowIds()
    assert [ids.take("退货", 3), ids.take("退货", 9), ids.take("x", 11)] == [3, 3, 11]
