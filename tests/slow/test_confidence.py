"""How sure a real model was, told by a real server: SmolLM2-135M, served by llama.cpp."""

import pytest
from support.scores import reply_rows, score_rows

import ragstone
from ragstone.embed.bundled import BundledEmbedder
from ragstone.judge.http import HttpJudge
from ragstone.replay import replay
from ragstone.transport.memory import Memory

pytestmark = pytest.mark.slow

ROWS = [
    {
        "id": "zh",
        "question": "耳机保修多久？",
        "contexts": ["耳机自购买之日起保修一年。", "门店营业时间为九点至十八点。"],
        "reference": "耳机保修一年。",
    },
    {
        "id": "en",
        "question": "How long is the warranty?",
        "contexts": ["The headphones carry a warranty of one year.", "The shop opens at nine."],
        "reference": "The warranty lasts one year.",
    },
]


def test_a_real_server_tells_probabilities_and_no_score_changes(model_server, tmp_path):
    def evaluate(name, **known):
        memory = Memory(tmp_path / name)
        memory.keep(model_server, "smollm2-135m", known)
        judge = HttpJudge("smollm2-135m", model_server, None, max_tokens=120, concurrency=1, retries=1, memory=memory)
        run = tmp_path / name / "run"
        ragstone.evaluate(ROWS, metrics=["context_precision"], judge=judge, embeddings=BundledEmbedder(), out=run, no_cache=True)
        return run

    told, untold = evaluate("told", logprobs=True), evaluate("untold")
    replies = [row for row in reply_rows(told) if row["error"] is None]
    assert replies
    for reply in replies:
        assert reply["confidence"].keys() == {f"verdicts/{item['id']}" for item in reply["parsed"]["verdicts"]}
    lines = [line for row in score_rows(told) for line in row["verdicts"]]
    assert lines
    assert all(0 < line["confidence"] <= 1 for line in lines)
    assert len({line["confidence"] for line in lines}) > 1
    assert not any("confidence" in row for row in reply_rows(untold))
    assert [(r["sample_id"], r["value"], r["reason"]) for r in score_rows(told)] == [
        (r["sample_id"], r["value"], r["reason"]) for r in score_rows(untold)
    ]
    assert replay(told).changed == []
