"""Whether two questions ask the same: pairs in both languages, and the laws that hold for any."""

import pytest
from checks import later_pairs, question_pairs
from checks.question_pairs import DIFFERENT, SAME
from hypothesis import given
from hypothesis import strategies as st

from ragstone.checks import wording
from ragstone.checks.wording import Wording, apart, same
from ragstone.embed.bundled import BundledEmbedder
from ragstone.language import detect

LANGUAGES = ("zh", "en")
EMBEDDER = BundledEmbedder(max_vectors=1_000)
QUESTIONS = (
    st.sampled_from([text for pairs in (SAME, DIFFERENT) for lang in LANGUAGES for pair in pairs[lang] for text in pair]) | st.text()
)


def held(pair, agree=False):
    one, other = (Wording(text, detect(text)) for text in pair)
    a, b = EMBEDDER.encode(pair)
    return same(one, other, float(a @ b), agree)


@pytest.mark.parametrize("pairs", [question_pairs, later_pairs])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_near_misses_are_not_held_to_be_the_same(lang, pairs):
    assert [pair for pair in pairs.DIFFERENT[lang] if held(pair)] == []


@pytest.mark.parametrize(
    ("pairs", "lang", "least", "with_equal_references"),
    [(question_pairs, "zh", 0.4, 0.5), (question_pairs, "en", 0.45, 0.6), (later_pairs, "zh", 0.3, 0.4), (later_pairs, "en", 0.2, 0.4)],
)
def test_a_good_part_of_what_is_said_in_other_words_is_found(pairs, lang, least, with_equal_references):
    assert sum(map(held, pairs.SAME[lang])) >= least * len(pairs.SAME[lang])
    assert sum(held(pair, agree=True) for pair in pairs.SAME[lang]) >= with_equal_references * len(pairs.SAME[lang])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2023 年的年假有几天？", "2024 年的年假有几天？"),
        ("How many leave days were there in 2023?", "How many leave days were there in 2024?"),
        ("哪些费用能报销？", "哪些费用不能报销？"),
        ("Which costs can be claimed?", "Which costs cannot be claimed?"),
        ("A 区的门禁怎么开？", "B 区的门禁怎么开？"),
        ("Who opens gate A?", "Who opens gate B?"),
        ("谁来清洗滤网？", "滤网多久清洗一次？"),
        ("Who cleans the filter?", "How often is the filter cleaned?"),
        ("车间几点开门？", "车间几点关门？"),
        ("How do I lock the gate?", "How do I unlock the gate?"),
        ("Where is the Anna wing?", "Where is the Bruno wing?"),
    ],
)
def test_numbers_denial_names_what_is_asked_for_and_opposites_tell_apart(one, other):
    assert apart(Wording(one, detect(one)), Wording(other, detect(other)))
    assert not same(Wording(one, detect(one)), Wording(other, detect(other)), 0.99, agree=True)


@given(QUESTIONS, QUESTIONS, st.floats(-1, 1), st.booleans())
def test_it_is_symmetric_and_a_question_is_the_same_as_itself(one, other, cosine, agree):
    a, b = Wording(one, detect(one)), Wording(other, detect(other))
    assert same(a, b, cosine, agree) == same(b, a, cosine, agree)
    assert same(a, a, cosine)


@given(QUESTIONS, QUESTIONS, st.floats(-1, 1))
def test_agreeing_references_never_take_a_pair_away(one, other, cosine):
    a, b = Wording(one, detect(one)), Wording(other, detect(other))
    assert same(a, b, cosine, agree=True) >= same(a, b, cosine)
    assert cosine >= wording.LEAST or same(a, b, cosine) == same(a, b, -1.0)
