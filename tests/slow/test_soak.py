"""A small soak: nothing leaks and nothing is lost in bad weather. `benches/soak.py` does the same with 20,000 samples."""

import json
import subprocess
import sys

import pytest
from support.benches import BENCHES

SAMPLES = 300


@pytest.mark.slow
def test_a_small_soak_leaks_nothing_and_accounts_for_every_cell(tmp_path):
    command = [sys.executable, "-W", "error", str(BENCHES / "soak.py"), "--samples", str(SAMPLES), "--folder", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    found = json.loads(done.stdout)
    assert [check for check, holds in found["checks"].items() if not holds] == []
    assert done.returncode == 0, done.stderr
    assert sum(found["cells"].values()) == 5 * SAMPLES
    assert {"429", "500", "cut", "drop", "malformed"} <= {name.removeprefix("trouble ") for name in found["server"]}
    assert list(tmp_path.iterdir()) == []
