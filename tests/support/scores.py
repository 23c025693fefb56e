"""Reads what a run wrote, and the values worked out by hand."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import orjson


def score_rows(run: Path) -> list[dict[str, Any]]:
    """Return the lines of `scores.jsonl`."""
    return [orjson.loads(line) for line in (run / "scores.jsonl").read_bytes().splitlines()]


def reply_rows(run: Path) -> list[dict[str, Any]]:
    """Return the lines of `replies.jsonl`."""
    return [orjson.loads(line) for line in (run / "replies.jsonl").read_bytes().splitlines()]


def by_hand(expression: str) -> Fraction:
    """Return the exact value of an arithmetic expression such as "0.75*2/3+0.25*0.9"."""
    assert re.fullmatch(r"[0-9.+*/() -]+", expression), expression
    exact = re.sub(r"\d+(?:\.\d+)?", lambda m: f"Fraction('{m.group()}')", expression)
    return Fraction(eval(exact, {"Fraction": Fraction}))
