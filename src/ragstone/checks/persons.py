"""What looks like the data of a person in a text: telephone numbers, identity cards, bank cards, addresses of mail."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragstone.checks.words import expression

_MOBILE = re.compile(
    r"(?<![\d.A-Za-z-])(?:\+?86[- ]?)?1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])"
    r"(?:\d{8}|[- ]\d{4}[- ]\d{4})(?![\d.]?\d|[A-Za-z])"
)
_LANDLINE = re.compile(r"(?<![\d.A-Za-z-])(?:\(0\d{2,3}\)|（0\d{2,3}）|0\d{2,3})[- —－]{0,1}[2-8]\d{6,7}(?:[- ]\d{1,4})?(?![\d.]?\d)")
_IDENTITY = re.compile(r"(?<![\dA-Za-z])[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])")
_CARD = re.compile(r"(?<![\d.A-Za-z-])(?:62\d{2}|4\d{3}|5[1-5]\d{2}|3[47]\d{2})(?:[ -]?\d{4}){2,3}(?:[ -]?\d{1,3})?(?![\d.]?\d|[A-Za-z])")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,12}(?![\w-])", re.ASCII)
_ABROAD = re.compile(r"(?<![\d+A-Za-z])(?:\+|00)(?!86|1?800)[1-9]\d{0,2}[- ]?(?:\(\d{1,4}\)[- ]?)?\d{2,4}(?:[- ]?\d{2,4}){2,3}(?!\d)")
_AMERICAN = re.compile(
    r"(?<![\d.+A-Za-z-])(?!400|8(?:00|33|44|55|66|77|88))(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])"
    r"(?!555[-. ]01)[2-9]\d{2}[-. ]\d{4}(?![\d.-]?\d|[A-Za-z])"
)
_PLACEHOLDER = re.compile(r"(?<![\w-])(?:0\d{2,3}[- ]?|1[3-9]\d?[- ]?|400[- ]?)(?:[Xx×＊*]{3,}|\d{0,4}[Xx×＊*]{4,})[-\dXx×＊*]*(?![\w])")
_MORE_OF_A_NAME = re.compile(r"[._+-]\w+$")
_MADE_UP = re.compile(r"(\d)\1{5,}|12345678|01234567|87654321")
_REPEATED = re.compile(r"(\d)\1{5,}")
_PERIODIC = re.compile(r"(\d{1,4})\1{3,}")
"""As the numbers of cards that are published for trials: 4242 4242 4242 4242."""
_CLAUSE = re.compile("[。；;\n]")
_ANY = re.compile(r"\d{3}|@|[Xx×＊*]{3}")
_NARROW = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *map(ord, "＠＋＿"))}
_NARROW |= {0x3000: " ", 0xA0: " "}
_WIDE_JOINT = re.compile("(?<=[0-9A-Za-z])[－．](?=[0-9A-Za-z])")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)

SLIGHT = ("placeholder", "office")
"""What may stay: it is to be filled in, or belongs to an office."""
_KINDS = (
    ("identity", _IDENTITY),
    ("card", _CARD),
    ("mobile", _MOBILE),
    ("landline", _LANDLINE),
    ("mail", _MAIL),
    ("abroad", _ABROAD),
    ("american", _AMERICAN),
)
_SAID = {"abroad": "phone", "american": "phone"}
"""Kinds of numbers whose form does not tell whether they are mobile."""


def personal(text: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, piece) of what looks like the data of a person; "office" for a number or address of an office, "placeholder"
    for one that still has to be filled in. Public hotlines are none.
    """
    plain = _narrow(text)
    if _ANY.search(plain) is None:
        return
    taken: list[tuple[int, int]] = []
    for kind, pattern in _KINDS:
        for match in pattern.finditer(plain):
            if any(start < match.end() and match.start() < end for start, end in taken) or not _real(kind, match[0]):
                continue
            taken.append(match.span())
            yield "office" if _public(kind, match) else _SAID.get(kind, kind), text[slice(*match.span())]
    yield from (("placeholder", text[slice(*match.span())]) for match in _PLACEHOLDER.finditer(plain))


def _narrow(text: str) -> str:
    """The text with full-width digits, letters and what joins them in half width, a character each."""
    return text if text.isascii() else _WIDE_JOINT.sub(lambda match: "-" if match[0] == "－" else ".", text.translate(_NARROW))


def _public(kind: str, match: re.Match[str]) -> bool:
    """True of what an office gives out: any landline, a mailbox by its name, a mobile number that is said to be one."""
    if kind == "mail":
        name = match[0].partition("@")[0]
        return any(expression("office_names").fullmatch(part) for part in (name, _MORE_OF_A_NAME.sub("", name)))
    before = _before(match)
    if kind in _SAID:
        return expression("own_before").search(before) is None
    return kind == "landline" or (kind == "mobile" and expression("office_before").search(before) is not None)


def _before(match: re.Match[str]) -> str:
    """What stands before it in the same clause."""
    return _CLAUSE.split(match.string[max(0, match.start() - 24) : match.start()])[-1]


def _real(kind: str, piece: str) -> bool:
    digits = re.sub(r"\D", "", piece)
    if kind == "identity":
        return _identity(piece)
    if kind == "card":
        return 13 <= len(digits) <= 19 and _luhn(digits) and _MADE_UP.search(digits) is None and _PERIODIC.search(digits) is None
    if kind == "mail":
        return expression("office_hosts").search(piece) is None
    # no Chinese mobile numbers are set aside for examples: 138 1234 5678 is somebody's
    return (_REPEATED if kind == "mobile" else _MADE_UP).search(digits) is None


def _identity(piece: str) -> bool:
    """True if the check digit of GB 11643 is right."""
    total = sum(int(digit) * weight for digit, weight in zip(piece[:17], _WEIGHTS, strict=True))
    return "10X98765432"[total % 11] == piece[17].upper()


def _luhn(digits: str) -> bool:
    doubled = (int(digit) * (1 + i % 2) for i, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def mask(piece: str) -> str:
    """Return a number or address with its middle as stars, in half width."""
    plain = _narrow(piece)
    name, at, host = plain.partition("@")
    if at:
        return f"{name[:1]}***@{host}"
    if any(char in "Xx×＊*" for char in plain[:-1]):
        return piece
    return f"{plain[:3]}{'*' * max(3, len(plain) - 5)}{plain[-2:]}"


def masked(text: str) -> str:
    """Return `text` with the data of persons in it masked."""
    for kind, piece in list(personal(text)):
        if kind not in SLIGHT:
            text = text.replace(piece, mask(piece))
    return text
