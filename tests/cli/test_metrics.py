import contextlib
import os
import re
import subprocess
import sys

import pytest

from ragstone.cli.app import run
from ragstone.cli.width import width
from ragstone.metrics import PRESETS, titled


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_list_names_each_metric_with_side_and_needs(lang, capsys):
    assert run(["metrics"], lang, {}) == 0
    out = capsys.readouterr().out
    heads = [line.split()[0] for line in out.splitlines() if line and not line.startswith((" ", "`", "执", "Presets", "预设"))]
    assert heads == list(titled())
    assert max(map(width, out.splitlines())) <= 80
    side = {"en": ("retrieval", "generation"), "zh": ("检索", "生成")}[lang]
    assert sum(line.endswith(side) for line in out.splitlines()) == len(titled())
    listed = " ".join(out.partition("--preset")[2].split())
    assert [f"{name} {', '.join(metrics)}" in listed for name, metrics in PRESETS.items()] == [True] * len(PRESETS)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", titled())
def test_each_metric_has_a_page(name, lang, capsys):
    assert run(["metrics", name], lang, {}) == 0
    assert name in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="there is no pseudo-terminal there")
def test_a_page_is_markdown_in_a_pipe_and_formatted_on_a_terminal():
    command = [sys.executable, "-m", "ragstone", "--lang", "zh", "metrics", "faithfulness"]
    piped = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert piped.startswith("# ")
    assert "| --- |" in piped or "|---|" in piped
    shown = on_a_terminal(command, columns=72)
    assert not re.search(r"^# |\|---\|", shown, re.MULTILINE)
    assert 60 < max(width(line) for line in shown.splitlines()) <= 72


def on_a_terminal(command, columns):
    import pty

    main, side = pty.openpty()
    environ = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(command, stdout=side, stderr=subprocess.DEVNULL, env=environ) as process:
        os.close(side)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux says that the other side is closed
            while piece := os.read(main, 65536):
                shown += piece
    os.close(main)
    assert process.returncode == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode().replace("\r\n", "\n"))


def test_an_unknown_metric_is_told_with_the_nearest(capsys):
    assert run(["metrics", "relevancy"], "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("There is no metric relevancy. Did you mean answer_relevancy?")


def test_a_page_is_found_by_its_chinese_title_too(capsys):
    assert run(["metrics", "上下文精确度"], "zh", {}) == 0
    by_title = capsys.readouterr().out
    assert run(["metrics", "context_precision"], "zh", {}) == 0
    assert capsys.readouterr().out == by_title
