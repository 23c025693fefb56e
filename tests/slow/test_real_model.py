"""One whole `ragstone evaluate` against a real model behind a real server: SmolLM2-135M, served by llama.cpp.

The verdicts of so small a model are noise. What must hold is the plumbing: every cell ends as a value or as a reason of the
closed list, the run can be replayed, and the process ends as its exit codes promise.
"""

import json
import os
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

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


# ------------------------------------------------------------------ little room, and a schema the server cannot take
WINDOW = 768
"""Tokens of the small server: the prompt of a rating without its texts takes 40 % of them."""
SENTENCE = "Parcels that nobody collects go back to the sender after {} days at the counter. "
TIGHT = [
    {**SAMPLES[1], "id": "short", "contexts": ["The headphones carry a warranty of one year."]},
    {"id": "long context", "question": "When do parcels go back?", "reference": "After 12 days."}
    | {"contexts": ["".join(SENTENCE.format(n) for n in range(2, 36))]},
    {"id": "long yardstick", "question": "When do parcels go back?", "reference": "".join(SENTENCE.format(n) for n in range(2, 60))}
    | {"contexts": [SENTENCE.format(12)]},
]


@contextmanager
def spoiling(address: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Stand before the real server, put a reference to nowhere into every schema, and keep what the server answered."""
    answers: list[dict[str, Any]] = []

    class Between(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "json_schema" in body.get("response_format", {}):
                body["response_format"]["json_schema"]["schema"]["properties"]["more"] = {"$ref": "#/nowhere"}
            sent = urllib.request.Request(f"{address}/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(sent, timeout=SECONDS) as response:
                    status, raw = response.status, response.read()
            except urllib.error.HTTPError as refused:
                status, raw = refused.code, refused.read()
            answers.append({"status": status, "format": body.get("response_format", {}).get("type"), **json.loads(raw)})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Between) as between:
        threading.Thread(target=between.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{between.server_address[1]}/v1", answers
        finally:
            between.shutdown()


def evaluated(folder: Path, address: str, samples: list[dict[str, Any]], out: str, *more: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Evaluate samples against the small server and return the cells."""
    (folder / f"{out}.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
    limits = ["--timeout", "100", "--retries", "1", "--concurrency", "1", "--no-cache", "--strictness", "1", *more]
    done = ragstone("evaluate", f"{out}.jsonl", "--out", out, "--judge", "smollm2-135m", "--base-url", address, *limits, folder=folder)
    assert done.returncode in (0, 1), done.stderr
    return {(cell["sample_id"], cell["metric"]): cell for cell in read_lines(folder / out / "scores.jsonl")}


@pytest.fixture(scope="module")
def small_server(serve_model: Callable[[int], AbstractContextManager[str]]) -> Iterator[str]:
    with serve_model(WINDOW) as address:
        yield address


def test_a_schema_it_cannot_take_is_given_up_and_a_reply_that_runs_on_is_never_read(small_server, tmp_path):
    with spoiling(small_server) as (address, answers):
        cells = evaluated(tmp_path, address, TIGHT[:1], "run", "--metrics", "context_precision,answer_relevancy", "--max-tokens", "12")
    refused = [answer for answer in answers if answer["format"] == "json_schema"]
    assert [answer["status"] for answer in refused] == [400]
    assert "schema" in refused[0]["error"]["message"]
    assert {answer["format"] for answer in answers[1:]} == {"json_object"}
    choices = [answer["choices"][0] for answer in answers if answer["status"] == 200]
    cut = {choice["message"]["content"] for choice in choices if choice["finish_reason"] == "length"}
    assert cut, "twelve tokens are too few for any reply"
    assert not cut & {reply["raw"] for reply in read_lines(tmp_path / "run" / "replies.jsonl")}
    assert len(cells) == 2
    for cell in cells.values():
        assert cell["status"] == "ok" or FAILED_REASONS.fullmatch(cell["reason"]), "measured or named"
        assert cell["reason"] != "too_long"


def test_a_prompt_over_the_window_is_judged_in_parts_or_named(small_server, tmp_path):
    cells = evaluated(tmp_path, small_server, TIGHT[1:], "run", "--metrics", "context_precision", "--max-tokens", "80")
    assert cells["long yardstick", "context_precision"]["reason"] == "too_long", "it cannot be cut"
    replies = [reply for reply in read_lines(tmp_path / "run" / "replies.jsonl") if reply["kind"] == "rate_contexts"]
    refused = [reply for reply in replies if reply["error"] == "too_long"]
    assert {reply["input"]["question"] for reply in refused} == {"When do parcels go back?"}
    assert all("exceeds the available context size" in reply["message"] for reply in refused)
    parted = cells["long context", "context_precision"]
    assert parted["detail"].get("in_parts") == ["rate_contexts"] if parted["status"] == "ok" else parted["reason"] != "too_long"
    whole = TIGHT[1]["contexts"][0]
    pieces = [c["text"] for reply in replies for c in reply["input"]["contexts"] if c["text"] in whole and c["text"] != whole]
    assert pieces
    assert all(piece.strip().endswith(".") for piece in pieces), "cut at sentence ends"
