import hashlib

from ragstone.sieve import Sieve


def key(number: int) -> bytes:
    return hashlib.sha256(number.to_bytes(4)).digest()[:16]


def test_what_was_added_is_never_missed() -> None:
    sieve = Sieve()
    for number in range(20_000):
        sieve.add(key(number))
    assert all(key(number) in sieve for number in range(20_000))


def test_little_else_is_held_for_known() -> None:
    sieve = Sieve()
    assert not any(key(number) in sieve for number in range(10_000))
    for number in range(100_000):
        sieve.add(key(number))
    assert sum(key(number) in sieve for number in range(200_000, 300_000)) < 100
