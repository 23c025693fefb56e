"""What a gold set and a run on it become: a data set, its items, and links between the run and the items.

An item holds what the gold fingerprint covers and nothing else, so that every run on the same gold set sends the same item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragstone.langfuse import ids
from ragstone.langfuse.frame import Frame
from ragstone.langfuse.payload import fitted, shortened, text
from ragstone.langfuse.units import Unit

if TYPE_CHECKING:
    from ragstone.export.content import Line

ITEM = 290_000
"""Bytes of input, of expected output, and of metadata of an item."""
Row = dict[str, Any]
_ASKED = ("question", "reference", "reference_points", "reference_contexts")
_UNTOLD = "without-texts"


def dataset_unit(frame: Frame) -> Unit:
    """Return the data set of a gold set."""
    known = {"gold_fingerprint": frame.gold_fingerprint} if frame.gold_fingerprint else {}
    name = dataset_name(frame)
    return Unit("dataset", name, {"name": name, "metadata": {"made_by": "ragstone", **known}})


def dataset_name(frame: Frame) -> str:
    """Return the name of the data set as it is sent."""
    return text(frame.dataset)


def item_unit(line: Line, frame: Frame) -> Unit:
    """Return the item of a sample's gold row: answers collected several times for one question have one item."""
    sample, row = line.sample, gold_row(line)
    input_, _ = fitted(sample.get("question", ""), ITEM)
    body: Row = {"datasetName": dataset_name(frame), "id": item_id(line, frame), "input": input_}
    if (expected := expected_of(sample)) is not None:
        body["expectedOutput"] = fitted(expected, ITEM)[0]
    known: Row = {"gold_row": row}
    if frame.gold_fingerprint:
        known["gold_fingerprint"] = frame.gold_fingerprint
    known |= {name: sample[name] for name in ("reference_points", "reference_contexts") if sample.get(name) is not None}
    body["metadata"] = fitted(known, ITEM)[0]
    return Unit("item", body["id"], body, sample_id=line.id)


def item_id(line: Line, frame: Frame) -> str:
    """Return the id of the item of a sample's gold row; of one whose texts the run does not hold another, which cannot replace it."""
    dataset, asked = dataset_name(frame), any(line.sample.get(name) is not None for name in _ASKED)
    return ids.item_id(dataset if asked else f"{dataset}/{_UNTOLD}", gold_row(line))


def gold_row(line: Line) -> str:
    """Return the id of the gold row that a sample was collected for."""
    meta = line.sample.get("meta")
    question = meta.get("question_id") if isinstance(meta, dict) else None
    if isinstance(question, str) and line.id.startswith(f"{question}#"):
        number = line.id[len(question) + 1 :]
        return question if number.isascii() and number.isdigit() else line.id
    return line.id


def expected_of(sample: Row) -> Any:
    """Return the expected answer: the reference, else its points; None where there is none."""
    found = sample.get("reference")
    return sample.get("reference_points") if found is None else found


def run_item_unit(line: Line, frame: Frame) -> Unit:
    """Return the link between a run and an item, for servers that do not read it from the trace."""
    trace = frame.trace_of(line.id)
    body = {
        "runName": text(frame.run_name),
        "datasetItemId": item_id(line, frame),
        "traceId": trace,
        "observationId": frame.span_of(line.id),
        "metadata": {name: text(value) for name, value in frame.known.items()},
    }
    if frame.signature:
        body["runDescription"] = shortened(text(frame.signature), 1000)
    return Unit("run_item", trace, body, sample_id=line.id)
