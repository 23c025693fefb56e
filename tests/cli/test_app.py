import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from ragstone import __version__
from ragstone.cli.app import COMMANDS, build, chosen_language, run
from ragstone.cli.arguments import number_kind
from ragstone.cli.exits import guarded
from ragstone.cli.width import width
from ragstone.errors import AuthError, ConfigError, DataError, Interrupted, Problem, RunFolderError


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def ragstone(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "ragstone", *args],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environ},
        check=False,
        timeout=300,
    )


# ------------------------------------------------------------------ help
@pytest.mark.parametrize("columns", [64, 80])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("args", [[], ["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join)
def test_help_fits_the_terminal_in_both_languages(args, lang, columns, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(args, lang, {}) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert max(width(line) for line in out.splitlines()) <= columns
    assert out.startswith("Usage: ragstone" if lang == "en" else "用法：ragstone")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", ["evaluate", "collect"])
def test_help_explains_every_option_that_sets_something(command, lang, capsys):
    run([command, "--help"], lang, {})
    out = capsys.readouterr().out
    from ragstone.config import FLAGS

    of_collect = {name for name, place in FLAGS.items() if place[0] == "collect"}
    shared = {"timeout", "retries", "concurrency", "repeat", "limit", "map", "encoding", "deadline", "min_coverage", "force"}
    wanted = of_collect | shared if command == "collect" else FLAGS.keys() - of_collect
    options = [line for line in out.splitlines() if line.startswith("  --")]
    assert {line.split()[0] for line in options} >= {"--" + name.replace("_", "-") for name in wanted}
    assert "cli." not in out


@pytest.mark.parametrize(
    "args", [["--lang", "zh"], ["--lang=zh"], ["--lang", "zh", "--help"], ["metrics", "--lang", "zh"], ["--lang", "zh", "metrics"]]
)
def test_the_language_can_be_given_anywhere(args):
    done = ragstone(*args)
    assert done.returncode == 0
    assert any("\u4e00" <= letter <= "\u9fff" for letter in done.stdout)


def test_the_version():
    assert ragstone("--version").stdout == f"ragstone {__version__}\n"


# ------------------------------------------------------------------ the language
@pytest.mark.parametrize(
    ("args", "environ", "toml", "lang"),
    [
        (["--lang", "zh"], {"RAGSTONE_LANG": "en"}, "lang = 'en'", "zh"),
        (["evaluate", "x", "--lang=zh_CN"], {}, "", "zh"),
        ([], {"RAGSTONE_LANG": "zh"}, "lang = 'en'", "zh"),
        ([], {}, "lang = 'zh'", "zh"),
        (["--config", "other.toml"], {}, "lang = 'zh'", "en"),
        ([], {}, "lang = [", "en"),
        ([], {}, "lang = 7", "en"),
        (["metrics", "--", "--lang", "zh"], {}, "", "en"),
        (["run", "other.toml"], {}, "lang = 'zh'", "en"),
        (["run", "--quiet", "zh.toml", "--from", "gate"], {}, "lang = 'en'", "zh"),
        (["run", "zh.toml"], {"RAGSTONE_LANG": "en"}, "", "en"),
        (["runs", "zh.toml"], {"RAGSTONE_CONFIG": "other.toml"}, "", "zh"),
        (["runs", "work"], {}, "lang = 'zh'", "zh"),
        (["evaluate", "zh.toml"], {}, "lang = 'en'", "en"),
    ],
)
def test_where_the_language_comes_from(args, environ, toml, lang):
    Path("ragstone.toml").write_text(toml)
    Path("other.toml").write_text("lang = 'en'")
    Path("zh.toml").write_text("lang = 'zh'")
    assert chosen_language(args, environ) == lang


@pytest.mark.parametrize("args", [["metrics", "--lang", "--json"], ["--lang", "--help"]])
def test_a_language_that_is_another_option(args):
    with pytest.raises(ConfigError, match=r"--lang"):
        chosen_language(args, {})


NUMBERS = [
    (name, option) for name in COMMANDS for param in build().get_command(None, name).params if number_kind(param) for option in param.opts
]


@pytest.mark.parametrize(("name", "option"), NUMBERS)
@pytest.mark.parametrize("value", ["x", "5%", "", "١x"])
def test_every_number_that_is_none_is_refused_in_the_language_of_the_screen(name, option, value, capsys):
    assert run([name, f"{option}={value}"], "zh", {}) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"{option} 应为")
    assert "Invalid" not in told
    assert len(NUMBERS) > 15


def test_a_language_ragstone_does_not_speak():
    done = ragstone("metrics", "--lang", "fr")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "--lang = fr: must be zh or en\n")


# ------------------------------------------------------------------ usage
@pytest.mark.parametrize(
    ("args", "en", "zh"),
    [
        (["evalute", "x"], "There is no command evalute. Did you mean evaluate?", "没有命令 evalute。是否想写 evaluate？"),
        (["xyz"], "There is no command xyz. Commands: demo", "没有命令 xyz。可用命令：demo"),
        (["evaluate", "x", "--judg", "y"], "There is no option --judg. Did you mean --judge?", "没有选项 --judg。是否想写 --judge？"),
        (["evaluate", "x", "--zzzz"], "There is no option --zzzz.\n", "没有选项 --zzzz。\n"),
        (["--nope"], "There is no option --nope.", "没有选项 --nope。"),
        (["evaluate"], "SAMPLES is missing.", "缺少 SAMPLES。"),
        (["evaluate", "x", "--judge"], "The option --judge needs a value.", "选项 --judge 缺少取值。"),
        (["evaluate", "x", "--quiet=1"], "The option --quiet takes no value.", "选项 --quiet 不带取值。"),
        (
            ["evaluate", "x", "y", "z"],
            "There is no place for y z: ragstone evaluate takes SAMPLES.",
            "多出了 y z。ragstone evaluate 的参数：",
        ),
        (["demo", "y"], "There is no place for y: ragstone demo takes no arguments.", "多出了 y。ragstone demo 的参数：无。"),
        (
            ["show", "x", "--worst", "-1"],
            "--worst needs a whole number of at least 0, e.g. --worst 10; it cannot be -1.\n`ragstone show --help`",
            "--worst 应为整数，不小于 0，例如 --worst 10；不能是 -1。\n",
        ),
        (
            ["show", "x", "--worst", "ten"],
            "--worst needs a whole number of at least 0, e.g. --worst 10; it cannot be ten.\n",
            "--worst 应为整数，不小于 0，例如 --worst 10；不能是 ten。\n",
        ),
        (
            ["show", "x", "--min-coverage", "5"],
            "--min-coverage needs a number from 0 to 1, e.g. --min-coverage 0.95; it cannot be 5.",
            "--min-coverage 应为数字，0 到 1，例如 --min-coverage 0.95；不能是 5。",
        ),
        (
            ["compare", "a", "b", "--margin", "5%"],
            "--margin needs a number, e.g. --margin 0.02; it cannot be 5%. Write 5% as 0.05.\n",
            "--margin 应为数字，例如 --margin 0.02；不能是 5%。5% 请写成 0.05。\n",
        ),
        (
            ["compare", "a", "b", "--margin=0,05"],
            "--margin needs a number, e.g. --margin 0.02; it cannot be 0,05. Write 0,05 as 0.05.",
            "--margin 应为数字",
        ),
        (["compare", "a", "b", "--margin", "--lang", "zh"], "The option --margin needs a value.\n", "选项 --margin 缺少取值。\n"),
        (["gate", "a", "--baseline", "--lang", "en"], "The option --baseline needs a value.\n", "选项 --baseline 缺少取值。\n"),
        (
            ["plan", "--gap", "x"],
            "--gap needs a number, e.g. --gap 0.02; it cannot be x.\n`ragstone plan",
            "--gap 应为数字，例如 --gap 0.02；不能是 x。",
        ),
        (["plan", "--n", "1e3"], "--n needs a whole number, e.g. --n 200; it cannot be 1e3.\n", "--n 应为整数，例如 --n 200；不能是 1e3。"),
        (
            ["gate", "r/b", "r/a"],
            "There is no place for r/a: ragstone gate takes RUN. To measure drops against it: `ragstone gate r/b --baseline r/a`.\n",
            "多出了 r/a。ragstone gate 的参数：RUN。要以它为基准，请写 `ragstone gate r/b --baseline r/a`。\n",
        ),
        (
            ["metrics", "faithfullness"],
            "There is no metric faithfullness. Did you mean faithfulness?",
            "没有指标 faithfullness。是否想写 faithfulness？",
        ),
    ],
)
def test_usage_errors_name_the_nearest_and_exit_2(args, en, zh, capsys):
    for lang, text in (("en", en), ("zh", zh)):
        assert run(args, lang, {}) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(text)
        assert "Traceback" not in err


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "args", [["--api-key", "s3cret", "demo"], ["evaluate", "x", "--api-key=s3cret"], ["evaluate", "x", "--judge_api_key", "s3cret"]]
)
def test_a_key_on_the_command_line_is_told_where_to_go_and_not_repeated(args, lang, capsys):
    assert run(args, lang, {}) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "RAGSTONE_JUDGE_API_KEY" in err
    assert "OPENAI_API_KEY" in err
    assert "s3cret" not in err


def test_usage_errors_of_a_process_go_to_stderr_only():
    done = ragstone("evaluate", "--nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "`ragstone evaluate --help` lists what there is."


# ------------------------------------------------------------------ endings
def raising(error: BaseException):
    def action():
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("what and where"), 2),
        (DataError("f.csv", [Problem("what and where", 3, "answer")]), 2),
        (RunFolderError("what and where"), 2),
        (AuthError("what and where"), 3),
        (Interrupted("what and where"), 3),
    ],
)
def test_an_error_is_its_message_and_its_code(error, code, capsys):
    assert guarded(raising(error), "en") == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "what and where\n" in err
    assert "Traceback" not in err


def test_an_interrupt_is_3_and_an_exit_is_what_it_says(capsys):
    assert guarded(raising(KeyboardInterrupt()), "zh") == 3
    assert capsys.readouterr().err == "已中断。\n"
    assert guarded(raising(typer.Exit(1)), "en") == 1
    assert guarded(lambda: None, "en") == 0
    assert guarded(lambda: 1, "en") == 1


def test_a_fault_keeps_its_traceback_and_looks_like_no_result(capsys):
    assert guarded(raising(ZeroDivisionError("x")), "en") == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "ZeroDivisionError: x" in err
    assert "fault of ragstone" in err


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
@pytest.mark.usefixtures("buffering")
def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen([sys.executable, "-m", "ragstone", "evaluate", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as stderr:
        assert stderr.read() == b""
    assert process.wait(300) == 128 + signal.SIGPIPE


# ------------------------------------------------------------------ a fast start
def test_help_loads_nothing_heavy():
    code = "import json, sys; from ragstone.cli.app import run; run(['--help'], 'en', {}); print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert not loaded & {"pydantic", "numpy", "aiohttp", "rich", "asyncio", "orjson", "ragstone.types", "ragstone.config"}


# ------------------------------------------------------------------ what the system refuses
@pytest.fixture(params=["buffered", "unbuffered"])
def buffering(request, monkeypatch):
    """Streams hold text back unless PYTHONUNBUFFERED is set, so trouble comes later."""
    if request.param == "unbuffered":
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    else:
        monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")


@FULL
@pytest.mark.usefixtures("buffering")
@pytest.mark.parametrize(("lang", "words"), [("en", "the output could not be written"), ("zh", "输出无法写出")])
@pytest.mark.parametrize("args", [["metrics"], ["--help"], ["--version"]], ids=" ".join)
def test_an_output_that_cannot_be_written_is_no_traceback_and_no_result(args, lang, words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ragstone", "--lang", lang, *args], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False
        )
    assert done.returncode == 3
    assert done.stderr.startswith(words)
    assert len(done.stderr.splitlines()) == 1


@FULL
@pytest.mark.usefixtures("buffering")
def test_messages_that_cannot_be_written_leave_the_exit_code_alone():
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "ragstone", "show", "nowhere"], stderr=full, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize(("lang", "reason"), [("en", "no permission"), ("zh", "没有权限")])
def test_a_file_the_system_refuses_is_named(lang, reason, capsys):
    def action():
        raise PermissionError(13, "Permission denied", "runs/a")

    assert guarded(action, lang) == 2
    err = capsys.readouterr().err
    assert "runs/a" in err
    assert reason in err


def test_a_name_out_of_a_file_cannot_write_on_the_terminal(capsys):
    assert guarded(lambda: (_ for _ in ()).throw(DataError("\x1b[2Jx", [Problem("\x1b]0;title\x07bad")])), "en") == 2
    assert "\x1b" not in capsys.readouterr().err
