import pytest
from support.benches import load

import ragstone

exports = load("exports")


@pytest.fixture
def folder(tmp_path):
    return exports.write_run(tmp_path / "run", 21)


def test_the_run_it_writes_is_one(folder):
    summary = ragstone.load(folder).summary()
    assert [m.metric for m in summary.metrics] == list(exports.METRICS)
    assert {(m.n, m.total) for m in summary.metrics} == {(19, 21), (20, 21)}


@pytest.mark.parametrize("name", exports.FORMATS)
def test_it_measures_what_the_exporter_writes(name, folder, tmp_path):
    exports.export(str(folder), name, str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes().count(b"s000020") >= 1


def test_the_table_says_what_was_missed(capsys):
    row = {"format": "csv", "mb": 1.0, "cpu_s": 1.0}
    exports.show([{**row, "samples": 100, "rss_mb": 30.0, "wall_s": 0.2}, {**row, "samples": 1000, "rss_mb": 60.0, "wall_s": 30.0}])
    assert capsys.readouterr().out.count("MISS") == 2
