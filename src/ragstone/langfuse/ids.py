"""Ids that are always the same for the same thing: of project, run, sample and metric, never of values, order, or what else is sent.

Those of traces, observations and experiments are the ids that Langfuse's own SDK makes of the same seeds.
"""

from __future__ import annotations

from hashlib import sha256

import orjson

LONGEST = 255
"""Bytes of an item's id."""
_ROOT = "root"


def seed(*parts: str) -> str:
    """Return what an id is made of: the parts with `|` between them; one within a part is escaped, so that parts stay apart."""
    return "|".join([_escaped(part) if "|" in part or "\\" in part else part for part in parts])


def trace_id(project: str, run: str, sample: str) -> str:
    """Return the trace of a sample: 32 hex digits."""
    return _digest(seed(project, run, sample))[:32]


def span_id(project: str, run: str, sample: str, role: str = _ROOT) -> str:
    """Return an observation of a sample's trace: 16 hex digits; `role`: which one, by default the root."""
    return _digest(seed(project, run, sample, role))[:16]


def score_id(project: str, run: str, sample: str, metric: str) -> str:
    """Return the score of one metric on one sample: 32 hex digits."""
    return _digest(seed(project, run, sample, metric))[:32]


def mean_id(project: str, run: str, metric: str) -> str:
    """Return the score of one metric on a whole run: 32 hex digits."""
    return _digest(seed(project, run, metric))[:32]


def experiment_id(project: str, dataset: str, run: str) -> str:
    """Return the experiment of a run on a data set: 16 hex digits; `dataset`: the id that Langfuse gave it, not its name."""
    told = orjson.dumps([_whole(part) for part in ("langfuse-experiment-v1", project, dataset, run)])
    return sha256(told).hexdigest()[:16]


def item_id(dataset: str, row: str) -> str:
    """Return the item of a row of the gold set: `<data set>/<row>`, at most 255 bytes; where that is too long or would not show, a digest.

    Ids of items are unique in a whole project and belong to one data set for good: that is why its name stands in front.
    """
    plain = f"{dataset}/{row}"
    if plain.isprintable() and _whole(plain) == plain and len(plain.encode()) <= LONGEST:
        return plain
    digest = _digest(seed(dataset, row))[:32]
    room = LONGEST - len(digest) - 1
    front = _whole(dataset).encode()[:room].decode("utf-8", "ignore")
    return f"{front if front.isprintable() else 'ragstone'}/{digest}"


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _whole(text: str) -> str:
    """Return a text that UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()


def _escaped(part: str) -> str:
    return part.replace("\\", "\\\\").replace("|", "\\|")
