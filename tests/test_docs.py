"""What the documentation tells people to type exists, and what it marks as run works (support/markdown.py has the marks)."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.markdown import Block, Command, blocks, inline_commands, words
from support.truth_server import TruthServer, answering

from ragstone.judge.local import LocalJudge

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "README.zh.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GOLD = Path("src") / "ragstone" / "gold"
MAX_SHOWN = 3000
ADDRESS = re.compile(r"https?://[^\s\"']+")
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# ------------------------------------------------------------------ what is named exists
def wrong_words(command: str, root: Any) -> list[str]:
    """Return what a command line names that ragstone does not have: commands, flags, make targets."""
    program, *rest = words(command) or [""]
    program = program.rpartition("/")[2]
    if program == "make":
        return [word for word in rest if "=" not in word and not word.startswith("-") and word not in TARGETS]
    if program != "ragstone":
        return []
    known, context = root, root.make_context("ragstone", [], resilient_parsing=True)
    if rest and not rest[0].startswith("-"):
        if rest[0] not in root.list_commands(context):
            return rest[:1]
        known = root.get_command(context, rest.pop(0)) or root
    flags = {name for parameter in (*known.params, *root.params) for name in (*parameter.opts, *parameter.secondary_opts)} | {"--help"}
    return [word for word in rest if re.match(r"^--?[a-z]", word) and word.partition("=")[0] not in flags]


def ragstone_command() -> Any:
    from ragstone.cli.app import build

    return build()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_command_and_flag_on_a_page_exists(page):
    root = ragstone_command()
    shown = [command for block in blocks(page) for command in block.commands] + inline_commands(page)
    assert {command.text: wrong for command in shown if (wrong := wrong_words(command.text, root))} == {}


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("ragstone evaluate samples.jsonl --out runs/a --judge local", []),
        ("OPENAI_API_KEY=x ragstone evaluate s.jsonl --judge=gpt  # --nonsense", []),
        ("ragstone show runs/a --json | jq .metrics --raw", []),
        ("ragstone evalute samples.jsonl", ["evalute"]),
        (".venv/bin/ragstone show --jsno", ["--jsno"]),
        ("ragstone show runs/a --jsno", ["--jsno"]),
        ("ragstone evaluate s.jsonl --strictnes=3", ["--strictnes=3"]),
        ("make test", []),
        ("make tset ARGS=-x", ["tset"]),
        ("git clone somewhere --depth 1", []),
    ],
)
def test_a_wrong_word_is_found(command, wrong):
    assert wrong_words(command, ragstone_command()) == wrong


# ------------------------------------------------------------------ what is marked runs
@dataclass
class Reader:
    """Someone who follows a page: the folder they work in, what they exported, and a judge where the page names an address."""

    folder: Path
    judge: TruthServer | None = None
    exported: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The installed commands on the path, a home of its own."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "HOME": str(self.folder), "PYTHONUTF8": "1", **self.exported}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        if exported := re.fullmatch(r"export (\w+)=(\S+).*", command[-1]):
            self.exported[exported[1]] = exported[2]
        quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "encoding": "utf-8"}
        return subprocess.run(command, cwd=self.folder, env=self.environment(), check=False, **quiet)

    def here(self, text: str) -> str:
        """Put the judge's address in the place of every address."""
        return ADDRESS.sub(self.judge.base_url, text) if self.judge else text

    def there(self, output: str, text: str) -> str:
        """Put the address that `text` names in the place of the judge's."""
        if self.judge is None or (named := ADDRESS.search(text)) is None:
            return output
        local = self.judge.base_url
        return output.replace(local, named[0]).replace(urlsplit(local).netloc, urlsplit(named[0]).netloc)


def flat(text: str) -> str:
    return " ".join(text.split())


def check_output(command: Command, output: str) -> None:
    """Every line the page shows must be in the output, in this order; `…` stands for any text."""
    rest = flat(output)
    for line in command.shown:
        for piece in filter(None, map(flat, line.split("…"))):
            found = piece in rest  # by itself, so that a failure does not show a whole run folder twice
            assert found, f"{command.text}: the page shows {piece!r}, the command printed\n{output[:MAX_SHOWN]}"
            rest = rest.partition(piece)[2]


def run_block(block: Block, reader: Reader) -> None:
    assert block.commands or block.language == "python", "only shell and Python blocks can be run"
    if block.language == "python":
        done = reader.run(sys.executable, "-W", "error", "-c", reader.here(block.text))
        assert done.returncode == block.exit_code, done.stderr
    for command in block.commands:
        done = reader.run("bash", "-c", reader.here(command.text))
        assert done.returncode == block.exit_code, f"{command.text}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        check_output(command, reader.there(done.stdout + done.stderr, block.text))


def run_page(page: Path, folder: Path) -> int:
    """Run a page from top to bottom in one folder and return how many blocks were run."""
    shutil.copytree(ROOT / GOLD, folder / GOLD)
    found = blocks(page)
    with answering(LocalJudge()) if any(block.at_a_judge for block in found) else nullcontext() as judge:
        reader = Reader(folder, judge)
        for block in found:
            if block.do == "file":
                target = folder / str(block.what)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(block.text, encoding="utf-8")
            elif block.do == "run":
                run_block(block, reader)
    return sum(block.do == "run" for block in found)


def in_turn(page: Path) -> Any:
    """The README is run at every turn, the pages of docs/ and the Chinese twin of the README with the slow tests."""
    quick = page.parent == ROOT and not page.name.endswith(".zh.md")
    return pytest.param(page, marks=() if quick else pytest.mark.slow, id=page_name(page))


@pytest.mark.parametrize("page", [in_turn(page) for page in PAGES if any(block.do == "run" for block in blocks(page))])
def test_what_a_page_marks_as_run_works(page, tmp_path):
    assert run_page(page, tmp_path)


def test_the_readme_shows_commands_that_are_run():
    assert any(block.do == "run" for block in blocks(ROOT / "README.md"))


PAGE = """
<!-- file: data/a.txt -->
```text
one
```

<!-- run -->
```console
$ cat data/a.txt
one
$ printf 'a\\nb %s c\\n' "$RANDOM"
a
b … c
```

<!-- run: exit 3 -->
```bash
# a comment
python -c \\
  "raise SystemExit(3)"
```

<!-- run: at a judge -->
```bash
export KEY=secret
test "$KEY" = secret
python -c "import urllib.request as r; print(r.urlopen('https://api.example.com/v1/models').status)" 2>&1 | grep 404
```

<!-- run -->
```python
from pathlib import Path
assert Path("data/a.txt").read_text() == "one\\n"
```
"""


def test_a_page_is_run_from_top_to_bottom(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    assert run_page(page, tmp_path / "work") == 4


@pytest.mark.parametrize(
    ("told", "done"),
    [
        ("b … c\n```", "b … d\n```"),  # shows other output than is printed
        ("<!-- run: exit 3 -->", "<!-- run -->"),  # fails without saying so
        ('== "one', '== "two'),  # Python that raises
        ("```python", "```json"),  # nothing that can be run
    ],
)
def test_a_page_that_tells_something_else_is_noticed(told, done, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace(told, done), encoding="utf-8")
    with pytest.raises(AssertionError):
        run_page(page, tmp_path / "work")
