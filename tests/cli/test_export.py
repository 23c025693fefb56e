"""`ragstone export` on the command line: pages, documents, exit codes, what stands on stdout."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import exporters, hand_made

from ragstone.cli.app import run
from ragstone.cli.export import Screen
from ragstone.cli.width import width
from ragstone.export.registry import names

IDS = "".join(f"{row['id']}\n" for row in hand_made.SAMPLES)


@pytest.fixture
def call(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exporters.install(tmp_path / "site", monkeypatch)
    hand_made.write_run(tmp_path / "run")

    def go(*args, lang="en"):
        monkeypatch.setenv("RAGSTONE_LANG", lang)
        code = run(["export", *args], lang, {})
        out, err = capfd.readouterr()
        return code, out, err

    return go


def golden(name, lang, text):
    """Compare with a file; WRITE_GOLDEN=1 writes it. A signature and a path are never folded."""
    path = Path(__file__).parent / "golden" / f"{name}.{lang}.txt"
    assert max(width(line) for line in text.split("\n") if not line.startswith("ragstone ")) <= 80
    if "WRITE_GOLDEN" in os.environ:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


# ------------------------------------------------------------------ pages
@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("export_written", ("--to", "ids", "-o", "out.txt"), 0),
        ("export_would_write", ("--to", "ids", "-o", "out.txt", "--dry-run"), 0),
        ("export_would_print", ("--to", "ids", "--dry-run"), 0),
        ("export_sent", ("--to", "bucket"), 0),
        ("export_would_send", ("--to", "bucket", "--dry-run"), 0),
        ("export_lost", ("--to", "lossy"), 1),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_pages(call, name, args, code, lang):
    found, out, err = call("run", *args, lang=lang)
    assert (found, err) == (code, "")
    golden(name, lang, out)


def test_what_is_told_of_stdout_stands_on_stderr(call):
    code, out, err = call("run", "--to", "ids")
    assert (code, out) == (0, IDS)
    assert "samples: 4" in err
    assert call("run", "--to", "ids", "--quiet") == (0, IDS, "")
    assert call("run", "--to", "ids", "-o", "-", "--quiet") == (0, IDS, "")


@pytest.mark.parametrize("name", ["csv", "json", "jsonl", "md", "junit"])
def test_stdout_and_a_file_hold_the_same_bytes(call, name):
    assert call("run", "--to", name, "-o", "out", "--quiet") == (0, "", "")
    assert call("run", "--to", name, "--quiet") == (0, Path("out").read_bytes().decode(), "")


def test_quiet_says_nothing_unless_something_is_missing(call):
    assert call("run", "--to", "bucket", "--quiet") == (0, "", "")
    code, out, _ = call("run", "--to", "lossy", "--quiet")
    assert (code, "7" in out) == (1, True)


@pytest.mark.parametrize("args", [("--to", "ids", "-o", "out.txt"), ("--to", "ids", "--dry-run"), ("--to", "lossy"), ("--to", "bucket")])
def test_the_document_is_alone_on_stdout(call, args):
    code, out, err = call("run", *args, "--json")
    document = json.loads(out)
    assert (err, document["to"]) == ("", args[1])
    assert document["notice"] == "local heuristic judge: smoke test, not a measurement"
    assert code == (1 if document.get("missing") else 0)
    assert call("run", *args, "--json", "--force", lang="zh")[1] == out


def test_every_rejected_thing_is_in_the_document(call):
    document = json.loads(call("run", "--to", "lossy", "--json")[1])
    assert [one["sample_id"] for one in document["rejected"]] == [f"样本-{i}" for i in range(7)]
    assert {one["reason"] for one in document["rejected"]} == {"value out of range"}


def test_a_json_export_is_a_run_too(call):
    assert call("run", "--to", "json", "-o", "run.json")[0] == 0
    assert call("run.json", "--to", "ids", "--quiet")[:2] == (0, IDS)


# ------------------------------------------------------------------ mistakes
WRONG = [
    ((), "csv"),
    (("--to", ""), "csv"),
    (("-o", "x.csv"), "--to csv"),
    (("--to", "excel"), "xlsx"),
    (("--to", "markdown"), "md"),
    (("--to", "ndjson"), "jsonl"),
    (("--to", "packed"), "-o NAME.bin"),
    (("--to", "packed", "-o", "-"), "-o NAME.bin"),
    (("--to", "xlsx"), "-o NAME.xlsx"),
    (("--to", "folder"), "-o"),
    (("--to", "object"), 'ragstone.load("RUN").export("object")'),
    (("--to", "bucket", "-o", "x.txt"), "-o"),
    (("--to", "ids", "-o", "here.txt"), "--force"),
    (("--to", "ids", "-o", "run"), "run"),
    (("--to", "ids", "-o", "here.txt/x.txt"), "here.txt"),
    (("--to", "ids", "-o", "run/scores.jsonl", "--force"), "run/scores.jsonl"),
    (("--to", "ids", "--json"), "-o FILE.txt"),
    (("--to", "broken", "-o", "x.txt"), "others_exporters:Broken"),
    (("--to", "broken"), "others_exporters:Broken"),
    (("--to", "failing"), "others_exporters:Failing"),
    (("--to", "gone"), "others_exporters:NotThere"),
    (("--to", "bucket", "--config", "missing.toml"), "missing.toml"),
    (("--to", "bucket", "--dry-rum"), "--dry-run"),
    (("--to",), "--to"),
]


@pytest.mark.parametrize(("args", "part"), WRONG, ids=[" ".join(args) or "nothing" for args, _ in WRONG])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_mistake_exits_2_and_names_what_to_do(call, tmp_path, args, part, lang):
    (tmp_path / "here.txt").write_text("mine", encoding="utf-8")
    code, out, err = call("run", *args, lang=lang)
    assert code == 2, err
    assert out in ("", "half")
    assert part in err
    assert "Traceback" not in err
    assert any("\u4e00" <= char <= "\u9fff" for char in err) == (lang == "zh")
    assert (tmp_path / "here.txt").read_text(encoding="utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here.txt", "run", "site"]


@pytest.mark.parametrize(
    ("name", "make", "part"),
    [
        ("missing", lambda path: None, "missing"),
        ("empty", lambda path: path.mkdir(), "empty"),
        ("other", lambda path: [path.mkdir(), (path / "notes.txt").write_text("x", encoding="utf-8")], "notes.txt"),
        ("text.csv", lambda path: path.write_text("a,b\n", encoding="utf-8"), "text.csv"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_is_no_run_is_told(call, tmp_path, name, make, part, lang):
    make(tmp_path / name)
    code, out, err = call(name, "--to", "ids", lang=lang)
    assert (code, out) == (2, "")
    assert part in err
    assert "Traceback" not in err


def test_a_missing_library_is_told_with_the_command_that_installs_it(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    code, _, err = call("run", "--to", "xlsx", "-o", "x.xlsx")
    assert code == 2
    assert "ragstone[xlsx]" in err
    assert not Path("x.xlsx").exists()


def test_a_stop_exits_3(call):
    code, out, err = call("run", "--to", "stopped")
    assert (code, out) == (3, "")
    assert "the key was refused" in err


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_names_every_option_and_each_of_our_names(call, lang):
    code, out, _ = call("--help", lang=lang)
    assert code == 0
    assert all(option in out for option in ("--to", "-o", "--dry-run", "--force", "--json", "--quiet", "--config", "--lang"))
    ours = set(names()) - set(exporters.NAMES) - {"pandas", "dataset"}
    assert all(name in out for name in ours)


# ------------------------------------------------------------------ streams
def test_a_reader_that_goes_away_is_no_trouble(call, tmp_path):
    shell = f"{sys.executable} -m ragstone export run --to jsonl --quiet | head -c 1; exit ${{PIPESTATUS[0]}}"
    rows = (tmp_path / "run" / "scores.jsonl").read_bytes()
    samples = b"".join(b'{"id":"more-%d"}\n' % i for i in range(20_000))
    (tmp_path / "run" / "samples.jsonl").write_bytes((tmp_path / "run" / "samples.jsonl").read_bytes() + samples)
    (tmp_path / "run" / "scores.jsonl").write_bytes(rows)
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, len(done.stdout)) == (141, "", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
def test_a_full_disk_exits_3_and_says_so(call, tmp_path):
    code, _, err = call("run", "--to", "ids", "-o", "/dev/full")
    assert (code, "/dev/full" in err) == (3, True)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_terminal_is_shown_text_whatever_the_samples_hold(size):
    held = "\ufeffid,答案\r\n1,\x1b[31m红\x1b[0m \u202eback\x07\r\n".encode()
    shown = io.BytesIO()
    screen = Screen(shown)
    for at in range(0, len(held), size):
        screen.write(held[at : at + size])
    screen.flush()
    text = shown.getvalue().decode()
    assert text.startswith("id,答案\n1,")
    assert "红" in text
    assert not set(text) & set("\x1b\u202e\x07\ufeff\r")
