"""`ragstone cache info|clear`."""

import json
from pathlib import Path

import pytest

from ragstone.cache_file import NAME, CacheFile
from ragstone.cli.app import run
from ragstone.transport.memory import FILE, Memory


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = CacheFile(tmp_path / "c", 1000)
    file.write([(b"a", False, b"1" * 1000), (b"b", True, b"2"), (b"c", True, b"3")])
    file.close()
    return tmp_path / "c"


@pytest.mark.parametrize(("lang", "told"), [("en", "kB of at most 1000 MB"), ("zh", "回复 1 条，向量 2 个")])
def test_info_tells_where_how_many_and_how_large(filled, capsys, lang, told):
    assert run(["cache", "info", "--cache", "c"], lang, {}) == 0
    out, err = capsys.readouterr()
    assert out.startswith(str(Path("c") / NAME))
    assert told in out
    assert err == ""


def test_info_is_what_is_told_without_an_action_and_the_folder_may_come_from_the_environment(filled, capsys):
    assert run(["cache"], "en", {"RAGSTONE_CACHE": str(filled)}) == 0
    assert "replies 1" in capsys.readouterr().out


def test_the_folder_may_come_from_the_settings_file(filled, capsys):
    Path("ragstone.toml").write_text('cache = "c"\ncache_mb = 2.5\n', encoding="utf-8")
    assert run(["cache", "info"], "en", {}) == 0
    assert "of at most 2.5 MB" in capsys.readouterr().out


def test_json_is_one_document(filled, capsys):
    assert run(["cache", "info", "--cache", "c", "--json"], "en", {}) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["replies"], told["vectors"], told["most_bytes"], told["exists"]) == (1, 2, 10**9, True)
    assert told["path"] == str(Path("c") / NAME)
    assert told["oldest_use"] > 1.7e9


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_clear_empties_and_says_what_went(filled, capsys, lang):
    assert run(["cache", "clear", "--cache", "c"], lang, {}) == 0
    assert "1" in capsys.readouterr().out
    assert run(["cache", "info", "--cache", "c", "--json"], lang, {}) == 0
    assert json.loads(capsys.readouterr().out)["replies"] == 0


@pytest.mark.parametrize("action", ["info", "clear"])
def test_no_cache_yet_is_no_error_and_none_is_made(tmp_path, capsys, action):
    assert run(["cache", action, "--cache", str(tmp_path / "none")], "en", {}) == 0
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_another_action_is_refused_with_those_there_are(tmp_path, capsys, lang):
    assert run(["cache", "purge"], lang, {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "info, clear" in err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_file_that_is_no_cache_is_told_and_cleared(tmp_path, capsys, lang):
    (tmp_path / NAME).write_bytes(b"something else" * 100)
    assert run(["cache", "info", "--cache", str(tmp_path)], lang, {}) == 2
    assert f'ragstone cache clear --cache "{tmp_path}"' in capsys.readouterr().err  # never the user's own, which is whole
    assert run(["cache", "clear", "--cache", str(tmp_path)], "en", {}) == 0
    assert run(["cache", "info", "--cache", str(tmp_path)], "en", {}) == 0


@pytest.mark.parametrize(
    ("lang", "known", "gone"), [("en", "remembered: 2", "forgotten: 2"), ("zh", "已记住 2 个接口的要求", "清除了已记住的 2 个接口的要求")]
)
def test_what_endpoints_taught_is_counted_and_forgotten(filled, capsys, lang, known, gone):
    Memory(filled).keep("http://127.0.0.1/v1", "m", {"a": 1})
    Memory(filled).keep("http://127.0.0.1/v1", "e", {"a": 1})
    assert run(["cache", "info", "--cache", "c"], lang, {}) == 0
    assert known in capsys.readouterr().out
    assert run(["cache", "--cache", "c", "--json"], lang, {}) == 0
    assert json.loads(capsys.readouterr().out)["endpoints"] == 2
    assert run(["cache", "clear", "--cache", "c"], lang, {}) == 0
    assert gone in capsys.readouterr().out
    assert not (filled / FILE).exists()
    assert run(["cache", "info", "--cache", "c"], lang, {}) == 0
    assert known[:4] not in capsys.readouterr().out
