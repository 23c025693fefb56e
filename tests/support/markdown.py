"""Code blocks of the documentation, as things to run.

A comment on the line before a fence says what to do with the block:

    <!-- run -->            run it; every command must end with exit code 0
    <!-- run: exit 2 -->    run it; every command must end with this exit code
    <!-- run: at a judge --> run it with every address in it replaced by that of a judge on this machine
    <!-- file: NAME -->     write it to NAME in the folder where the later blocks of the page are run

Blocks without a comment are examples: they are not run, but the commands in them must exist.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*)[^\n]*$")
MARK = re.compile(r"^ *<!-- (?P<do>run|file)(?:: (?P<what>[^>]+?))? -->$")
AT_A_JUDGE = "at a judge"
SHELL = ("console", "bash", "sh", "shell")


@dataclass(frozen=True)
class Command:
    """A command of a block and the output the page shows for it."""

    text: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """A fenced block: `do` is run, file or None; `line` counts from 1."""

    page: Path
    line: int
    language: str
    text: str
    do: str | None = None
    what: str | None = None

    @property
    def exit_code(self) -> int:
        """The exit code its commands must end with."""
        return 0 if self.what is None or self.at_a_judge else int(self.what.removeprefix("exit "))

    @property
    def at_a_judge(self) -> bool:
        """Whether its addresses are those of an endpoint."""
        return self.what == AT_A_JUDGE

    @property
    def commands(self) -> list[Command]:
        """Commands of a shell block; in `console` they follow `$ `, and the lines after one are its output."""
        if self.language not in SHELL:
            return []
        joined = self.text.replace("\\\n", " ")
        if self.language != "console":
            return [Command(line.strip()) for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]
        found: list[Command] = []
        for line in joined.splitlines():
            if line.startswith("$ "):
                found.append(Command(line[2:].strip()))
            elif found and line.strip():
                found[-1] = Command(found[-1].text, (*found[-1].shown, line))
        return found


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, each with the comment above it."""
    found, mark, opened, body = [], None, None, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if opened is None and fence:
            opened, start, body = fence, number, []
        elif opened is not None and fence and fence["fence"] == opened["fence"] and not fence["language"]:
            do, what = (mark["do"], mark["what"]) if mark else (None, None)
            found.append(Block(page, start, opened["language"], "\n".join(body) + "\n", do, what))
            opened = mark = None
        elif opened is not None:
            body.append(line.removeprefix(opened["indent"]))
        elif line.strip():
            mark = MARK.match(line)
    assert opened is None, f"{page}: the block of line {start} is never closed"
    return found


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return re.sub(r"^ *(`{3,}).*?^ *\1 *$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def inline_commands(page: Path) -> list[Command]:
    """Return every `ragstone …` written inside a line of text."""
    return [Command(code) for code in re.findall(r"`(ragstone [a-z-][^`]*)`", prose(page))]


def words(command: str) -> list[str]:
    """Split a command into words: without its comment, without VARIABLE=value before it, cut at a pipe or redirection."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    found: list[str] = []
    for word in lexer:
        if set(word) <= set("|;&<>"):
            break
        if found or not re.match(r"^[A-Z_]+=", word):
            found.append(word)
    return found
