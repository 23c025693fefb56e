"""Text out of files of any encoding; bytes that do not fit are named by their place."""

import codecs
from collections.abc import Iterator
from pathlib import Path

from ragstone.bytelines import lines_of
from ragstone.errors import ConfigError, Problem, reason_of
from ragstone.text import say
from ragstone.types import Language

_CHUNK = 1 << 16
_BOMS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Undecodable(Exception):
    """The file's bytes are not in the encoding; `problem` says where."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(problem.text)


def known_encoding(name: str, lang: Language) -> str:
    """Return the canonical name of an encoding.

    Raises:
        ConfigError: Python knows no text encoding of that name.
    """
    try:
        b"x".decode(name, "replace")  # some codecs (idna) are for names, not for files
        "".encode(name)
        return codecs.lookup(name).name.replace("utf-8-sig", "utf-8")
    except (LookupError, ValueError) as error:
        raise ConfigError(say("samples.unknown_encoding", lang, name=name)) from error


def decoded_lines(path: Path, encoding: str, lang: Language) -> Iterator[str]:
    r"""Yield the lines of a file with their ends (\n, \r\n or \r) as they are.

    Raises:
        Undecodable: the file is not in that encoding, or went away.
    """
    try:
        with path.open(encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="") as file:
            yield from file
    except UnicodeError as error:
        raise misfit(path, encoding, error, lang) from error
    except OSError as error:
        raise _unreadable(error, lang) from error


def raw_lines(path: Path, lang: Language) -> Iterator[bytes]:
    """Yield the same lines of a file in UTF-8 before they are decoded.

    Raises:
        Undecodable: the file went away.
    """
    try:
        with path.open("rb") as file:
            for line in lines_of(file):
                yield from line.splitlines(keepends=True) if b"\r" in line else (line,)
    except OSError as error:
        raise _unreadable(error, lang) from error


def _unreadable(error: OSError, lang: Language) -> Undecodable:
    return Undecodable(Problem(say("samples.unreadable", lang, reason=reason_of(error, lang))))


def decoded_text(path: Path, encoding: str, lang: Language) -> str:
    """Return the whole text of a file.

    Raises:
        Undecodable: the file is not in that encoding, or went away.
    """
    return "".join(decoded_lines(path, encoding, lang))


def misfit(path: Path, encoding: str, error: UnicodeError, lang: Language) -> Undecodable:
    """Return the error that names the first bytes of a file that are not in its encoding."""
    return Undecodable(_misfit(path, encoding, error, lang))


def _misfit(path: Path, encoding: str, error: UnicodeError, lang: Language) -> Problem:
    # The error's own position counts from the piece being decoded, so the file is read again to find the byte.
    found = _first_misfit(path, encoding)
    with path.open("rb") as file:
        head = file.read(_CHUNK)
    bom = next((name for mark, name in _BOMS.items() if head.startswith(mark)), None)
    if bom and encoding == "utf-8":
        return Problem(say("samples.utf16_mark", lang, encoding=bom))
    if found is None:
        return Problem(say("samples.undecodable", lang, encoding=encoding, reason=str(error)))
    offset, line, wrong = found
    text = say("samples.wrong_bytes", lang, encoding=encoding, offset=offset, line=line, bytes=wrong.hex(" "))
    return Problem(text + _advice(head, encoding, lang))


def _advice(head: bytes, encoding: str, lang: Language) -> str:
    known = codecs.lookup(encoding).name
    guesses = {"utf-8": ("gbk", "gb18030"), "gbk": ("utf-8", "gb18030"), "gb2312": ("utf-8", "gb18030")}.get(known, ("utf-8",))
    guess = next((guess for guess in guesses if _decodes(head, guess)), None)
    return say("samples.try_another_encoding", lang) if guess is None else say("samples.try_encoding", lang, encoding=guess)


def _decodes(head: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _first_misfit(path: Path, encoding: str) -> tuple[int, int, bytes] | None:
    """The offset, the line and the bytes that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    read, line = 0, 1
    with path.open("rb") as file:
        while True:
            chunk = file.read(_CHUNK)
            try:
                line += decoder.decode(chunk, final=not chunk).count("\n")
            except UnicodeDecodeError as error:
                held = len(error.object) - len(chunk)
                before = error.object[: error.start].count(b"\n")
                return read - held + error.start, line + before, error.object[error.start : error.start + 4]
            except UnicodeError:
                return None
            if not chunk:
                return None
            read += len(chunk)
