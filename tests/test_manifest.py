from typing import Any

import pytest

from ragstone import __version__
from ragstone.judge.base import Identity
from ragstone.manifest import Setup, continued, differences, finished, fresh, prompts_digest, signature
from ragstone.metrics import parse
from ragstone.plans import separate

JUDGE = Identity("deepseek-chat", "https://api.deepseek.com/v1", {"temperature": 0.0, "response_format": "json_schema"})
EMBEDDER = Identity("bge-m3", "http://127.0.0.1:9/v1")


def setup(judge: Identity = JUDGE, embedder: Identity = EMBEDDER, metrics: str = "faithfulness", **other: Any) -> Setup:
    return Setup(judge, embedder, [parse(metrics)], separate, other.get("language", "auto"), other.get("limits", {}))


def test_the_signature_is_one_line_that_says_what_the_numbers_were_made_with() -> None:
    said = signature(fresh(setup()))
    zh, en = prompts_digest(separate, "zh"), prompts_digest(separate, "en")
    assert said == (
        f"ragstone {__version__} | faithfulness v1 | judge deepseek-chat@api.deepseek.com t=0 | emb bge-m3@127.0.0.1:9 | "
        f"prompts en:{en} zh:{zh} | plan separate"
    )
    assert zh != en


def test_an_embedder_at_the_judges_address_is_named_without_it() -> None:
    assert "| emb bge-m3 |" in signature(fresh(setup(embedder=Identity("bge-m3", JUDGE.endpoint))))
    local = Identity("local", "local")
    assert "| judge local | emb use-m3 |" in signature(fresh(setup(local, Identity("use-m3", "local"))))
    assert "| emb use-m3 |" in signature(fresh(setup(embedder=Identity("use-m3", "local"))))


def test_the_smoke_test_notice_is_held_in_words() -> None:
    made = fresh(setup(Identity("local", "local", notice="judges.smoke_test")))
    assert made["judge"]["notice"] == "local heuristic judge: smoke test, not a measurement"
    assert "notice" not in fresh(setup())["judge"]


@pytest.mark.parametrize(
    ("metric", "defaults", "said"),
    [
        ("context_precision", {"context_precision": {"against": "answer"}}, "context_precision v1 against answer"),
        ("context_recall", {"context_recall": {"points": "facts"}}, "context_recall v1 facts only"),
        ("answer_relevancy", {"answer_relevancy": {"strictness": 1}}, "answer_relevancy v1 strictness 1"),
        ("answer_relevancy(strictness=1)", {}, "answer_relevancy(strictness=1) v1 |"),
    ],
)
def test_what_changes_a_score_shows(metric: str, defaults: dict[str, Any], said: str) -> None:
    made = fresh(Setup(JUDGE, EMBEDDER, [parse(metric, defaults)], separate, "auto", {}))
    assert said in made["signature"]


def test_language_limits_and_repeats_show_where_they_are_set() -> None:
    made = fresh(setup(language="zh", limits={"top_k": 3}), repeats=2)
    assert made["signature"].endswith("| language zh | top_k=3 | repeats 2")
    assert signature({}) == "ragstone ? |  | judge ? | emb ? | prompts  | plan ?"


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (setup(Identity("gpt-x", JUDGE.endpoint, JUDGE.parameters)), "judge"),
        (setup(Identity(JUDGE.model, "https://else.example/v1", JUDGE.parameters)), "judge"),
        (setup(Identity(JUDGE.model, JUDGE.endpoint, {**JUDGE.parameters, "temperature": 1.0})), "judge"),
        (setup(Identity(JUDGE.model, JUDGE.endpoint, {**JUDGE.parameters, "max_tokens": 77})), "judge"),
        (setup(embedder=Identity("other", EMBEDDER.endpoint)), "embedder"),
        (setup(language="en"), "language"),
        (setup(limits={"top_k": 1}), "limits"),
    ],
)
def test_what_may_not_change_on_resume_is_found(other: Setup, what: str) -> None:
    assert what in {found[0] for found in differences(fresh(setup()), fresh(other))}


def test_what_an_endpoint_taught_is_no_difference() -> None:
    learnt = Identity(JUDGE.model, JUDGE.endpoint, {"response_format": "json_object", "dropped": {"temperature": "only 1"}})
    ended = finished(fresh(setup()), setup(learnt), complete=True)
    assert ended["judge"]["parameters"]["dropped"] == {"temperature": "only 1"}
    assert differences(ended, fresh(setup())) == []


def test_other_metrics_add_to_a_run_and_the_same_one_may_not_change() -> None:
    old = fresh(setup(), repeats=1, run_id="r", created_at="t")
    new = fresh(setup(metrics="context_recall"), repeats=3)
    assert differences(old, new) == []
    joined = continued(old, new)
    assert list(joined["metrics"]) == ["faithfulness", "context_recall"]
    assert (joined["run_id"], joined["created_at"], joined["repeats"]) == ("r", "t", 3)
    old["metrics"]["faithfulness"]["version"] = 0
    assert [d[0] for d in differences(old, fresh(setup()))] == ["metric faithfulness"]


def test_what_an_old_manifest_does_not_say_is_no_difference() -> None:
    assert differences({}, fresh(setup())) == []
    assert differences({"judge": {"model": "deepseek-chat"}}, fresh(setup())) == []


def test_who_answered_is_kept_over_the_sessions_of_a_run() -> None:
    def answered(*models: str) -> Identity:
        return Identity(
            JUDGE.model, JUDGE.endpoint, JUDGE.parameters, answered_by=list(models) or None, fingerprints=["fp_1"] if models else None
        )

    first = finished(fresh(setup()), setup(answered("a", "b")))
    assert (first["judge"]["answered_by"], first["judge"]["fingerprints"]) == (["a", "b"], ["fp_1"])
    again = continued(first, fresh(setup(answered())))
    assert finished(again, setup(answered("b", "c")))["judge"]["answered_by"] == ["a", "b", "c"]
    assert finished(again, setup(answered()))["judge"]["answered_by"] == ["a", "b"]
    assert "answered_by" not in finished(fresh(setup()), setup())["judge"]
