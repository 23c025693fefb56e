"""How many tokens a text is, as far as that can be told without the model's own tokenizer."""

LATIN = 0.25
"""Tokens an ASCII character takes on average."""
WIDE = 0.75
"""Tokens any other character takes on average; vocabularies made for Chinese take less, older ones more."""
ERROR = 0.4
"""How far an estimate may lie from what an endpoint counts, as a share of it: half a vocabulary's worth of difference."""


def estimate(text: str) -> int:
    """Return an estimate of the tokens of a text, at least 1 unless it is empty; see `ERROR` for how far it may be off."""
    return estimate_sizes(len(text), len(text.encode("utf-8", "replace")))


def estimate_bytes(raw: bytes) -> int:
    """Return the estimate for UTF-8 bytes."""
    return estimate_sizes(len(raw.decode("utf-8", "replace")), len(raw))


def estimate_sizes(characters: int, octets: int) -> int:
    """Return the estimate for a text of so many characters that takes so many bytes as UTF-8.

    A Chinese character takes three bytes, so the two sizes tell how many of the characters are such.
    """
    wide = min(characters, (octets - characters) // 2)
    return -int(-(LATIN * (characters - wide) + WIDE * wide) // 1)
