"""Laws that hold for the whole path, whatever fails: drawn failures on rows of the bundled set."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.judges import Counting

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.base import RawReply
from ragstone.judge.scripted import ScriptedJudge
from ragstone.questions.base import Question

GOLD = Path(str(files("ragstone").joinpath("gold")))
TRUTH = orjson.loads((GOLD / "truth.json").read_bytes())
IDS = ("zh-contact-1", "zh-warranty-1", "en-list-1", "en-leave-2")
ROWS = [row for row in map(orjson.loads, (GOLD / "samples.jsonl").read_bytes().splitlines()) if row["id"] in IDS]
NEEDS = {
    "faithfulness": {"split_claims", "check_claims"},
    "answer_relevancy": {"invert_answer"},
    "context_precision": {"rate_contexts"},
    "context_recall": {"split_claims", "check_claims"},
    "answer_correctness": {"split_claims", "match_claims"},
}
KINDS = sorted(set().union(*NEEDS.values()))
Cells = dict[tuple[str, str], dict[str, Any]]


def row_of(question: Question) -> str:
    """The row a question is about: its question, a text or a chunk of it stands in the user JSON."""
    told = question.body.decode()
    (row,) = [
        r for r in ROWS if any(orjson.dumps(t).decode() in told for t in (r["question"], r["answer"], r["reference"], *r["contexts"]))
    ]
    return str(row["id"])


def cells(failing: frozenset[tuple[str, str]], word: str) -> Cells:
    def answer(question: Question, number: int) -> RawReply | None:
        return RawReply(error=word) if (row_of(question), question.kind.name) in failing else None

    judge = Counting(ScriptedJudge.from_dict(TRUTH), answer)
    run = ragstone.evaluate(ROWS, judge=judge, embeddings=ScriptedEmbedder.from_dict(TRUTH))
    return {(s.sample_id, s.metric): s.to_dict() for s in run.scores}


@cache
def unharmed() -> Cells:
    return cells(frozenset(), "")


@settings(max_examples=25)
@given(
    st.frozensets(st.tuples(st.sampled_from(IDS), st.sampled_from(KINDS)), max_size=5), st.sampled_from(["timeout", "blocked", "truncated"])
)
def test_what_fails_is_a_failed_cell_with_its_reason_and_changes_no_other(failing: frozenset[tuple[str, str]], word: str) -> None:
    found = cells(failing, word)
    assert found.keys() == unharmed().keys()
    for (row, metric), cell in found.items():
        hit = {kind for where, kind in failing if where == row} & NEEDS[metric]
        if hit:
            assert (cell["status"], cell["value"], cell["reason"]) == ("failed", None, word)
        else:
            assert cell == unharmed()[row, metric]


def test_every_cell_has_a_value_where_nothing_fails() -> None:
    assert {cell["status"] for cell in unharmed().values()} == {"ok"}
    assert all(0 <= cell["value"] <= 1 for cell in unharmed().values())
    with pytest.raises(ValueError, match="unpack"):
        row_of(Question(None, "zh", {}, b"{}", "", None, 0, ""))  # type: ignore[arg-type]
