"""The page of exports names every exporter there is, in both languages."""

import re
from pathlib import Path

import pytest

from ragstone.export.registry import BUILT_IN, EXTRAS

ROOT = Path(__file__).resolve().parents[2]
OURS = {*BUILT_IN, "mlflow", "otel", "pandas", "dataset"}


@pytest.mark.parametrize("page", ["docs/export.md", "docs/zh/export.md"])
def test_the_table_names_every_exporter_with_its_extra(page):
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.+?) \|$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, _ in rows} == OURS
    assert {name: f"`ragstone[{extra}]`" for name, extra in EXTRAS.items()} == {name: need for name, need in rows if "[" in need}
