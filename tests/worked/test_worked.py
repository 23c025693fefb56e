"""Every worked example of the metrics, from a samples file through the command line to `scores.jsonl`, zh and en."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from support.scores import by_hand, score_rows

HERE = Path(__file__).parent
EXPECTED = orjson.loads((HERE / "expected.json").read_bytes())
METRICS = "faithfulness,answer_relevancy,context_precision,context_recall,answer_correctness"


@pytest.fixture(scope="module", params=["zh", "en"])
def cells(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[tuple[str, str], float]]:
    run = tmp_path_factory.mktemp(request.param) / "run"
    truth = f"scripted:{HERE / 'truth.json'}"
    samples = HERE / f"worked_{request.param}.jsonl"
    command = [sys.executable, "-m", "ragstone", "evaluate", samples, "--out", run, "--judge", truth, "--embeddings", truth]
    done = subprocess.run([*map(str, command), "--metrics", METRICS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return request.param, {(r["sample_id"], r["metric"]): r["value"] for r in score_rows(run)}


def test_every_example_comes_out(cells: tuple[str, dict[tuple[str, str], float]]) -> None:
    language, values = cells
    wanted = [e for e in EXPECTED if e["sample_id"].startswith(language)]
    assert len(wanted) == 12
    for example in wanted:
        exact = float(by_hand(example["value"]))
        got = values[example["sample_id"], example["metric"]]
        with_cosine = example["metric"] in ("answer_relevancy", "answer_correctness")
        assert got == pytest.approx(exact, abs=1e-6 if with_cosine else 1e-12), example
        if exact in (0.0, 1.0):
            assert got == exact
