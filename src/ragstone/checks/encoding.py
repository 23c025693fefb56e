"""Texts that were read in the wrong encoding, and characters that nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from ragstone.checks.base import Finding, Gold, Said, Severity
from ragstone.checks.texts import columns_of

_MOST_CHANGED = 4
"""Kinds of unseen characters that a finding names."""
_LOST = re.compile("[\ufffd]+|锟斤拷(?:锟斤拷|锟斤|锟)*|(?:烫烫|屯屯){2,}[烫屯]?|锘[\u4e00-\u9fff]")
_HIGH = "\u0080-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_UTF8_AS_LATIN = re.compile(f"[\u00c2-\u00f4][{_HIGH}]+(?:[ \u00c2-\u00f4{_HIGH}]*[{_HIGH}])?")
_GBK_AS_LATIN = re.compile("[\u00a1-\u00fe]{4,}")
_UTF8_AS_GBK = re.compile("[\u4e00-\u9fff\ue000-\uf8ff\u3000-\u30ff\u2000-\u206f€㈠-㈩\ufe30-\ufe4f\uff00-\uffef]{2,}")
_PLAUSIBLE = re.compile("[\u00a0-\u017f\u2010-\u2044\u20ac\u2122\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef\uac00-\ud7a3]*")
_SEVERAL = re.compile("[\u0370-\u052f\u0590-\u06ff\u0e00-\u0e7f]{2,}")
_HAN = re.compile("[\u4e00-\u9fff]")
_CP1252 = {bytes([code]).decode("cp1252"): code for code in range(0x80, 0xA0) if code not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ue000-\uf8ff\U000e0000-\U000e007f]"
)
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINING = re.compile("[\u0590-\u0dff\ufb1d-\ufdff\ufe70-\ufefc\u1780-\u17ff\u1800-\u18af]")
_FLAG_TAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007f]+")


def encoding(gold: Gold) -> Iterator[Finding]:
    """Yield mojibake and control_characters."""
    for row in gold.rows:
        for column, text in columns_of(row.sample):
            if text.isascii() and text.isprintable():
                continue
            if (broken := garbled(text)) is not None:
                piece, repaired = broken
                how = Said("check.repaired", {"repaired": repaired}) if repaired else Said("check.lost")
                yield row.found("mojibake", "warning", column, piece=piece, how=how)
            elif found := unseen(text):
                named = tuple(f"U+{ord(char):04X} × {count}" for char, count in sorted(found.items())[:_MOST_CHANGED])
                grave = column == "question" or any(char in _TURNING or unicodedata.category(char) == "Cc" for char in found)
                severity: Severity = "warning" if grave else "note"
                yield row.found("control_characters", severity, column, named=named, what=Said(_what(found)))


def garbled(text: str) -> tuple[str, str | None] | None:
    """Return (a garbled piece of `text`, what the piece was before if that can be told); None for a sound text."""
    if lost := _LOST.search(text):
        return lost[0], None
    for match in _UTF8_AS_LATIN.finditer(text):
        # a mark of quotation after the garbled piece looks like a part of it
        pieces = (match[0][: len(match[0]) - cut] for cut in range(min(3, len(match[0]) - 1)))
        read = {piece: sound for piece in pieces if (sound := _from_latin(piece)) is not None}
        if read:
            return next(((piece, sound) for piece, sound in read.items() if sound), (match[0], None))
    for match in _GBK_AS_LATIN.finditer(text):
        if found := _gbk(match[0]):
            return match[0], found
    for match in _UTF8_AS_GBK.finditer(text):
        if (found := _from_gbk(match[0])) is not None:
            return match[0], found or None
    return None


def _from_latin(piece: str) -> str | None:
    """UTF-8 read as Latin-1 or Windows-1252, once or twice; "" if something is lost, None if it is none."""
    raw = bytes(_CP1252.get(char, ord(char)) for char in piece)
    sound = raw.decode("utf-8", "ignore")
    if sound.encode() != raw and b" " in raw:  # a no-break space that became a common one on the way
        joined = raw.replace(b" ", b"\xa0")
        raw, sound = (joined, joined.decode("utf-8", "ignore")) if _decodes(joined) else (raw, sound)
    if _UTF8_AS_LATIN.fullmatch(sound) and (again := _from_latin(sound)) is not None:
        return again
    whole, dense = sound.encode() == raw, sound.replace(" ", "")
    if not dense or not (_PLAUSIBLE.fullmatch(dense) or _SEVERAL.fullmatch(dense)) or not (whole or len(dense.encode()) >= 3):
        return None
    return sound if whole else ""


def _decodes(raw: bytes) -> bool:
    try:
        return bool(raw.decode())
    except UnicodeDecodeError:
        return False


def _gbk(piece: str) -> str | None:
    """GBK read as Latin-1: every pair is one of the everyday characters."""
    raw = piece.encode("latin-1")
    if len(raw) % 2 or not all(0xB0 <= lead <= 0xD7 for lead in raw[::2]):
        return None
    return raw.decode("gb2312", "ignore") or None


def _from_gbk(piece: str) -> str | None:
    """UTF-8 read as GBK: what comes back is Chinese, nearly all of it; "" if something in its middle is lost."""
    sound = piece.encode("gbk", "ignore")
    if not 0xE3 <= sound[0] <= 0xEF if sound else True:
        return None
    found = sound.decode("utf-8", "replace")
    good, bad = len(_HAN.findall(found)), found.count("\ufffd")
    if good < 2 or bad > good // 2 or good + bad < 0.8 * len(found):
        return None
    found = found.rstrip("\ufffd")
    return "" if "\ufffd" in found else found


# ------------------------------------------------------------------ unseen characters
def unseen(text: str) -> Counter[str]:
    """Return the characters of `text` that nobody sees and that change what is compared, with how often they come."""
    if _UNSEEN.search(text) is None:
        return Counter()
    plain = _FLAG_TAGS.sub("", text)
    right_to_left, joining = bool(_RIGHT_TO_LEFT.search(plain)), bool(_JOINING.search(plain))
    return Counter(match[0] for match in _UNSEEN.finditer(plain) if not _in_place(plain, match.start(), right_to_left, joining))


def _in_place(text: str, at: int, right_to_left: bool, joining: bool) -> bool:
    """Joiners of emoji and of scripts that join, and marks of direction beside letters that run from right to left."""
    char = text[at]
    if char == "\u200d" and at and unicodedata.category(text[at - 1]) in ("So", "Sk", "Mn"):
        return True
    if char in "\u200c\u200d":
        return joining
    return right_to_left and char in "\u061c\u200e\u200f\u2066\u2067\u2068\u2069\u202a\u202b\u202c"


def _what(found: Counter[str]) -> str:
    if any(char in _TURNING for char in found):
        return "check.turns_direction"
    return "check.private_use" if all("\ue000" <= char <= "\uf8ff" for char in found) else "check.unseen"
