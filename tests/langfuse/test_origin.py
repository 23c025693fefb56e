"""Where a sample was read from: what is written is read, and what names no trace is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.langfuse.origin import Origin, origin_of

WHOLE = {"trace_id": "t1", "host": "https://lf.example", "project_id": "p1"}


def row(**held):
    return {"id": "t1", "meta": {"langfuse": held}}


def test_the_least_that_names_a_trace():
    assert origin_of(row(**WHOLE)) == Origin(trace_id="t1", host="https://lf.example", project_id="p1")


def test_a_slash_at_the_end_of_the_host_is_no_part_of_it():
    assert origin_of(row(**{**WHOLE, "host": "https://lf.example/"})).host == "https://lf.example"


def test_what_is_not_known_is_not_written():
    assert Origin(**WHOLE).to_dict() == {**WHOLE, "environment": "default"}


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [None, "", " ", 3, ["t1"]])
def test_without_trace_host_or_project_there_is_no_origin(name, value):
    assert origin_of(row(**{**WHOLE, name: value})) is None


@pytest.mark.parametrize("sample", [{}, {"meta": None}, {"meta": "langfuse"}, {"meta": {"langfuse": "t1"}}, {"meta": {"langfuse": None}}])
def test_other_samples_have_none(sample):
    assert origin_of(sample) is None


WORDS = st.text("abc/:.-", min_size=1).filter(lambda text: bool(text.rstrip("/").strip()))
ORIGINS = st.builds(
    Origin,
    trace_id=WORDS,
    host=WORDS.map(lambda text: text.rstrip("/")),
    project_id=WORDS,
    observation_id=st.none() | WORDS,
    timestamp=st.none() | WORDS,
    environment=WORDS,
)


@given(ORIGINS)
def test_what_is_written_is_read(origin):
    assert origin_of(row(**origin.to_dict())) == origin
