"""Fail when the tests run less than 95 % of the lines of a part that scores rest on: coverage_floor.py COVERAGE.json."""

import json
import re
import sys
from pathlib import Path

FLOOR = 95.0
PARTS = ("questions", "metrics", "plans", "run", "store")
PART = re.compile(r"src/ragstone/(?P<part>[a-z]+)(?:_[a-z_]+)?(?:\.py|/)")


def shares(report: dict) -> dict[str, tuple[int, int]]:
    """Return (lines run, lines) of each part, modules like store_lock.py counted with store.py."""
    sums = dict.fromkeys(PARTS, (0, 0))
    for path, data in report["files"].items():
        found = PART.search(path.replace("\\", "/"))
        if found and found["part"] in sums:
            run, lines = sums[found["part"]]
            sums[found["part"]] = (run + data["summary"]["covered_lines"], lines + data["summary"]["num_statements"])
    return sums


def main(path: Path) -> int:
    """Print the share of each part and return 1 if one lies below the floor or was not measured at all."""
    below = 0
    for part, (run, lines) in shares(json.loads(path.read_text(encoding="utf-8"))).items():
        share = 100 * run / lines if lines else 0.0
        below += share < FLOOR
        print(f"{part:10} {share:6.1f} % of {lines} lines{'' if share >= FLOOR else f'  < {FLOOR:.0f} %'}")
    return int(below > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
