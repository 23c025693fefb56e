"""The index of a work folder: what is written is read back; names, order and tags."""

import json
import string
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import RunFolderError
from ragstone.pipeline.index import INDEX, Index, RunEntry, StepRecord, new_name, read_index, write_index

NAMES = st.text(string.ascii_letters + "温-_.", min_size=1, max_size=8)
CODES = st.sampled_from([0, 1])
TEXTS = st.fixed_dictionaries({"en": st.text(max_size=20), "zh": st.text(max_size=20)})
NUMBERS = st.dictionaries(NAMES, st.one_of(st.none(), st.integers(-9, 9), st.floats(0, 1)), max_size=3)
FILES = st.dictionaries(NAMES, st.one_of(st.none(), NAMES), max_size=3)
NOTICES = st.dictionaries(st.sampled_from(["en", "zh"]), st.lists(st.text(max_size=9), max_size=2))
RECORDS = st.builds(StepRecord, fingerprint=NAMES, exit_code=CODES, at=NAMES, texts=TEXTS, files=FILES, numbers=NUMBERS, notices=NOTICES)
STEPS = st.dictionaries(st.sampled_from(["evaluate", "gate", "export"]), RECORDS)
OPTIONAL = st.one_of(st.none(), NAMES)
RUNS = st.builds(
    RunEntry,
    name=NAMES.filter(lambda name: name.strip(".")),
    created_at=NAMES,
    identity=NAMES,
    gold_fingerprint=OPTIONAL,
    samples=OPTIONAL,
    steps=STEPS,
)


@given(st.lists(RUNS, max_size=4, unique_by=lambda run: run.name), st.dictionaries(NAMES, RECORDS, max_size=2), st.data())
def test_what_is_written_is_read_back(tmp_path_factory, runs, collections, data):
    names = [run.name for run in runs]
    tags = data.draw(st.dictionaries(NAMES, st.sampled_from(names), max_size=2)) if names else {}
    index = Index(runs=tuple(runs), collections=collections, tags=tags)
    folder = tmp_path_factory.mktemp("work")
    write_index(folder, index)
    assert read_index(folder) == index


def run(name, *, evaluated=True):
    record = StepRecord(fingerprint="f", exit_code=0, at="t")
    return RunEntry(name=name, created_at="t", identity=f"of {name}", steps={"evaluate": record} if evaluated else {})


def test_no_index_is_an_empty_one(tmp_path):
    assert read_index(tmp_path) == Index()


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "..", "", "C:\\runs", 5, None])
def test_a_run_never_lies_elsewhere_than_below_the_work_folder(tmp_path, name):
    row = {"name": name, "created_at": "t", "identity": "i"}
    for document in ({"runs": [row]}, {"runs": [], "tags": {"released": name}}):
        (tmp_path / INDEX).write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(RunFolderError, match=r"runs\.json"):
            read_index(tmp_path)


@pytest.mark.parametrize(("lang", "said"), [("en", "newer version"), ("zh", "更新版本")])
def test_an_index_of_a_newer_version_is_left_alone(tmp_path, monkeypatch, lang, said):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    (tmp_path / INDEX).write_text('{"format": 99, "runs": []}', encoding="utf-8")
    with pytest.raises(RunFolderError, match=said):
        read_index(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"runs": [{}]}', '{"runs": 1}', '{"runs": [], "collections": {"a": {}}}', "null"])
def test_an_index_that_is_none_is_named(tmp_path, text):
    (tmp_path / INDEX).write_text(text, encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"runs\.json"):
        read_index(tmp_path)


def test_the_run_before_is_the_newest_evaluated_one():
    index = Index(runs=(run("a"), run("b"), run("c", evaluated=False), run("d")))
    assert [found and found.name for found in map(index.before, "abcd")] == [None, "a", "b", "b"]
    assert index.before("new").name == "d"
    assert index.before("new", lambda one: one.name != "d").name == "b"


def test_a_run_that_is_gone_on_with_becomes_the_latest():
    index = Index(runs=(run("a"), run("b")))
    assert [one.name for one in index.with_run(run("a")).runs] == ["b", "a"]
    assert index.with_run(run("c")).latest.name == "c"


def test_a_run_that_goes_takes_its_tags_with_it():
    index = Index(runs=(run("a"), run("b")), tags={"old": "a", "new": "b"})
    assert index.without(["a"]).tags == {"new": "b"}


@given(st.lists(st.just(datetime(2026, 12, 1, 17, 15, tzinfo=UTC)), max_size=6))
def test_names_are_dates_and_never_taken(births):
    taken: list[str] = []
    for born in births:
        taken.append(new_name(born, taken))
    assert len(set(taken)) == len(births)
    assert not births or taken[0] == "2026-12-01T171500Z"
