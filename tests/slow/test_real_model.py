"""One whole `ragstone evaluate` against a real model behind a real server: SmolLM2-135M, served by llama.cpp.

The verdicts of so small a model are noise. What must hold is the plumbing: every cell ends as a value or as a reason of the
closed list, the run can be replayed, and the process ends as its exit codes promise.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("one model server for all")]

METRICS = {"faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness"}
SECONDS = 400

FAILED_REASONS = re.compile(
    r"timeout|rate_limited|server_error|bad_gateway|connection|empty_reply|bad_reply|truncated|too_long|blocked"
    r"|verdicts \d+/\d+|no_questions|embedding_(missing|zero|dimension)|collect:\w+|budget|interrupted"
)
NOT_APPLICABLE_REASONS = re.compile(r"no_claims|no_reference_claims|contexts_missing|missing:\w+|expected_(refusal|clarification)")
OK_REASONS = {None, "no_context", "empty_answer"}

SAMPLES = [
    {
        "id": "zh",
        "question": "耳机保修多久？",
        "answer": "耳机保修一年。",
        "contexts": ["耳机自购买之日起保修一年。", "门店营业时间为九点至十八点。"],
        "reference": "耳机保修一年。",
    },
    {
        "id": "en",
        "question": "How long is the warranty?",
        "answer": "The warranty lasts one year.",
        "contexts": ["The headphones carry a warranty of one year.", "The shop opens at nine."],
        "reference": "The warranty lasts one year.",
    },
]


def ragstone(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("ragstone")), *arguments]
    environment = {**os.environ, "RAGSTONE_JUDGE_API_KEY": "none"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False, timeout=SECONDS
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def finished_run(model_server: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("real-model")
    rows = [json.dumps(sample, ensure_ascii=False) + "\n" for sample in SAMPLES]
    (folder / "samples.jsonl").write_text("".join(rows), encoding="utf-8")
    limits = ["--max-tokens", "120", "--timeout", "60", "--retries", "1", "--concurrency", "1", "--no-cache"]
    judge = ["--judge", "smollm2-135m", "--base-url", model_server]
    done = ragstone("evaluate", "samples.jsonl", "--out", "run", *judge, *limits, folder=folder)
    return done, folder


def test_the_run_ends_as_its_exit_code_promises(finished_run):
    done, folder = finished_run
    assert done.returncode in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert "smollm2-135m@127.0.0.1" in json.loads((folder / "run" / "manifest.json").read_text(encoding="utf-8"))["signature"]


def test_every_cell_is_a_value_or_a_known_reason(finished_run):
    cells = read_lines(finished_run[1] / "run" / "scores.jsonl")
    assert sorted((cell["sample_id"], cell["metric"]) for cell in cells) == sorted((s["id"], m) for s in SAMPLES for m in METRICS)
    for cell in cells:
        if cell["status"] == "ok":
            assert 0 <= cell["value"] <= 1
            assert cell["reason"] in OK_REASONS
        else:
            assert cell["value"] is None
            pattern = {"failed": FAILED_REASONS, "not_applicable": NOT_APPLICABLE_REASONS}[cell["status"]]
            assert pattern.fullmatch(cell["reason"]), cell


def test_no_cell_is_lost_to_the_wire(finished_run):
    cells = read_lines(finished_run[1] / "run" / "scores.jsonl")
    assert not {cell["reason"] for cell in cells} & {"connection", "server_error", "bad_gateway", "empty_reply", "too_long", "rate_limited"}
    assert sum(cell["status"] == "ok" for cell in cells) >= 2, "the model rates contexts readably in both languages"


def test_the_model_was_asked_and_its_raw_words_kept(finished_run):
    replies = read_lines(finished_run[1] / "run" / "replies.jsonl")
    judged = [reply for reply in replies if reply["kind"] != "cosine"]
    assert {"split_claims", "rate_contexts", "invert_answer"} <= {reply["kind"] for reply in judged}
    assert any(reply["raw"] for reply in judged)
    assert sum(reply["usage"]["completion_tokens"] for reply in judged if reply["usage"]) > 0


def test_the_doctor_examines_the_server(model_server, tmp_path):
    judge = ["--judge", "smollm2-135m", "--base-url", model_server, "--max-tokens", "120", "--embeddings", "smollm2-135m"]
    done = ragstone("doctor", *judge, "--timeout", "120", "--no-cache", "--json", folder=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 1, "this server has no embeddings, which is told"
    assert found["embeddings"]["trouble"] in done.stderr
    assert found["judge"]["usable"]
    assert found["requests"] < 15
    states = {row["probe"]: row["code"] for row in found["judge"]["findings"]}
    assert (states["json_schema"], states["logprobs"], states["max_tokens"]) == ("schema_applied", "logprobs_given", "limit_kept")


def test_a_replay_changes_nothing(finished_run):
    done = ragstone("replay", "run", folder=finished_run[1])
    assert done.returncode == 0, done.stdout + done.stderr
