"""What ragstone knows of Chinese and English: folding, detection, sentences, asking back, refusing, denying. Pure."""

import functools
import re
import unicodedata
from collections.abc import Iterator

from ragstone.numerals import numbers
from ragstone.resources import read_toml
from ragstone.sentences import cut, halved, sentences, spans
from ragstone.types import Language

__all__ = ["Folded", "asks_back", "cut", "detect", "fold", "halved", "holds", "negated", "numbers", "refuses", "sentences", "spans"]

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]")
_DASH = re.compile("[‐‑–—―−~〜-]")
_RANGE_DASH = re.compile("(?<=[0-9]) ?[‐‑–—―−~〜-] ?(?=[0-9])")
_MINUS = re.compile(r"[‐–—―−](?=\d)")
_NUMERIC = re.compile(r"([./:-](?=\d)(?:(?<=-)|(?<=\d.)))")
_FOLDED = re.compile("[0-9a-z\u4e00-\u9fff./:%-]*")
"""What folding leaves as it is: nothing in it changes, joins its neighbour, or stands where it would be dropped."""
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'）)】，。；？！]+", re.IGNORECASE)
_CJK_SHARE = 0.2


class _Dropped(dict[int, str | None]):
    """A table for `str.translate` that looks a character up once: what folding drops is None."""

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        category = unicodedata.category(char)
        drops = category[0] in "PZ" or category in ("Cc", "Cf", "Sk") or char == "|"
        self[code] = None if drops and char not in "%‰" else char
        return self[code]


_DROPPED = _Dropped()


def fold(text: str) -> str:
    """Return `text` as it is compared: two texts that fold to the same say the same.

    NFKC, case-folded, without white space and punctuation. Kept is what carries meaning in numbers: a point, slash or
    colon between digits, a minus or range dash before a digit (all dashes become "-"), %, ‰, currency, degree and
    mathematical signs. Idempotent.
    """
    if text.isascii():
        return _without_punctuation(text.lower())
    # Once more until nothing changes: what was dropped may have kept two characters apart that now combine.
    while (folded := _without_punctuation(_normal(text))) != text and not _FOLDED.fullmatch(folded):
        text = folded
    return folded


class Folded(dict[str, str]):
    """Texts, folded once each: for where several pieces are looked for in the same texts."""

    def __missing__(self, text: str) -> str:
        self[text] = fold(text)
        return self[text]


def holds(text: str, piece: str, folded: Folded | None = None) -> bool:
    """Return True if `piece` stands in `text`, word for word or once both are folded; what folds to nothing stands nowhere."""
    if piece in text and any(map(str.isalnum, piece)):
        return True
    found = fold(piece)
    return bool(found) and found in (folded[text] if folded is not None else fold(text))


def _normal(text: str) -> str:
    # ½ becomes 1⁄2, whose slash is not the one people type.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("⁄", "/")


def _without_punctuation(text: str) -> str:
    if _DASH.search(text):
        text = _MINUS.sub("-", _RANGE_DASH.sub("-", text))
    return "".join(part if i % 2 else part.translate(_DROPPED) for i, part in enumerate(_NUMERIC.split(text)))


def detect(*texts: str | None) -> Language:
    """Return the language of the first text that is not blank: `zh` if CJK letters are 20 % of its letters or more.

    A text without letters, or no text at all, is `en`.
    """
    text = next((t for t in texts if t and not t.isspace()), "")
    if text.isascii():
        return "en"
    letters = sum(map(str.isalpha, text))
    return "zh" if letters and len(_HAN.findall(text)) >= _CJK_SHARE * letters else "en"


def asks_back(text: str) -> bool:
    """Return True if `text` asks the reader something: ? or ？ outside a link, or an ask-back phrase of either language."""
    plain = _plain(_URL.sub(" ", text))
    return "?" in plain or _holds("asks_back", plain)


def refuses(text: str) -> bool:
    """Return True if `text` holds a refusal or a "not found" phrase of either language. Blank text refuses nothing."""
    return _holds("refuses", _plain(text))


def negated(text: str) -> bool:
    """Return True if `text` denies or forbids something; words that only look negative (不仅, "no later than") do not count."""
    return _holds("negation", _pattern("not_negation").sub(" ", _plain(text)))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("’", "'").split())


def _holds(words: str, text: str) -> bool:
    return _pattern(words).search(text) is not None


@functools.cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(_expressions(words)))


def _expressions(words: str) -> Iterator[str]:
    for language in ("zh", "en"):
        yield from (f"(?:{expression})" for expression in read_toml("languages", f"{language}.toml")[words])
