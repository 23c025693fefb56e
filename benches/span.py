"""Measure how much longer a slow judge is kept busy than it has to be: from the first request in to the last reply out.

    RAGSTONE_MOCK_JUDGE=mock_judge.py RAGSTONE_WIRE_JUDGE=wire_judge.py python benches/span.py [--latency 500] [-n 200]

The ideal is chat requests x latency / concurrency: every place taken all the time. The mock's log (`--log FILE`, one
JSON line a request) says when each request came (`t`) and how long it took (`dur`).
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from cpu import CONCURRENCY, evaluate, mock, rows_file

MOST_LATENCIES = 3.0


def measure(script: str, plugin: str, *, latency_ms: float = 500, samples: int = 200) -> dict[str, Any]:
    """Return the span in seconds, the ideal, and how many latencies it is longer (`excess`)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with mock(script, plugin, f"fixed:{latency_ms:g}", folder / "log.jsonl") as base_url:
            evaluate(rows_file(folder, samples), base_url, folder / "run", cached=False)
        log = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    log = [line for line in log if "dur" in line]
    chat = sum(line["path"] == "chat" for line in log)
    span = max(line["t"] + line["dur"] for line in log) - min(line["t"] for line in log)
    ideal = chat * latency_ms / 1000 / CONCURRENCY
    excess = (span - ideal) * 1000 / latency_ms
    return {"span_s": round(span, 3), "ideal_s": round(ideal, 3), "ratio": round(span / ideal, 4), "excess": round(excess, 2), "chat": chat}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--latency", type=float, default=500, help="milliseconds")
    options.add_argument("-n", type=int, default=200, help="how many samples")
    given = options.parse_args()
    script, plugin = os.environ.get("RAGSTONE_MOCK_JUDGE"), os.environ.get("RAGSTONE_WIRE_JUDGE")
    if not (script and plugin):
        print("set RAGSTONE_MOCK_JUDGE and RAGSTONE_WIRE_JUDGE to the scripts of a mock judge (see README.md)", file=sys.stderr)
        sys.exit(2)
    found = measure(script, plugin, latency_ms=given.latency, samples=given.n)
    print(f"excess {found['excess']:.2f} latencies   bar {MOST_LATENCIES:g}: {'met' if found['excess'] <= MOST_LATENCIES else 'MISSED'}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
