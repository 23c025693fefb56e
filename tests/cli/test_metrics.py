import pytest

from ragstone.cli.app import run
from ragstone.cli.width import width
from ragstone.metrics import PRESETS


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_list_names_each_metric_with_side_and_needs(lang, capsys):
    assert run(["metrics"], lang, {}) == 0
    out = capsys.readouterr().out
    heads = [line.split()[0] for line in out.splitlines() if line and not line.startswith((" ", "`", "执"))]
    assert heads == list(PRESETS["full"])
    assert max(map(width, out.splitlines())) <= 80
    side = {"en": ("retrieval", "generation"), "zh": ("检索", "生成")}[lang]
    assert sum(line.endswith(side) for line in out.splitlines()) == 5


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", PRESETS["full"])
def test_each_metric_has_a_page(name, lang, capsys):
    assert run(["metrics", name], lang, {}) == 0
    assert name in capsys.readouterr().out


def test_an_unknown_metric_is_told_with_the_nearest(capsys):
    assert run(["metrics", "recall"], "en", {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("There is no metric recall. Did you mean context_recall?")
