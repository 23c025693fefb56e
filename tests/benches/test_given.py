import sys

import pytest
from support.benches import load

given = load("given")


@pytest.fixture
def folder(tmp_path):
    """A folder with every script the benches can use; the drivers and the judge are empty."""
    for name in given.SCRIPTS.values():
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def test_without_variables_the_stand_in_answers():
    found = given.read_environment({})
    assert found.stand_in
    assert (found.plugin, found.make_data, found.rivals) == (None, None, {})


def test_a_folder_gives_every_script(folder):
    found = given.read_environment({"RAGSTONE_BENCH_DIR": str(folder)})
    assert not found.stand_in
    assert (found.mock, found.plugin, found.make_data) == tuple(folder / f"{n}.py" for n in ("mock_judge", "wire_judge", "make_data"))


def test_a_single_variable_wins_over_the_folder(folder, tmp_path):
    own = tmp_path / "own.py"
    own.write_text("", encoding="utf-8")
    assert given.read_environment({"RAGSTONE_BENCH_DIR": str(folder), "RAGSTONE_MOCK_JUDGE": str(own)}).mock == own


def test_the_other_benches_read_the_same_scripts(folder):
    environ = {"RAGSTONE_BENCH_DIR": str(folder)}
    single = given.settle(given.read_environment(environ), environ)
    assert single["RAGSTONE_WIRE_JUDGE"] == str(folder / "wire_judge.py")
    assert single["RAGSTONE_FLOOR_CLIENT"] == str(folder / "floor_client.py")


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({"RAGSTONE_BENCH_DIR": "/nowhere"}, ["RAGSTONE_BENCH_DIR", "/nowhere", "no such folder"]),
        ({"RAGSTONE_BENCH_DIR": "EMPTY"}, ["RAGSTONE_BENCH_DIR", "no mock_judge.py"]),
        ({"RAGSTONE_MOCK_JUDGE": "/nowhere/mock.py"}, ["RAGSTONE_MOCK_JUDGE", "/nowhere/mock.py", "mock_judge.py"]),
        ({"RAGSTONE_MOCK_JUDGE": "FOLDER/mock_judge.py"}, ["RAGSTONE_WIRE_JUDGE"]),
        ({"RAGAS_PYTHON": sys.executable}, ["RAGAS_PYTHON", "drive_ragas.py", "RAGSTONE_BENCH_DIR"]),
        ({"RAGSTONE_BENCH_DIR": "FOLDER", "RAGAS_PYTHON": "/nowhere/python"}, ["RAGAS_PYTHON", "/nowhere/python", "cannot be started"]),
        ({"RAGSTONE_BENCH_DIR": "FOLDER", "DEEPEVAL_PYTHON": sys.executable}, ["DEEPEVAL_PYTHON", "No module named 'deepeval'"]),
    ],
)
def test_what_is_wrong_is_told_with_its_variable(environ, told, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    places = {name: value.replace("EMPTY", str(tmp_path / "empty")).replace("FOLDER", str(folder)) for name, value in environ.items()}
    with pytest.raises(given.GivenError) as wrong:
        given.read_environment(places)
    assert [word for word in told if word not in str(wrong.value)] == []
