"""Count what five metrics cost a sample: chat requests, prompt tokens, embedding requests, repeated requests.

    RAGSTONE_MOCK_JUDGE=mock_judge.py RAGSTONE_WIRE_JUDGE=wire_judge.py python benches/requests.py [--data FILE] [-n 200]

The first variable names a script that serves an OpenAI-compatible API on 127.0.0.1 and keeps a log: it takes
`--port P --latency fixed:0 --log FILE --plugin FILE` and writes one JSON line a request with `path`, `kind`, `pt` (prompt
tokens), `n` (embedded texts) and `attempt` (2 = the same bytes came before). The second names the plugin that answers
ragstone's questions. Counts are exact, so one run is enough.
"""

import argparse
import collections
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONTEXTS = 5
CONTEXT_CHARS = 320  # a content floor of about 3,100 tokens a sample, for which the bars are set
BARS = {"chat requests": 7.0, "prompt tokens / content floor": 2.2, "embedding requests": 2.0, "repeated requests": 0.0}

EN_SUBJECTS = ("The {d} team", "Section {k} of the handbook", "The {d} portal")
EN_RULES = (" answers within {m} working days. ", " keeps records for {m} months. ", " needs {m} signatures. ")
ZH_SUBJECTS = ("{d}部门", "员工手册第{k}节", "{d}平台")
ZH_RULES = ("须在{m}个工作日内答复。", "记录保存{m}个月。", "需要{m}人签字。")
DESKS = {"en": ("payroll", "travel", "legal", "training"), "zh": ("薪酬", "差旅", "法务", "培训")}


# ------------------------------------------------------------------ samples and the least that must be sent
def sentence(draw: random.Random, lang: str) -> str:
    """Return a checkable statement with a number."""
    subjects, rules = (ZH_SUBJECTS, ZH_RULES) if lang == "zh" else (EN_SUBJECTS, EN_RULES)
    text = draw.choice(subjects) + draw.choice(rules)
    return text.format(d=draw.choice(DESKS[lang]), k=draw.randint(2, 999), m=draw.randint(2, 999))


def context(draw: random.Random, lang: str) -> str:
    """Return a chunk of about CONTEXT_CHARS characters."""
    text = ""
    while len(text) < CONTEXT_CHARS:
        text += sentence(draw, lang)
    return text.strip()


def sample(number: int) -> dict[str, Any]:
    """Return one row: Chinese and English by turns, an answer and a reference partly taken from the contexts."""
    draw, lang = random.Random(number), ("zh", "en")[number % 2]
    contexts = [context(draw, lang) for _ in range(CONTEXTS)]
    mark = "。" if lang == "zh" else ". "
    known = [part.strip(" .") + mark for text in contexts for part in text.split(mark) if part.strip(" .")]
    return {
        "id": f"s{number:05}",
        "question": f"第{number}号规定的具体要求是什么？" if lang == "zh" else f"What exactly does rule {number} say?",
        "answer": "".join([*draw.sample(known, draw.randint(2, 4)), *(sentence(draw, lang) for _ in range(draw.randint(1, 2)))]).strip(),
        "contexts": contexts,
        "reference": "".join([*draw.sample(known, draw.randint(1, 3)), sentence(draw, lang)]).strip(),
    }


def tokens(text: str) -> int:
    """Count tokens as the mock does: one for a non-ASCII character, one for four ASCII ones."""
    ascii_chars = sum(char.isascii() for char in text)
    return len(text) - ascii_chars + (ascii_chars + 3) // 4


def floor(row: dict[str, Any]) -> int:
    """Return the tokens of the texts that seven requests must show a judge at the very least."""
    q, a, r = tokens(row["question"]), tokens(row["answer"]), tokens(row["reference"])
    c = sum(map(tokens, row["contexts"]))
    split_both, check_both, rate, invert, match = (q + a) + (q + r), (c + a) + (c + r), q + c + r, a, q + a + r
    return split_both + check_both + rate + invert + match


# ------------------------------------------------------------------ the server and the run
def free_port() -> int:
    """Return a port of 127.0.0.1 nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def mock(script: str, plugin: str, log: Path) -> Iterator[str]:
    """Serve the mock judge and yield its base URL."""
    port = free_port()
    command = [sys.executable, script, "--port", str(port), "--latency", "fixed:0", "--log", str(log), "--plugin", plugin]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            for _ in range(200):
                if server.poll() is not None:
                    sys.exit(f"{script} ended with exit code {server.returncode}")
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def evaluate(rows: list[dict[str, Any]], base_url: str, folder: Path, extra: list[str]) -> None:
    """Run `ragstone evaluate` on the rows, everything over HTTP and nothing from a cache."""
    data = folder / "samples.jsonl"
    data.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("ragstone")), "evaluate", str(data), "--out", str(folder / "run")]
    command += ["--judge", "mock", "--base-url", base_url, "--embeddings", "mock", "--concurrency", "16", "--no-cache", *extra]
    own = {name: value for name, value in os.environ.items() if not name.startswith("RAGSTONE_")}
    environment = {**own, "RAGSTONE_JUDGE_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"ragstone evaluate: exit {done.returncode}\n{done.stdout}{done.stderr}")


def measure(rows: list[dict[str, Any]], script: str, plugin: str, extra: list[str]) -> list[dict[str, Any]]:
    """Return the log of every request that judging the rows took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with mock(script, plugin, folder / "log.jsonl") as base_url:
            evaluate(rows, base_url, folder, extra)
        return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


# ------------------------------------------------------------------ the report
def report(rows: list[dict[str, Any]], log: list[dict[str, Any]]) -> dict[str, float]:
    """Return the measured figures, per sample where not said otherwise."""
    chat = [line for line in log if line.get("path") == "chat"]
    embeddings = [line for line in log if line.get("path") == "emb"]
    prompt_tokens = sum(line.get("pt", 0) for line in chat)
    return {
        "chat requests": len(chat) / len(rows),
        "prompt tokens": prompt_tokens / len(rows),
        "prompt tokens / content floor": prompt_tokens / sum(map(floor, rows)),
        "embedding requests": len(embeddings) / len(rows),
        "embedded texts": sum(line.get("n", 0) for line in embeddings) / len(rows),
        "repeated requests": float(sum(line.get("attempt", 1) > 1 for line in log)),
    }


def show(rows: list[dict[str, Any]], log: list[dict[str, Any]]) -> None:
    """Print the figures beside their bars, and the requests by kind."""
    print(f"{len(rows)} samples, five metrics, per sample:")
    for name, figure in report(rows, log).items():
        bar = BARS.get(name)
        print(f"  {name:30} {figure:8.2f}" + ("" if bar is None else f"   bar {bar:g}: {'met' if figure <= bar + 1e-9 else 'MISSED'}"))
    kinds: dict[str, list[int]] = collections.defaultdict(list)
    for line in log:
        kinds[line.get("kind", "?")].append(line.get("pt", 0))
    print("by kind: requests and prompt tokens per sample, tokens a request")
    for kind, sizes in sorted(kinds.items()):
        print(f"  {kind:30} {len(sizes) / len(rows):8.2f} {sum(sizes) / len(rows):8.0f} {sum(sizes) / len(sizes):8.0f}")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--data", type=Path, help="JSONL samples instead of made ones")
    options.add_argument("-n", type=int, default=200, help="how many samples")
    options.add_argument("extra", nargs="*", help="after --: further flags for ragstone evaluate")
    given = options.parse_args()
    script, plugin = os.environ.get("RAGSTONE_MOCK_JUDGE"), os.environ.get("RAGSTONE_WIRE_JUDGE")
    if not (script and plugin):
        print("set RAGSTONE_MOCK_JUDGE and RAGSTONE_WIRE_JUDGE to the scripts of a mock judge (see the top of this file)", file=sys.stderr)
        sys.exit(2)
    if given.data:
        rows = [json.loads(line) for line in given.data.read_text(encoding="utf-8").splitlines()[: given.n]]
    else:
        rows = [sample(number) for number in range(given.n)]
    show(rows, measure(rows, script, plugin, given.extra))


if __name__ == "__main__":
    main()
