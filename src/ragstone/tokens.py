"""How many tokens a text is, as far as that can be told without the model's own tokenizer."""

BYTES = 4
"""Bytes of UTF-8 a token holds on average, whatever the script: four ASCII characters, or a Chinese character and a third."""
ERROR = 0.4
"""How far an estimate may lie from what an endpoint counts, as a share of it: half a vocabulary's worth of difference."""


def estimate(text: str) -> int:
    """Return an estimate of the tokens of a text, at least 1 unless it is empty; see `ERROR` for how far it may be off."""
    return estimate_bytes(text.encode("utf-8", "replace"))


def estimate_bytes(raw: bytes) -> int:
    """Return the estimate for UTF-8 bytes."""
    return -(-len(raw) // BYTES)
