"""Peak memory does not follow the number of samples. `benches/memory.py` measures the same at 100,000."""

import importlib.util
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "benches" / "memory.py"
MOST = 1.2
"""At 4,000 samples even a list of the scores would be told apart from what a run may hold of each."""


@pytest.mark.slow
def test_a_run_of_4000_samples_takes_the_memory_of_one_of_400(tmp_path: Path) -> None:
    found = importlib.util.spec_from_file_location("bench_of_memory", BENCH)
    assert found
    assert found.loader
    bench = importlib.util.module_from_spec(found)
    found.loader.exec_module(bench)
    peaks = {(row["command"], row["samples"]): row["rss_mb"] for row in bench.measure((400, 4000), tmp_path)}
    ratios = {command: peaks[command, 4000] / peaks[command, 400] for command in bench.COMMANDS}
    assert max(ratios.values()) <= MOST, ratios
