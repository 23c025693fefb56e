"""No punctuation mark meets another where a guess of what was meant is joined to a message."""

import re

import pytest

from ragstone.resources import read_toml
from ragstone.text import say

JOINED = [
    ("gate.unknown_metric", "hint", "config.nearest"),
    ("gate.unknown_key", "hint", "config.nearest"),
    ("tested.no_metric", "hint", "config.nearest"),
    ("show.ci_unknown", "hint", "config.nearest"),
    ("config.unknown", "hint", "config.nearest"),
    ("config.unknown_variable", "hint", "config.nearest"),
    ("plan.no_metric", "hint", "plan.hint"),
    ("metrics.unknown_metric", "nearest", "metrics.nearest"),
    ("metrics.unknown_parameter", "nearest", "metrics.nearest"),
    ("cli.no_such_option", "nearest", "cli.nearest"),
    ("cli.no_such_command", "nearest", "cli.nearest"),
    ("cli.no_such_metric", "nearest", "cli.nearest"),
]


@pytest.mark.parametrize(("key", "slot", "guess"), JOINED)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_marks_do_not_meet(key, slot, guess, lang):
    area, _, name = key.partition(".")
    text = read_toml("text", f"{area}.toml")[name][lang].replace("{" + slot + "}", say(guess, lang, name="x"))
    assert not re.search("[?？!！。][;；，,.。：:]", text)
    assert not re.search("[?？][^ \n)）]", text) or lang == "zh"
