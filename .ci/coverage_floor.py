"""Fail when the tests run less than 95 % of the lines of a part that scores rest on: coverage_floor.py COVERAGE.json."""

import json
import re
import sys
from pathlib import Path

FLOOR = 95.0
PARTS = {
    "questions": ("questions",),
    "metrics": ("metrics",),
    "plans": ("plans",),
    "run": ("run", "session"),
    "store": ("store", "stored", "folder", "manifest"),
}
MODULE = re.compile(r"src/ragstone/(?P<name>[a-z]+)(?:_[a-z_]+)?(?:\.py|/)")


def shares(report: dict) -> dict[str, tuple[int, int]]:
    """Return (lines run, lines) of each part, modules like store_lock.py counted with store.py."""
    part_of = {module: part for part, modules in PARTS.items() for module in modules}
    sums = dict.fromkeys(PARTS, (0, 0))
    for path, data in report["files"].items():
        found = MODULE.search(path.replace("\\", "/"))
        if found and (part := part_of.get(found["name"])):
            run, lines = sums[part]
            sums[part] = (run + data["summary"]["covered_lines"], lines + data["summary"]["num_statements"])
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
