"""Measure what faults cost: the same run at a judge without and with them, wall beside wall, in one go.

    RAGSTONE_MOCK_JUDGE=mock_judge.py RAGSTONE_WIRE_JUDGE=wire_judge.py python benches/faults.py [--seeds 5] [-n 50] [--latency 500]

Two rates: 10 % 429 with `Retry-After: 1`, 5 % 500, 3 % malformed replies (cut, prose, wrong shape); and 30, 15 and 10 %. `demanded` are
the seconds of all waits the judge demanded; `ratio` compares the walls with one of them taken off, since they run side by side.
"""

import argparse
import json
import os
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from cpu import evaluate, mock, rows_file

RATES = {"10/5/3": (0.10, 0.05, 0.03), "30/15/10": (0.30, 0.15, 0.10)}
NONE = (0.0, 0.0, 0.0)
RETRY_AFTER = 1.0
MOST = 1.5


def behave(base_url: str, rates: tuple[float, float, float], seed: int) -> None:
    """Tell the judge which share of its replies is to be a fault."""
    config = dict(zip(("r429", "r500", "rbad"), rates, strict=True)) | {"seed": seed, "retry_after": f"{RETRY_AFTER:g}"}
    request = urllib.request.Request(base_url.removesuffix("/v1") + "/_config", data=json.dumps(config).encode())
    urllib.request.urlopen(request, timeout=10).close()


def measure(base_url: str, data: Path, out: Path, rates: tuple[float, float, float], seed: int) -> dict[str, Any]:
    """Return wall, requests, refusals and failed cells of one run."""
    behave(base_url, rates, seed)
    evaluate(data, base_url, out, cached=False)
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    scores = [json.loads(line) for line in (out / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    reasons = [f"{row['sample_id']} {row['metric']} {row['reason']}" for row in scores if row["status"] == "failed"]
    counts = manifest["counts"]
    return {"wall": manifest["wall_s"], "requests": counts["requests"], "refused": counts["rate_limits"], "failed": reasons}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("-n", type=int, default=50, help="how many samples")
    options.add_argument("--latency", type=float, default=500, help="milliseconds")
    given = options.parse_args()
    script, plugin = os.environ.get("RAGSTONE_MOCK_JUDGE"), os.environ.get("RAGSTONE_WIRE_JUDGE")
    if not (script and plugin):
        print("set RAGSTONE_MOCK_JUDGE and RAGSTONE_WIRE_JUDGE to the scripts of a mock judge (see README.md)", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory() as name, mock(script, plugin, f"fixed:{given.latency:g}") as base_url:
        folder = Path(name)
        data = rows_file(folder, given.n)
        plain = measure(base_url, data, folder / "plain", NONE, 0)
        print(f"{'faults':9} seed  wall s  requests  refused  demanded s  ratio  failed cells of {given.n * 5}")
        print(f"{'none':9}    -  {plain['wall']:6.2f}  {plain['requests']:8}  {plain['refused']:7}", flush=True)
        for rate, shares in RATES.items():
            for seed in range(1, given.seeds + 1):
                found = measure(base_url, data, folder / f"{rate.replace('/', '-')}-{seed}", shares, seed)
                ratio = (found["wall"] - RETRY_AFTER) / plain["wall"]
                told = f"{found['requests']:8}  {found['refused']:7}  {found['refused'] * RETRY_AFTER:10.0f}  {ratio:5.2f}"
                print(f"{rate:9} {seed:4}  {found['wall']:6.2f}  {told}  {len(found['failed'])} {'; '.join(found['failed'])}", flush=True)


if __name__ == "__main__":
    main()
