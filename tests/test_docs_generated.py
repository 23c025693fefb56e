"""The pages that come from the code are on disk as the code would write them."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_docs", ROOT / ".ci" / "write_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITE_DOCS = generator()


def test_every_generated_page_is_current():
    changed = [path.relative_to(ROOT).as_posix() for path in WRITE_DOCS.stale(WRITE_DOCS.pages())]
    assert changed == [], "run `make docs`"


def test_a_changed_a_missing_and_a_left_over_page_are_noticed(tmp_path):
    (tmp_path / "metrics").mkdir()
    for name in ("same", "changed", "left"):
        (tmp_path / "metrics" / f"{name}.md").write_text(name, encoding="utf-8")
    wanted = {tmp_path / "metrics" / f"{name}.md": text for name, text in (("same", "same"), ("changed", "new"), ("missing", "x"))}
    assert [path.stem for path in WRITE_DOCS.stale(wanted, tmp_path)] == ["changed", "left", "missing"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_help_of_every_command_is_on_the_page(lang):
    page = WRITE_DOCS.cli_page(lang)
    assert [line.split()[-1] for line in page.splitlines() if line.startswith("## ")] == list(WRITE_DOCS.COMMANDS)
    assert "--judge MODEL|local" in page
