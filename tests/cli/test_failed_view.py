import json

import pytest
from cases.conftest import FAILED

from ragstone.cli.app import run
from ragstone.cli.failed_view import SHOWN
from ragstone.cli.width import width
from ragstone.text import say

WORDS = ["timeout", "rate_limited", "server_error", "bad_gateway", "connection", "empty_reply", "bad_reply", "truncated", "too_long"]
WORDS += ["blocked", "verdicts 3/6", "no_questions", "embedding_missing", "embedding_zero", "embedding_dimension", "collect:timeout"]
WORDS += ["budget", "interrupted"]
LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])


def cell(sample, metric, reason, *questions):
    row = {"sample_id": sample, "metric": metric, "repeat": 0, "value": None, "status": "failed", "reason": reason}
    return {**row, "verdicts": [], "questions": list(questions), "detail": {}}


@pytest.fixture
def show(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def call(cells, replies=(), lang="en", *args):
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        for name, rows in (("scores", cells), ("replies", replies)):
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        assert run(["show", "run", "--failed", *args], lang, {}) == 0
        out = capfd.readouterr().out
        return out if args else out[out.index(say("failed.head", lang, count=len(cells))) :]

    return call


@LANGUAGES
@pytest.mark.parametrize("reason", WORDS)
def test_every_reason_says_in_one_line_what_can_be_done(show, reason, lang):
    assert FAILED.fullmatch(reason)
    lines = show([cell("s", "faithfulness", reason)], lang=lang).split("\n")
    advice = [line for line in lines if line.startswith("  →")]
    assert len(advice) == 1
    assert width(advice[0]) <= 80
    assert lines[2].startswith(reason)
    assert any(mark in advice[0] for mark in ("--", "again", "look at", "再次", "重新", "查看"))


@LANGUAGES
def test_200_failed_cells_stay_readable(show, lang):
    cells = [cell(f"sample-{n:03}", metric, WORDS[n % 6], f"k{n}") for n in range(100) for metric in ("faithfulness", "context_recall")]
    replies = [
        {"key": f"k{n}", "kind": "check_claims", "raw": None, "error": WORDS[n % 6], "message": "言" * 50 + " word" * 60}
        for n in range(100)
    ]
    lines = show(cells, replies, lang).split("\n")
    assert [line for line in lines if width(line) > 80] == []
    assert len(lines) < 6 * (SHOWN * 4 + 4)
    assert sum(say("failed.more", lang, count=2 * (16 - SHOWN)) in line for line in lines) == 2
    assert sum(say("failed.more", lang, count=2 * (17 - SHOWN)) in line for line in lines) == 4
    assert "--json" in "".join(lines[-5:])
    found = json.loads(show(cells, replies, lang, "--json"))
    assert len(found["failed_cells"]) == 200


def test_the_most_frequent_reason_comes_first_and_counts_of_verdicts_stand_together(show):
    cells = [cell("a", "faithfulness", "timeout"), cell("b", "faithfulness", "verdicts 1/3"), cell("c", "faithfulness", "verdicts 2/5")]
    out = show(cells)
    assert out.index("verdicts (2)") < out.index("timeout (1)")
    assert "  b · faithfulness · verdicts 1/3" in out
    assert "  a · faithfulness\n" in out


def test_metrics_that_one_reply_has_spoiled_stand_together_with_that_reply(show):
    cells = [cell("a", "faithfulness", "bad_reply", "good", "bad", "later"), cell("a", "answer_correctness", "bad_reply", "bad")]
    cells += [cell("a", "context_precision", "bad_reply", "other")]
    replies = [{"key": key, "kind": "check_claims", "raw": f"said {key}", "error": None} for key in ("good", "later")]
    replies += [{"key": key, "kind": "split_claims", "raw": f"said {key}", "error": "bad_reply"} for key in ("bad", "other")]
    out = show(cells, replies)
    assert (
        "  a · faithfulness, answer_correctness\n      split_claims: said bad\n  a · context_precision\n      split_claims: said other\n"
        in out
    )
    assert "said good" not in out
    assert "said later" not in out


def test_a_reason_of_another_version_is_listed_as_it_is(show):
    out = show([cell("a", "faithfulness", "sunspots")])
    assert "sunspots (1)\n  a · faithfulness\n" in out
