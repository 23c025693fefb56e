"""What holds for all checks: texts, severities, any text at all, any order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.checking import CLEAN, found

import ragstone
from ragstone.checks.kinds import KINDS
from ragstone.resources import read_toml

ODD = st.text(
    alphabet=st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), st.sampled_from("0123456789@+-Ãâ€锟斤拷國国？?ＡA\u202e")
    )
)
LISTS = st.none() | st.lists(ODD, max_size=3)
ROWS = st.lists(
    st.fixed_dictionaries(
        {"question": ODD, "answer": st.just("yes")},
        optional={
            "reference": ODD,
            "reference_points": LISTS,
            "reference_contexts": LISTS,
            "expected_behavior": st.sampled_from(["answer", "refuse", "clarify"]),
            "variant_of": st.sampled_from(["0", "1", "7", "", 3, True]),
            "category": st.one_of(st.sampled_from("ab"), st.integers(0, 2), st.none(), st.lists(st.integers(0, 9), max_size=2)),
        },
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_title_a_text_and_a_fix(kind):
    texts = read_toml("text", "check.toml")
    assert {kind, f"{kind}_title", f"{kind}_fix"} <= texts.keys()


ABOUT_PAIRS = ("duplicate_question", "near_duplicate", "contradiction", "width_mix")
"""Kinds that speak of a later row, or of an earlier one: which one that is depends on the order."""


def told(findings):
    return {(f.kind, f.severity, f.id) for f in findings if f.kind not in ABOUT_PAIRS}


@given(ROWS, st.randoms(use_true_random=False))
def test_no_text_raises_and_the_order_of_rows_changes_nothing(rows, chance):
    rows = [row | {"id": str(i)} for i, row in enumerate(rows)]
    findings = found(rows)
    for finding in findings:
        assert finding.severity in KINDS[finding.kind]
        assert 1 <= finding.row <= len(rows)
        assert all(finding.text(lang) and finding.fix(lang) for lang in ("en", "zh"))
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert told(findings) == told(found(shuffled))


def test_findings_come_by_row_then_kind_and_are_the_same_each_time():
    rows = [row | {"question": row["question"] + "\u200b", "phone": "x"} for row in CLEAN] + [CLEAN[0] | {"id": "y", "reference": "TBD"}]
    first = ragstone.check(rows)
    assert first.to_dict("en") == ragstone.check(rows).to_dict("en")
    places = [(f.row, list(KINDS).index(f.kind)) for f in first.findings]
    assert places == sorted(places)


def test_a_clean_set_gives_nothing():
    assert found(CLEAN) == []


def test_the_bundled_gold_set_is_clean_but_small(gold_rows):
    checked = ragstone.check(gold_rows)
    assert {f.kind for f in checked.findings if f.severity != "note"} == {"too_few"}


@pytest.fixture
def gold_rows():
    import orjson

    from ragstone.resources import read_text

    rows = [orjson.loads(line) for line in read_text("gold", "samples.jsonl").splitlines()]
    random.Random(7).shuffle(rows)
    return [{name: value for name, value in row.items() if name not in ("answer", "contexts")} for row in rows]
