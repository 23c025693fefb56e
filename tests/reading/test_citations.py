import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.reading.citations import strip_citations
from ragstone.types import Citation, Sample


def stripped(answer):
    return strip_citations(Sample(id="s", question="q", answer=answer))


@pytest.mark.parametrize(
    ("answer", "clean", "targets"),
    [
        ("年假为10天[1]。", "年假为10天。", [1]),
        ("Leave is 12 days [1].", "Leave is 12 days.", [1]),
        ("Leave is 12 days.[1]", "Leave is 12 days.", [1]),
        ("Use plan B.[2] It is Q3.[3]", "Use plan B. It is Q3.", [2, 3]),
        ("Leave[1] is 12 days.", "Leave is 12 days.", [1]),
        ("甲[1,2]乙[1, 3]", "甲乙", [1, 2, 1, 3]),
        ("a claim [1][2], more", "a claim, more", [1, 2]),
        ("甲[1-3]。", "甲。", [1, 2, 3]),
        ("A note [^1] here", "A note here", [1]),
        ("甲【1】乙", "甲乙", [1]),
        ("A【4†source】.", "A.", [4]),
        ("甲[citation:1]。", "甲。", [1]),
        ("年假为10天。 [ID:3]", "年假为10天。", [3]),
        ("年假为10天。 [ID:0]", "年假为10天。", [0]),
        ("甲[doc1][doc2]", "甲", [1, 2]),
        ("甲(来源1)。", "甲。", [1]),
        ("甲（来源：2）。", "甲。", [2]),
        ("甲[来源:1]。", "甲。", [1]),
        ("A (Source 1).", "A.", [1]),
        ("年假##0$$。", "年假。", [0]),
        ("See [1](https://a.example/x).", "See.", [1]),
        ("年假[65af01](CITE)。", "年假。", ["65af01"]),
        ("[1] First line", "First line", [1]),
        ("One.\n[2] Two.", "One.\nTwo.", [2]),
        ("keep `a[1]` but not this [1]", "keep `a[1]` but not this", [1]),
        ("```\nx[1]\n```\n甲[1]", "```\nx[1]\n```\n甲", [1]),
    ],
)
def test_marks_are_taken_out_and_kept(answer, clean, targets):
    sample = stripped(answer)
    assert sample.answer == clean
    assert sample.answer_raw == answer
    assert [c.context for c in sample.citations] == targets
    assert all(0 <= c.at <= len(clean) for c in sample.citations)


@pytest.mark.parametrize(
    "answer",
    [
        "状态为 [ok]。",
        "The flag [ok] is set.",
        "先取 `a[1]`。",
        "Then a[1] = 5 and rows[0].name",
        "arr_2[3] holds it",
        "见 [2024] 年版",
        "The [2024] edition",
        "评分在 [0, 1] 之间",
        "scores in [0,1]",
        "【行为】先反问",
        "[1]: https://a.example",
        "员工（ID：12）",
        "f(x)[1](y)",
        "没有引用",
        "",
    ],
)
def test_what_is_no_mark_stays(answer):
    sample = Sample(id="s", question="q", answer=answer)
    assert strip_citations(sample) is sample


def test_a_mark_is_kept_where_it_stood():
    sample = stripped("年假10天[1]，病假5天[2]。")
    assert sample.answer == "年假10天，病假5天。"
    assert sample.citations == (Citation(at=5, context=1), Citation(at=10, context=2))


def test_a_cleaned_answer_is_left_alone():
    sample = Sample(id="s", question="q", answer="甲[1]", answer_raw="甲[1][2]")
    assert strip_citations(sample) is sample


def test_no_answer_no_marks():
    sample = Sample(id="s", question="q")
    assert strip_citations(sample) is sample


@given(st.text(st.sampled_from("甲a1 23[],【】()[]^:`\n#$来源id."), max_size=30))
def test_stripping_takes_marks_and_blanks_only(answer):
    sample = stripped(answer)
    left = iter(answer)
    assert all(any(c == other for other in left) for c in sample.answer)
    assert strip_citations(sample) == sample or sample.answer_raw is None
