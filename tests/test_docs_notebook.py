"""The page "In a notebook", run cell by cell in a real kernel with its loop running."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from support.markdown import blocks

DOCS = Path(__file__).resolve().parents[1] / "docs"

# The client of the kernel lives in a process of its own, so that the sockets it leaves to the collector warn nobody here.
CLIENT = """
import nbclient, nbformat
book = nbformat.read("page.ipynb", as_version=4)
nbclient.NotebookClient(book, kernel_name="python3", timeout=240).execute()
nbformat.write(book, "done.ipynb")
"""


def executed(page: Path, folder: Path, lang: str) -> list[dict[str, Any]]:
    """Return what the last output of each cell holds, by MIME type."""
    cells = [nbformat.v4.new_code_cell(block.text) for block in blocks(page) if block.language == "python"]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "page.ipynb")
    own = {name: str(folder / name.lower()) for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    environ = {**os.environ, **own, "JUPYTER_PLATFORM_DIRS": "1", "RAGSTONE_LANG": lang}
    done = subprocess.run([sys.executable, "-c", CLIENT], cwd=folder, env=environ, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stderr
    return [cell.outputs[-1].data for cell in nbformat.read(folder / "done.ipynb", as_version=4).cells]


@pytest.mark.parametrize(
    ("folder", "lang", "notice", "faithfulness"),
    [
        (DOCS / "zh", "zh", "本地启发式评判：仅供试运行，不是测量", "忠实度"),
        pytest.param(DOCS, "en", "local heuristic judge: smoke test, not a measurement", "faithfulness", marks=pytest.mark.slow),
    ],
)
def test_the_cells_of_the_page_run_and_show_tables(folder, lang, notice, faithfulness, tmp_path):
    summary, frame, scripted, keywords, diagnosis = executed(folder / "notebook.md", tmp_path, lang)

    assert summary["text/html"].partition("<details>")[0].count("<table") == 2
    assert notice in summary["text/html"]
    assert faithfulness in summary["text/html"]
    assert "judge local" in summary["text/html"]
    assert summary["text/plain"].startswith("Summary(")

    assert "<table" in frame["text/html"]
    assert re.findall(r"<td>(\w+)</td>", frame["text/html"])[-1] == "no_claims"

    assert "<td" in scripted["text/html"]
    assert ">0.500<" in scripted["text/html"]
    assert ">1/2<" in scripted["text/html"]
    assert "judge scripted" in scripted["text/html"]
    assert scripted["text/plain"] == "Run(in memory, samples=2, faithfulness=0.5)"

    assert re.findall(r"<td>([\d.]+)</td>", keywords["text/html"]) == ["0.5", "0.0"]

    assert "<table" in diagnosis["text/html"]
    assert diagnosis["text/plain"].startswith("Diagnosis(")
