import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ragstone
from ragstone.errors import DataError
from ragstone.samples import scan

ROWS = [
    {"问题": "年假几天？", "回答": "5 天。", "检索片段": ["年假 5 天", "病假 3 天"], "标准片段": ["年假"], "n": 1, "x": 0.5},
    {"问题": "电话？", "回答": None, "检索片段": [], "标准片段": ["电话", "分机"], "n": 2, "x": None},
    {"问题": "谁？", "回答": "", "检索片段": None, "标准片段": ["值班"], "n": None, "x": 1.5},
]


def listed(rows):
    """Every row with every value as JSON has it, NaN and integers that became floats put right."""
    return [{**s.to_dict(), "meta": {"n": s.meta["n"] and int(s.meta["n"]), "x": s.meta["x"]}} for s in rows]


@pytest.fixture(autouse=True, scope="module")
def _no_progress_bars():
    datasets.disable_progress_bars()


FRAMES = {
    "pandas": lambda: pd.DataFrame(ROWS),
    "pandas, numpy inside": lambda: pd.DataFrame(
        [{**r, "检索片段": None if r["检索片段"] is None else np.array(r["检索片段"])} for r in ROWS]
    ),
    "pandas, arrow": lambda: pa.Table.from_pylist(ROWS).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, nullable": lambda: pd.DataFrame(ROWS).convert_dtypes(),
    "pandas, any index": lambda: pd.DataFrame(ROWS, index=[7, 7, 9]),
    "polars": lambda: pl.DataFrame(ROWS),
    "polars, lazy": lambda: pl.DataFrame(ROWS).lazy(),
    "arrow": lambda: pa.Table.from_pylist(ROWS),
    "datasets": lambda: datasets.Dataset.from_list(ROWS),
    "datasets, numpy": lambda: datasets.Dataset.from_list(ROWS).with_format("numpy"),
    "datasets, iterable": lambda: datasets.Dataset.from_list(ROWS).to_iterable_dataset(),
    "datasets, generator": lambda: datasets.IterableDataset.from_generator(lambda: iter(ROWS)),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=list(FRAMES))
def test_a_frame_gives_the_samples_that_its_rows_give(make):
    wanted, source = scan(ROWS), scan(make())
    assert listed(source) == listed(source) == listed(wanted)
    assert (source.gold_fingerprint, source.samples_fingerprint) == (wanted.gold_fingerprint, wanted.samples_fingerprint)
    assert source.notices == wanted.notices


@pytest.mark.parametrize("make", FRAMES.values(), ids=list(FRAMES))
def test_a_frame_is_evaluated_as_it_is(make):
    run = ragstone.evaluate(make(), metrics="keyword_recall", on_notice=print)
    assert [(s.value, s.reason) for s in run.scores] == [(1.0, None), (0.0, "no_context"), (None, "contexts_missing")]


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame.set_index("id"),
        lambda frame: frame.set_index(["id", "dept"]),
        lambda frame: frame.set_index("id", drop=False),
    ],
)
def test_an_index_with_a_name_is_a_column(make):
    frame = make(pd.DataFrame({"id": ["a", "b"], "dept": ["x", "y"], "question": ["q1", "q2"]}))
    assert [(s.id, s.question, s.meta) for s in scan(frame)] == [("a", "q1", {"dept": "x"}), ("b", "q2", {"dept": "y"})]


def test_a_long_frame_is_read_in_pieces_and_twice():
    for frame in (pd.DataFrame({"question": [f"q{i}" for i in range(1000)]}), pl.DataFrame({"question": [f"q{i}" for i in range(1000)]})):
        source = scan(frame)
        assert [s.question for s in source] == [s.question for s in source] == [f"q{i}" for i in range(1000)]


def test_times_and_missing_ones():
    frame = pd.DataFrame({"question": ["a", "b"], "at": pd.to_datetime(["2024-05-01", None])})
    assert [s.meta for s in scan(frame)] == [{"at": "2024-05-01T00:00:00"}, {"at": None}]


def test_frames_keep_names_that_are_no_text():
    frame = pd.DataFrame([["q", "a"]], columns=["question", 7])
    assert [s.meta for s in scan(frame)] == [{"7": "a"}]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (pd.DataFrame([["q", "a", "b"]], columns=["question", "x", "x"]), "column x: two columns have this name"),
        (pd.DataFrame({"question": []}), "there are no rows"),
        (pl.DataFrame({"x": ["a"]}), "no column is known by name; the columns are: x"),
        (pd.DataFrame({"question": ["q", "q"], "answer": ["a", 5]}), "row 2, column answer: must be text, found a number"),
        (datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}), 'set of splits (test); choose one, e.g. dataset["test"]'),
    ],
)
def test_mistakes_are_told_as_for_rows(source, said):
    with pytest.raises(DataError) as caught:
        scan(source, lang="en")
    assert said in str(caught.value)


def test_a_subclass_is_read_like_its_base():
    class Own(pd.DataFrame):
        pass

    assert [s.question for s in scan(Own({"question": ["q"]}))] == ["q"]


def test_a_cell_that_holds_itself_is_told_with_its_row():
    knot: list[object] = []
    knot.append(knot)
    with pytest.raises(DataError, match=r"row 2: .*recursion"):
        scan(pd.DataFrame({"question": ["a", "b"], "x": [None, knot]}), lang="en")
