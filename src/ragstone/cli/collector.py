"""The garbage collector of a process that only evaluates."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OFTEN, SELDOM = 50_000, 20
"""New objects between two looks at the young ones, and young looks between two at older ones; Python's own are 700 and 10."""


@contextmanager
def long_lived() -> Iterator[None]:
    """Leave what is loaded by now out of every search for garbage, and search less often; as before at the end.

    A request makes some thousand objects and hardly a cycle. A process that is not ours alone (a notebook) is left as it is.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(OFTEN, SELDOM, before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
