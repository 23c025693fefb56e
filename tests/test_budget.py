"""What a call may spend, on real sockets: the server counts what was sent."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.fault_server import Call, FaultServer
from support.server import Answer, refuse, say, vectors
from support.told_rows import shared_out, table

import ragstone
from ragstone import tokens
from ragstone.budget import GUESS, Account, Budget
from ragstone.config import Price
from ragstone.errors import BudgetError, ConfigError
from ragstone.judge.base import Identity

ROWS = [shared_out(f"row-{n:02}-", n % 4, 3, "zh" if n % 3 else "en") for n in range(24)]
PRICE = {"input": 2.0, "output": 8.0, "cached": 0.5}


def measured(call: Call) -> Answer:
    """A good reply with the token counts of a server whose tokenizer is not ours."""
    prompt = round(1.2 * sum(tokens.estimate(m["content"]) for m in call.seen.body["messages"]))
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.estimate(call.good),
        "prompt_tokens_details": {"cached_tokens": prompt // 2},
    }
    return say(call.good, usage=usage)


def embedded(seen: Any) -> Answer:
    texts = seen.body["input"]
    return vectors(*([1.0, 0.5] for _ in texts), usage={"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)})


def evaluate(server: FaultServer, out: Path, **settings: Any) -> ragstone.Run:
    rows = settings.pop("rows", ROWS)
    asked = {"judge": "m", "base_url": server.url, "embeddings": "e", "no_cache": True, **settings}
    return ragstone.evaluate([told.row for told in rows], out=out, **asked)


def files(out: Path) -> tuple[list[bytes], dict[str, Any]]:
    return sorted((out / "scores.jsonl").read_bytes().splitlines()), json.loads((out / "manifest.json").read_bytes())


def spent(server: FaultServer) -> tuple[int, int]:
    """Tokens of all that was sent, as the server told them."""
    answers = [measured(call).body["usage"] for call in server.calls]
    texts = sum(len(seen.body["input"]) for seen in server.asked("embeddings"))
    return sum(u["prompt_tokens"] for u in answers) + 3 * texts, sum(u["completion_tokens"] for u in answers)


def priced(folder: Path) -> None:
    (folder / "ragstone.toml").write_text(
        "[prices.m]\ninput = 2.0\noutput = 8.0\ncached = 0.5\n[prices.e]\ninput = 0.1\n", encoding="utf-8"
    )


# ------------------------------------------------------------------ whole runs
@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("limit", [1, 7, 40])
def test_no_more_calls_than_allowed_and_then_on_to_the_end(tmp_path: Path, limit: int, concurrency: int) -> None:
    with FaultServer(table(ROWS), measured, embedded) as server:
        evaluate(server, tmp_path / "unbroken", concurrency=concurrency)
        whole, before = len(server.calls), len(server.seen)
        embeddings = before - whole
        with pytest.raises(BudgetError, match=rf"--max-calls {limit}\..*{limit} requests.*`budget`") as stopped:
            evaluate(server, tmp_path / "run", concurrency=concurrency, max_calls=limit)
        assert stopped.value.exit_code == 3
        assert len(server.seen) - before == limit
        summary = ragstone.load(tmp_path / "run").summary()
        left = sum(m.reasons.get("budget", 0) for m in summary.metrics)
        assert f"{left} of {5 * len(ROWS)} cells" in str(stopped.value)
        assert left
        evaluate(server, tmp_path / "run", concurrency=concurrency)
        assert len(server.calls) - whole == whole
        assert len(server.seen) - before - whole <= 2 * embeddings + 2
        assert files(tmp_path / "run")[0] == files(tmp_path / "unbroken")[0]
        one, other = (files(tmp_path / name)[1]["tokens"] for name in ("run", "unbroken"))
        assert one == other


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("limit", [10_000, 40_000])
def test_tokens_stay_within_the_limit_up_to_the_error_of_what_is_under_way(tmp_path: Path, limit: int, concurrency: int) -> None:
    with FaultServer(table(ROWS), measured, embedded) as server:
        with pytest.raises(BudgetError, match="--max-tokens-total"):
            evaluate(server, tmp_path / "run", concurrency=concurrency, max_tokens_total=limit)
        used = sum(spent(server))
        request = max(measured(call).body["usage"]["prompt_tokens"] + GUESS for call in server.calls)
        assert used <= limit + tokens.ERROR * request * concurrency
        assert used >= limit - request * (concurrency + 1)


def test_a_limit_smaller_than_the_first_request_sends_nothing(tmp_path: Path) -> None:
    with FaultServer(table(ROWS), measured, embedded) as server:
        with pytest.raises(BudgetError, match=r"took 0 requests, 0 tokens\. 120 of 120 cells"):
            evaluate(server, tmp_path / "run", max_tokens_total=300)
        assert not server.seen


def test_cost_stays_within_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    priced(tmp_path)
    with FaultServer(table(ROWS), measured, embedded) as server:
        with pytest.raises(BudgetError, match=r"--max-cost 0\.05\..*cost 0\.0"):
            evaluate(server, tmp_path / "run", max_cost=0.05)
        prompt, completion = spent(server)
        assert 0.02 < (prompt * (0.5 * 2.0 + 0.5 * 0.5) + completion * 8) / 1e6 <= 0.05
        evaluate(server, tmp_path / "run")
        evaluate(server, tmp_path / "unbroken")
        costs = [files(tmp_path / name)[1]["cost"] for name in ("run", "unbroken")]
        assert costs[0]["by_metric"] == costs[1]["by_metric"]
        for cost in costs:
            assert cost["total"] == pytest.approx(sum(cost["by_metric"].values()) + cost["embeddings"])


def test_a_model_without_a_price_is_named_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with FaultServer(table(ROWS), measured) as server:
        with pytest.raises(ConfigError, match=r'\[prices\."m"\]'):
            evaluate(server, tmp_path / "run", max_cost=1)
        (tmp_path / "ragstone.toml").write_text("[prices.m]\ninput = 1\n", encoding="utf-8")
        with pytest.raises(ConfigError, match=r'\[prices\."e"\]'):
            evaluate(server, tmp_path / "run", max_cost=1.0)
        assert not server.seen
        assert not (tmp_path / "run").exists()


class Own:
    """A judge of the user's own, which sends as it likes."""

    identity = Identity("own", "https://own.example/v1")

    async def complete(self, question: Any) -> Any:
        raise AssertionError

    async def close(self) -> None:
        pass


def test_a_limit_that_could_not_be_kept_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--max-calls 3 cannot be kept"):
        ragstone.evaluate([ROWS[0].row], judge=Own(), max_calls=3, out=tmp_path / "run")
    ragstone.evaluate([ROWS[0].row], judge="local", max_calls=3, max_cost=0.1, no_cache=True, out=tmp_path / "run")


def test_tries_count(tmp_path: Path) -> None:
    def busy(call: Call) -> Answer:
        return refuse(503, Retry_After="0")

    with FaultServer(table(ROWS), busy, embedded) as server:
        with pytest.raises(BudgetError):
            evaluate(server, tmp_path / "run", max_calls=3, retries=10, metrics="faithfulness")
        assert len(server.seen) == 3


@pytest.mark.parametrize(("lang", "words"), [("en", "Run the same command again"), ("zh", "重新执行同一条命令即可从这里继续")])
def test_what_stopped_the_run_is_told_in_both_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, words: str) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with FaultServer(table(ROWS), measured, embedded) as server, pytest.raises(BudgetError, match=words):
        evaluate(server, tmp_path / "run", max_calls=3)


@pytest.mark.parametrize(("lang", "words"), [("en", "too small for even one request"), ("zh", "连一次请求都不够")])
@pytest.mark.parametrize("limit", [{"max_tokens_total": 10}, {"max_cost": 1e-6}])
def test_a_limit_below_one_request_is_said_to_be_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lang: str, words: str, limit: dict[str, Any]
) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    monkeypatch.chdir(tmp_path)
    priced(tmp_path)
    with FaultServer(table(ROWS), measured, embedded) as server:
        with pytest.raises(BudgetError, match=words):
            evaluate(server, tmp_path / "run", metrics="faithfulness", **limit)
        assert server.seen == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("model", ["gpt-4.1", 'a"b', "通义"])
def test_the_price_that_is_missing_is_told_as_it_stands_in_the_file(monkeypatch: pytest.MonkeyPatch, lang: str, model: str) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError) as told:
        ragstone.evaluate(ROWS, judge=model, base_url="http://127.0.0.1:9/v1", max_cost=1.0, no_cache=True)
    lines = str(told.value).partition("\n\n")[2]
    assert tomllib.loads(lines) == {"prices": {model: {"input": 0.3, "output": 1.2}}}


# ------------------------------------------------------------------ one account
def body(size: int) -> bytes:
    return b"x" * 4 * size


@pytest.mark.parametrize(
    ("data", "tokens_used", "unknown"),
    [
        ({"choices": [], "usage": {"prompt_tokens": 80, "completion_tokens": 20}}, 100, 0),
        ({"choices": [], "usage": {"input_tokens": 80, "output_tokens": 20, "cached_tokens": 7}}, 100, 0),
        ({"choices": [], "usage": {"prompt_tokens": 80, "completion_tokens": 0, "prompt_cache_hit_tokens": 64}}, 80, 0),
        ({"choices": [], "usage": {"prompt_tokens": 80}}, 80 + GUESS, 1),
        ({"choices": [], "usage": {"total_tokens": 90}}, 90 + GUESS, 1),
        ({"choices": [], "usage": {"total_tokens": 90, "completion_tokens": 20}}, 90, 0),
        ({"choices": [], "usage": None}, 100 + GUESS, 1),
        ({"choices": []}, 100 + GUESS, 1),
        ({"choices": [], "usage": "many"}, 100 + GUESS, 1),
        ({"choices": [], "usage": {"prompt_tokens": True, "completion_tokens": "8"}}, 100 + GUESS, 1),
        (None, 100 + GUESS, 1),
        ({"error": {"message": "busy"}}, 0, 0),
        ({"code": 50300, "message": "busy"}, 0, 0),
    ],
)
def test_what_came_back_takes_the_place_of_what_was_expected(data: Any, tokens_used: int, unknown: int) -> None:
    budget = Budget(max_tokens=10_000)
    ticket = Account(budget).take(body(100))
    assert ticket
    assert budget.reserved_tokens == 100 + GUESS
    ticket.settle(data)
    ticket.settle(data)
    assert (budget.reserved_tokens, budget.tokens, budget.unknown) == (0, tokens_used, unknown)


def test_later_requests_are_expected_at_what_the_endpoint_counts() -> None:
    budget = Budget(max_tokens=10_000)
    account = Account(budget)
    first = account.take(body(100))
    assert first
    first.settle({"usage": {"prompt_tokens": 150, "completion_tokens": 40}})
    account.take(body(200))
    assert budget.reserved_tokens == 300 + 40


def test_judge_and_embedder_draw_on_the_same_totals_at_their_own_prices() -> None:
    budget = Budget(max_cost=1.0)
    judge, embedder = Account(budget, Price(**PRICE)), Account(budget, Price(input=1.0), replies=False)
    for account, usage in (
        (judge, {"prompt_tokens": 1000, "completion_tokens": 100, "cached_tokens": 600}),
        (embedder, {"total_tokens": 5000}),
    ):
        ticket = account.take(body(10))
        assert ticket
        ticket.settle({"usage": usage})
    assert budget.cost == pytest.approx((400 * 2 + 600 * 0.5 + 100 * 8 + 5000) / 1e6)
    assert (embedder.prompt, embedder.unknown, judge.cached) == (5000, 0, 600)


def test_once_refused_all_are_refused() -> None:
    budget = Budget(max_tokens=1000)
    account = Account(budget)
    assert account.take(body(900)) is None
    assert account.take(body(1)) is None
    assert (budget.calls, budget.refused_by) == (0, "max_tokens_total")


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 800), st.integers(0, 800), st.booleans()), max_size=60), st.integers(1, 5000))
def test_what_is_spent_and_reserved_never_passes_the_limit_by_more_than_the_errors(asked: list[Any], limit: int) -> None:
    budget = Budget(max_tokens=limit)
    account, open_, errors = Account(budget), [], 0.0
    for size, prompt, reply, at_once in asked:
        ticket = account.take(body(size))
        if ticket is None:
            break
        open_.append((ticket, prompt, reply))
        while open_ and not at_once:
            under_way, real, written = open_.pop()
            errors += max(0.0, real + written - under_way.prompt - under_way.reply)
            under_way.settle({"usage": {"prompt_tokens": real, "completion_tokens": written}})
        assert budget.tokens + budget.reserved_tokens <= limit + errors + 1e-6
    for under_way, real, written in open_:
        under_way.settle({"usage": {"prompt_tokens": real, "completion_tokens": written}})
    assert budget.reserved_tokens == pytest.approx(0, abs=1e-6)
