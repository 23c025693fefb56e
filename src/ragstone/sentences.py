"""Cutting Chinese and English text at sentence ends. Pure."""

import functools
import re
from collections.abc import Iterable

from ragstone.resources import read_toml

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_CLOSERS = "[”’」』）》】〉\\)\\]]*(?:[\"'](?=\\s|$))?[”’」』）》】〉\\)\\]]*"
_CANDIDATE = re.compile(rf"(?P<wide>[。！？；｡!?]+{_CLOSERS})|(?P<stop>[.．]+{_CLOSERS})|(?P<line>\r\n|[\n\r\v\f\x85\u2028\u2029])")
_WORD_BEFORE = re.compile(r"[^\s(（\[\"“'‘]*\Z")
_ENUMERATOR = re.compile(r"(?:(?:^|[\n\r。！？；.!?;])[ \t]*(?:[-*•·◦▪–—>#]+[ \t]*)?[(（]?[0-9]{1,3}|[:：][ \t]*[(（]?1)\Z")
_INITIAL = re.compile(r"(?:^|[\n\r]|\b[A-Z][\w.]*[ \t]+)[A-Z]\Z")
_BULLET_LETTER = re.compile(r"(?:^|[\n\r])[ \t]*(?:[-*•][ \t]*)?[A-Za-z]\Z")
_CLAUSE = re.compile(r"[；;，](?=.)|,(?=\s)", re.DOTALL)
_BLANK = re.compile(r"\s+")
_WINDOW = 80


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, stripped, in order; every character that is not white space is in one of them.

    A sentence ends at 。！？； and at . ! ? where these close one (not in decimals, addresses, abbreviations, initials
    or after the number of a list item), and at a line break, unless the next line goes on in lower case. A piece
    without letters or digits (a rule, a closing bracket) belongs to its neighbour. Blank text has no sentences.
    """
    return [text[start:end].strip() for start, end in spans(text)]


def spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences of `text` start and end; together the spans cover the text from its first character to its last."""
    if not text.strip():
        return []
    found: list[tuple[int, int]] = []
    start = 0
    for match in _CANDIDATE.finditer(text):
        if _ends(text, start, match):
            _append(found, text, start, match.end())
            start = match.end()
    if start < len(text):
        _append(found, text, start, len(text))
    return found


def cut(text: str, limit: int) -> str:
    """Return the longest beginning of `text` of at most `limit` characters that ends with a sentence.

    A first sentence that is too long is cut at its last white space or comma, or, without one, at `limit`.
    """
    if len(text) <= limit:
        return text
    ends = (start + len(text[start:end].rstrip()) for start, end in spans(text))
    if end := max((end for end in ends if end <= limit), default=0):
        return text[:end]
    head = text[:limit]
    softer = max((m.end() for m in re.finditer(r"[\s,，、;:：]", head)), default=0)
    return head[: softer if softer > limit // 2 else limit].rstrip()


def halved(text: str, least: int | None = None) -> tuple[str, str] | None:
    """Return `text` in two pieces, cut as near to its middle as can be: at a sentence end, else at a clause mark.

    A single clause is cut at white space, or without any between two characters, if both pieces keep `least` characters;
    else, and with `least` None, it stays whole: None. Every piece holds a letter or digit.
    """
    ends = [end for _, end in spans(text)][:-1]
    place = _middle(text, ends) or _middle(text, [match.end() for match in _CLAUSE.finditer(text)])
    if place is None and least is not None and len(text) >= 2 * least:
        inside = [match.end() for match in _BLANK.finditer(text) if least <= match.end() <= len(text) - least]
        place = _middle(text, inside) or _middle(text, [len(text) // 2])
    return None if place is None else (text[:place], text[place:])


def _middle(text: str, places: Iterable[int]) -> int | None:
    """Return the place nearest to the middle that has words before and after it."""
    near = sorted(places, key=lambda place: abs(2 * place - len(text)))
    return next((place for place in near if _says(text, 0, place) and _says(text, place, len(text))), None)


def _append(found: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    if found and not (_says(text, start, end) and _says(text, *found[-1])):
        start = found.pop()[0]
    found.append((start, end))


def _says(text: str, start: int, end: int) -> bool:
    return any(c.isalnum() for c in text[start:end])


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 1]
    if match["line"]:
        return _breaks(text, start, match)
    if match["wide"]:
        return bool(re.search("[。！？；｡]", match["wide"])) or not after or after.isspace() or bool(re.match(f"[{_HAN}]", after))
    return _stops(text, start, match, after)


def _breaks(text: str, start: int, match: re.Match[str]) -> bool:
    before, after = text[start : match.start()].rstrip(), text[match.end() : match.end() + 1]
    return not (after.isascii() and after.islower() and before[-1:].isalnum())


def _stops(text: str, start: int, match: re.Match[str], after: str) -> bool:
    head = text[max(start, match.start() - _WINDOW) : match.start()]
    if after and not after.isspace():
        return bool(re.search(rf"[{_HAN}]\Z", head) and re.match(f"[{_HAN}]", after))
    if _ENUMERATOR.search(text[max(0, match.start() - _WINDOW) : match.start()]) or _BULLET_LETTER.search(head):
        return False
    following = text[match.end() : match.end() + _WINDOW].lstrip()[:1]
    return not following or _closes(head, following)


def _closes(head: str, following: str) -> bool:
    word = _WORD_BEFORE.search(head)
    name = (word[0] if word else "").casefold()
    never, before_capital, unless_digit = _abbreviations()
    if name in unless_digit and following.isdigit():
        return False
    if name in never or _INITIAL.search(head):
        return False
    if name in before_capital:
        return following.isupper() or not following.isalnum()
    return not (following.islower() and name.isalpha() and name.isascii() and len(name) < 4)


@functools.cache
def _abbreviations() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    words = read_toml("languages", "en.toml")
    never = frozenset(words["abbreviations"])
    return never, frozenset(words["closing_abbreviations"]), frozenset(words["counting_abbreviations"]) - never
