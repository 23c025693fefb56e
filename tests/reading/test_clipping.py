from ragstone.reading.clipping import clip
from ragstone.types import Context, Sample

SAMPLE = Sample(
    id="s",
    question="q",
    answer="第一句。第二句。第三句。",
    contexts=(Context(text="First one. Second one.", id="x"), Context(text="Short."), Context(text="Third.")),
    context_ids=("x", "y", "z"),
    context_scores=(0.9,),
)


def test_nothing_is_cut_within_the_limits():
    assert clip(SAMPLE, top_k=3, max_context_chars=100, max_answer_chars=100) == (SAMPLE, {})
    assert clip(SAMPLE)[0] is SAMPLE


def test_everything_that_was_cut_is_told():
    sample, clipped = clip(SAMPLE, top_k=2, max_context_chars=12, max_answer_chars=9)
    assert clipped == {"contexts_dropped": 1, "contexts_cut": ["c1"], "answer_cut": True}
    assert sample.answer == "第一句。第二句。"
    assert [c.text for c in sample.contexts] == ["First one.", "Short."]
    assert sample.contexts[0].id == "x"
    assert sample.context_ids == ("x", "y")
    assert sample.context_scores == (0.9,)


def test_a_sample_without_contexts_or_answer():
    bare = Sample(id="s", question="q")
    assert clip(bare, top_k=1, max_context_chars=1, max_answer_chars=1) == (bare, {})


def test_only_the_answer_is_cut():
    sample, clipped = clip(SAMPLE, max_answer_chars=5)
    assert (sample.answer, clipped) == ("第一句。", {"answer_cut": True})
    assert sample.contexts == SAMPLE.contexts
