"""A run in Langfuse, end to end: what arrives is what was due, twice is once, and what is missing is named."""

import asyncio
import json
import math
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from support import hand_made
from support.langfuse_server import (
    DATASETS,
    INGESTION,
    ITEMS,
    OTLP,
    PROJECT,
    PUBLIC,
    RUN_ITEMS,
    SCORES,
    SECRET,
    Langfuse,
    LangfuseServer,
    ThreadedLangfuseServer,
)
from support.rag_server import Reply, fail

import ragstone
from ragstone.cli.app import run as command
from ragstone.config.delivery import ExportSettings, LangfuseSettings
from ragstone.errors import AuthError, ConfigError, EndpointError, RunFolderError, StoppedError
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.langfuse import LangfuseSink
from ragstone.export.receipt import Receipt
from ragstone.langfuse.ledger import FOLDER, Ledger
from ragstone.results import load
from ragstone.transport.retry import Backoff

Row = dict[str, Any]
MODES = [
    *[(generation,) for generation in ("v5", "v4", "dual", "v3")],
    *[(generation, manner) for generation in ("v5", "v4", "v3") for manner in ("partial", "rate", "flaky")],
    ("v5", "array_only"),
]
WRITES = {SCORES, INGESTION, OTLP, DATASETS, ITEMS, RUN_ITEMS}
GOLD = "5f3c1a77e0b24c9d"
METRICS = ("faithfulness", "context_recall")


def made_run(
    folder: Path, count: int = 23, gold: str = GOLD, value: Callable[[int], float | None] = lambda n: n % 11 / 10, **more: Any
) -> Path:
    """A run of `count` samples with two metrics; the second is failed on every third sample."""
    folder.mkdir(parents=True, exist_ok=True)
    samples, rows = list[Row](), list[Row]()
    for n in range(count):
        name = f"样本-{n}"
        samples.append(
            {"id": name, "question": f"问题 {n}?", "answer": f"答案 {n}", "contexts": [f"文本 {n}"], "reference": f"参考 {n}", **more}
        )
        told = value(n)
        rows.append(_row(name, "faithfulness", told, None if told is not None else "bad_reply"))
        rows.append(_row(name, "context_recall", None, "timeout") if n % 3 == 0 else _row(name, "context_recall", 1.0, None))
    manifest = {
        **hand_made.MANIFEST,
        "run_id": folder.name,
        "gold_fingerprint": gold,
        "metrics": {name: {"version": 1} for name in METRICS},
    }
    for file, lines in (("samples", samples), ("scores", rows)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{file}.jsonl").write_text(text, encoding="utf-8")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def _row(sample: str, metric: str, value: float | None, reason: str | None) -> Row:
    status = "ok" if value is not None else "failed"
    return {
        "sample_id": sample,
        "metric": metric,
        "version": 1,
        "repeat": 1,
        "value": value,
        "status": status,
        "reason": reason,
        "verdicts": [],
    }


def order(server: Any, tmp_path: Path, **more: Any) -> Order:
    return Order(environ=server.environ, cache=str(tmp_path / "cache"), **more)


async def send(run: Path, wanted: Order) -> Receipt:
    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    return await LangfuseSink(backoff=Backoff(), sleep=sleep).send(Content(load(run)), wanted)


def writes(server: LangfuseServer, since: int = 0) -> list[str]:
    return [asked.path for asked in server.seen[since:] if asked.method != "GET"]


def measured(run: Path) -> dict[tuple[str, str], float]:
    return {(row.sample_id, row.metric): row.value for row in load(run).scores if row.status == "ok" and row.value is not None}


def arrived(langfuse: Langfuse) -> dict[tuple[str, str], float]:
    """Scores of samples as the server holds them, read back by the trace they stand on."""
    names = {}
    for span in langfuse.spans():
        if "parentSpanId" not in span:
            names[span["traceId"], span["spanId"]] = json.loads(span["attributes"]["langfuse.trace.metadata.sample_id"])
    on_traces = [one for one in langfuse.scores() if "traceId" in one]
    found = {(names[one["traceId"], one["observationId"]], one["name"]): one["value"] for one in on_traces}
    assert len(found) == len(on_traces), "a score stands twice"
    return found


# ------------------------------------------------------------------ what arrives
@pytest.mark.parametrize("modes", MODES, ids="-".join)
async def test_what_arrives_is_what_was_due_and_twice_is_once(modes: tuple[str, ...], tmp_path: Path):
    run = made_run(tmp_path / "跑一")
    links = modes[0] in ("dual", "v3")
    async with LangfuseServer(*modes) as server:
        receipt = await send(run, order(server, tmp_path))
        kinds = {"dataset": 1, "item": 23, "trace": 23, "score": 23 + 15, "mean": 2, **({"run_item": 23} if links else {})}
        assert dict(receipt.due) == dict(receipt.accepted) == kinds
        assert (receipt.missing, receipt.rejected, dict(receipt.kept)) == (0, (), {})
        assert receipt.requests == len(server.seen)
        assert bool(receipt.retried) is (modes[-1] in ("partial", "rate", "flaky"))
        assert dict(receipt.unmeasured) == {"timeout": 8}
        held = server.langfuse.held()
        assert held["traces"] == held["items"] == 23
        assert held["datasets"] == 1
        assert held["run_items"] == (23 if links else 0)
        assert arrived(server.langfuse) == measured(run)
        assert server.langfuse.orphans() == []
        means = {one["name"]: one["value"] for one in server.langfuse.scores() if "datasetRunId" in one}
        assert means == {metric.metric: metric.mean for metric in load(run).summary().metrics}

        before = len(server.seen)
        again = await send(run, order(server, tmp_path))
        assert writes(server, before) == []
        assert (dict(again.accepted), dict(again.kept), again.missing) == ({}, kinds, 0)
        assert server.langfuse.held() == held


async def test_links_that_are_there_are_not_made_again(tmp_path: Path):
    run = made_run(tmp_path / "r", 230)
    async with LangfuseServer("v3") as server:
        first = await send(run, order(server, tmp_path))
        assert first.accepted["run_item"] == len(server.langfuse.run_items()) == 230
        ledger = next((run / FOLDER).glob("langfuse-*.jsonl"))
        lines = ledger.read_text("utf-8").splitlines(keepends=True)
        ledger.write_text("".join(line for n, line in enumerate(lines) if '"run_item"' not in line or n % 3), "utf-8")
        for _ in range(2):
            again = await send(run, order(server, tmp_path))
            assert (again.due["run_item"], again.kept["run_item"], again.missing) == (230, 230, 0)
            assert again.links == first.links
            ledger.unlink()
        assert len(server.langfuse.run_items()) == 230


@pytest.mark.parametrize("generation", ["v5", "v4", "v3"])
async def test_without_its_list_everything_is_sent_again_and_nothing_is_there_twice(generation: str, tmp_path: Path):
    run = made_run(tmp_path / "r")
    async with LangfuseServer(generation) as server:
        await send(run, order(server, tmp_path))
        held, scores, spans = server.langfuse.held(), server.langfuse.scores(), server.langfuse.spans()
        for file in (run / FOLDER).iterdir():
            file.unlink()
        again = await send(run, order(server, tmp_path))
        assert again.accepted["score"] == 38
        assert (server.langfuse.held(), server.langfuse.scores(), server.langfuse.spans()) == (held, scores, spans)


async def test_zero_one_a_half_nothing_and_nan_are_three_scores_today_and_tomorrow(tmp_path: Path):
    values = [0.0, 1.0, 0.5, None, math.nan]
    run = made_run(tmp_path / "r", 5, value=lambda n: values[n])
    rows = [row for row in (run / "scores.jsonl").read_text("utf-8").splitlines() if "faithfulness" in row]
    (run / "scores.jsonl").write_text("\n".join(rows) + "\n", "utf-8")
    (run / "manifest.json").write_text(json.dumps({**hand_made.MANIFEST, "run_id": "h23", "metrics": {"faithfulness": {"version": 1}}}))
    assert "NaN" in rows[4]
    async with LangfuseServer() as server:
        receipt = await send(run, order(server, tmp_path))
        assert (receipt.due["score"], receipt.accepted["score"]) == (3, 3)
        assert sorted(arrived(server.langfuse).values()) == [0.0, 0.5, 1.0]
        assert sum(receipt.unmeasured.values()) == 2
        held, before = server.langfuse.held(), len(server.seen)
        await send(run, order(server, tmp_path))
        assert writes(server, before) == []
        moved = run.rename(tmp_path / "tomorrow")
        next((moved / FOLDER).glob("langfuse-*.jsonl")).unlink()
        tomorrow = await send(moved, order(server, tmp_path))
        assert tomorrow.accepted["score"] == 3
        assert server.langfuse.held() == held
        stamps = {one["timestamp"] for one in server.langfuse.scores()}
        assert stamps == {"2026-01-05T08:00:00.000Z"}, "the time of the run, never that of the export"


async def test_a_run_that_names_no_time_keeps_that_of_its_first_export(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps({name: value for name, value in manifest.items() if name != "created_at"}))
    async with LangfuseServer() as server:
        await send(run, order(server, tmp_path))
        before = len(server.seen)
        await send(run, order(server, tmp_path))
        assert writes(server, before) == []


async def test_a_run_that_names_no_time_is_sent_once_though_its_list_is_gone(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    (run / "manifest.json").unlink()
    os.utime(run / "scores.jsonl", (1_780_000_000, 1_780_000_000))
    async with LangfuseServer() as server:
        await send(run, order(server, tmp_path))
        held = server.langfuse.held()
        assert {one["timestamp"] for one in server.langfuse.scores()} == {"2026-05-28T20:26:40.000Z"}
        shutil.rmtree(run / "exports")
        await send(run, order(server, tmp_path))
        assert server.langfuse.held() == held


async def test_a_gold_set_without_a_fingerprint_that_changes_is_another_data_set(tmp_path: Path):
    async with LangfuseServer() as server:
        for name, reference in (("a", "before"), ("b", "after")):
            run = made_run(tmp_path / name, 2, reference=reference)
            manifest = json.loads((run / "manifest.json").read_text())
            del manifest["gold_fingerprint"]
            (run / "manifest.json").write_text(json.dumps(manifest))
            await send(run, order(server, tmp_path))
        assert sorted(item["expectedOutput"] for item in server.langfuse.items()) == ["after", "after", "before", "before"]
        assert all(item["metadata"]["gold_fingerprint"][:8] == item["datasetName"][-8:] for item in server.langfuse.items())


@pytest.mark.parametrize("lost", ["all", "one"])
async def test_a_run_that_has_lost_its_texts_takes_none_from_the_items_that_are_there(lost: str, tmp_path: Path):
    whole, bare = made_run(tmp_path / "whole", 3), made_run(tmp_path / "bare", 3)
    lines = (bare / "samples.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (bare / "samples.jsonl").write_text("".join(lines[1:]) if lost == "one" else "", encoding="utf-8")
    async with LangfuseServer("v3") as server:
        await send(whole, order(server, tmp_path))
        before = {item["id"]: item for item in server.langfuse.items()}
        receipt = await send(bare, order(server, tmp_path))
        assert receipt.missing == 0
        after = {item["id"]: item for item in server.langfuse.items()}
        assert {name: after[name] for name in before} == before
        assert server.langfuse.orphans() == []


async def test_a_server_that_has_lost_the_project_gets_everything_again(tmp_path: Path):
    run = made_run(tmp_path / "r", 5)
    async with LangfuseServer() as server:
        await send(run, order(server, tmp_path))
        held = server.langfuse.held()
        server.langfuse = server.script = Langfuse("v5")
        await send(run, order(server, tmp_path))
        assert server.langfuse.held() == held


async def test_a_score_that_has_changed_is_sent_again_under_its_id(tmp_path: Path):
    run = made_run(tmp_path / "r", 6)
    async with LangfuseServer() as server:
        await send(run, order(server, tmp_path))
        held = server.langfuse.held()
        made_run(run, 6, value=lambda n: 0.25 if n == 4 else n % 11 / 10)
        again = await send(run, order(server, tmp_path))
        assert dict(again.accepted) == {"trace": 1, "score": 1, "mean": 1}
        assert server.langfuse.held() == held
        assert arrived(server.langfuse) == measured(run)


async def test_two_runs_on_one_gold_set_share_its_items_and_another_gold_set_has_its_own(tmp_path: Path):
    async with LangfuseServer() as server:
        for name, gold in (("a", GOLD), ("b", GOLD), ("c", "0" * 16)):
            receipt = await send(made_run(tmp_path / name, 5, gold), order(server, tmp_path))
            assert receipt.missing == 0
        assert {*server.langfuse.datasets} == {f"ragstone/{GOLD[:8]}", "ragstone/00000000"}
        assert len(server.langfuse.items()) == 10
        assert server.langfuse.held()["traces"] == 15
        assert all(item["metadata"]["gold_fingerprint"].startswith(item["datasetName"][-8:]) for item in server.langfuse.items())


async def test_names_in_chinese(tmp_path: Path):
    settings = ExportSettings(langfuse=LangfuseSettings(dataset="员工手册 问答/一期", experiment="提示词 v2", environment="ci"))
    async with LangfuseServer("v3") as server:
        run = made_run(tmp_path / "r", 4)
        receipt = await send(run, order(server, tmp_path, settings=settings))
        assert receipt.missing == 0
        assert [*server.langfuse.datasets] == [f"员工手册 问答/一期/{GOLD[:8]}"]
        assert {one["runName"] for one in server.langfuse.run_items()} == {"提示词 v2"}
        assert {one["environment"] for one in server.langfuse.scores()} == {"ci"}
        before = len(server.seen)
        await send(run, order(server, tmp_path, settings=settings))
        assert writes(server, before) == []


async def test_answers_collected_several_times_share_an_item(tmp_path: Path):
    run = made_run(tmp_path / "r", 4)
    for file in ("samples", "scores"):
        path = run / f"{file}.jsonl"
        path.write_text(path.read_text("utf-8").replace("样本-1", "样本-0#2").replace('样本-0"', '样本-0#1"'), "utf-8")
    rows = [json.loads(line) for line in (run / "samples.jsonl").read_text("utf-8").splitlines()]
    for row in rows[:2]:
        row["meta"] = {"question_id": "样本-0"}
    (run / "samples.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    async with LangfuseServer("v3") as server:
        receipt = await send(run, order(server, tmp_path))
        assert (receipt.due["item"], receipt.due["trace"], receipt.due["run_item"], receipt.missing) == (3, 4, 4, 0)


# ------------------------------------------------------------------ refused, stopped, killed
@pytest.mark.parametrize("generation", ["v5", "v4", "v3"])
async def test_what_is_refused_is_named_and_later_it_alone_is_sent(generation: str, tmp_path: Path):
    run = made_run(tmp_path / "r")
    async with LangfuseServer(generation) as server:
        server.langfuse.refused = _some_ids(run)
        receipt = await send(run, order(server, tmp_path))
        assert receipt.missing >= 3
        assert {one.id for one in receipt.rejected} == server.langfuse.refused
        assert {one.kind for one in receipt.rejected} == {"item", "trace", "score"}
        assert all("cannot be stored" in one.reason and one.sample_id for one in receipt.rejected)
        assert [one.metric for one in receipt.rejected if one.kind == "score"] == ["faithfulness"]
        server.langfuse.refused = set()
        again = await send(run, order(server, tmp_path))
        assert again.missing == 0
        assert dict(again.accepted) == {"item": 1, "trace": 1, "score": 1, **({"run_item": 1} if generation == "v3" else {})}
        assert arrived(server.langfuse) == measured(run)
        assert server.langfuse.orphans() == []


def _some_ids(run: Path) -> set[str]:
    from ragstone.langfuse import ids

    name = run.name
    return {
        ids.trace_id(PROJECT, name, "样本-7"),
        ids.score_id(PROJECT, name, "样本-9", "faithfulness"),
        ids.item_id(f"ragstone/{GOLD[:8]}", "样本-3"),
    }


@pytest.mark.parametrize("generation", ["v5", "v4"])
@pytest.mark.parametrize("taken", [0, 1, 2])
async def test_suspended_stops_with_what_the_server_says_and_the_rest_goes_once_lifted(generation: str, taken: int, tmp_path: Path):
    run = made_run(tmp_path / "r", 120)

    def closing(server: LangfuseServer) -> Callable[[Any], Reply]:
        left = [taken]

        def reply(asked: Any) -> Reply:
            if asked.path in (SCORES, INGESTION, OTLP) and asked.method == "POST":
                left[0] -= 1
                if left[0] < 0:
                    return fail(403, {"error": "ForbiddenError", "message": "Ingestion suspended: usage threshold exceeded"})
            return server.langfuse(asked)

        return reply

    async with LangfuseServer(generation) as server:
        server.script = closing(server)
        with pytest.raises(StoppedError, match="usage threshold exceeded") as told:
            await send(run, order(server, tmp_path))
        assert told.value.exit_code == 3
        server.script = server.langfuse
        again = await send(run, order(server, tmp_path))
        assert again.missing == 0
        assert again.kept["item"] == 120
        assert arrived(server.langfuse) == measured(run)
        assert again.kept.get("trace", 0) + again.kept.get("score", 0) > 0 or not taken
        assert again.kept.get("trace", 0) <= 50 * taken


@pytest.mark.parametrize("at", [0, 1, 30, 200, 260, 300])
async def test_killed_anywhere_the_next_export_brings_the_rest(at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Killed(BaseException):
        pass

    run, real, noted = made_run(tmp_path / "r", 60), Ledger.add, [0]

    def add(self: Ledger, units: Any) -> None:
        for unit in units:
            noted[0] += 1
            if noted[0] > at:
                raise Killed
            real(self, [unit])

    async with LangfuseServer("v3") as server:
        monkeypatch.setattr(Ledger, "add", add)
        if at < 300:
            with pytest.raises(Killed):
                await send(run, order(server, tmp_path))
        monkeypatch.setattr(Ledger, "add", real)
        again = await send(run, order(server, tmp_path))
        assert again.missing == 0
        assert sum(again.kept.values()) == (at if at < 300 else 0)
        assert arrived(server.langfuse) == measured(run)
        assert server.langfuse.orphans() == []


async def test_a_data_set_that_is_refused_stops_before_anything_else(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    async with LangfuseServer() as server:
        server.script = lambda asked: fail(400, {"message": "name taken by a folder"}) if asked.path == DATASETS else server.langfuse(asked)
        with pytest.raises(StoppedError, match="name taken by a folder"):
            await send(run, order(server, tmp_path))
        assert {*writes(server)} == {DATASETS}


async def test_a_data_set_that_was_removed_there_is_made_anew_with_its_items(tmp_path: Path):
    run = made_run(tmp_path / "r", 5)
    async with LangfuseServer() as server:
        await send(run, order(server, tmp_path))
        server.langfuse.datasets = {"another": {"id": "clds0000"}}
        server.langfuse._items = {}
        server.script = lambda asked: fail(403, {"message": "suspended"}) if asked.path == ITEMS else server.langfuse(asked)
        with pytest.raises(StoppedError):
            await send(run, order(server, tmp_path))
        server.script = server.langfuse
        again = await send(run, order(server, tmp_path))
        assert again.missing == 0
        assert again.accepted["item"] == again.accepted["trace"] == 5
        assert len(server.langfuse.items()) == 5
        assert server.langfuse.orphans() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("kind", ["keys", "organisation", "down", "page"])
async def test_wrong_keys_and_a_host_that_is_none_end_it(kind: str, lang: Any, tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    async with LangfuseServer("v5", *(["organisation"] if kind == "organisation" else [])) as server:
        environ = dict(server.environ)
        expected: type[StoppedError] = AuthError if kind in ("keys", "organisation") else EndpointError
        if kind == "keys":
            environ["LANGFUSE_SECRET_KEY"] = "sk-lf-of-somebody-else"
        if kind == "down":
            environ["LANGFUSE_HOST"] = "http://127.0.0.1:9"
        if kind == "page":
            server.script = Reply(200, "<html><title>Sign in</title></html>", "text/html")
        with pytest.raises(expected) as told:
            await send(run, replace(order(server, tmp_path, lang=lang), environ=environ))
        assert told.value.exit_code == 3
        assert environ["LANGFUSE_HOST"] in str(told.value)
        assert environ["LANGFUSE_SECRET_KEY"] not in str(told.value)
        assert writes(server) == []
        assert not (run / FOLDER).exists()


async def test_what_is_not_set_is_said_before_any_request(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    with pytest.raises(ConfigError, match="LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY, LANGFUSE_HOST"):
        await send(run, Order(environ={}))


async def test_two_exports_of_one_run_at_once_are_refused(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    async with LangfuseServer() as server:
        with (
            Ledger(run, host=server.url, project_id=PROJECT, run_name="r", timestamp="2026-01-05T08:00:00.000Z"),
            pytest.raises(RunFolderError),
        ):
            await send(run, order(server, tmp_path))
        assert writes(server) == []


# ------------------------------------------------------------------ samples read from Langfuse
def _origin(server: LangfuseServer, n: int, **more: Any) -> Row:
    return {"langfuse": {"trace_id": f"{n + 1:032x}", "observation_id": f"{n + 1:016x}", "host": server.url, "project_id": PROJECT, **more}}


def _read_from(run: Path, server: LangfuseServer, which: Callable[[int], bool] = lambda _: True, **more: Any) -> Path:
    rows = [json.loads(line) for line in (run / "samples.jsonl").read_text("utf-8").splitlines()]
    for n, row in enumerate(rows):
        if which(n):
            row["meta"] = _origin(server, n, **more)
            server.langfuse.foreign.add(f"{n + 1:032x}")
    (run / "samples.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return run


@pytest.mark.parametrize("generation", ["v5", "v4", "v3"])
async def test_scores_of_production_traces_go_back_onto_them_and_nothing_else_is_sent(generation: str, tmp_path: Path):
    async with LangfuseServer(generation) as server:
        run = _read_from(made_run(tmp_path / "r", 9), server)
        receipt = await send(run, order(server, tmp_path))
        assert dict(receipt.due) == dict(receipt.accepted) == {"score": 9 + 6}
        assert {*writes(server)} <= {SCORES, INGESTION}
        assert {one["traceId"] for one in server.langfuse.scores()} == {f"{n + 1:032x}" for n in range(9)}
        assert server.langfuse.orphans() == []
        before = len(server.seen)
        await send(run, order(server, tmp_path))
        assert writes(server, before) == []


async def test_some_samples_from_production_and_some_of_a_gold_set(tmp_path: Path):
    async with LangfuseServer("v3") as server:
        run = _read_from(made_run(tmp_path / "r", 10), server, lambda n: n % 2 == 0)
        receipt = await send(run, order(server, tmp_path))
        assert dict(receipt.due) == {"dataset": 1, "item": 5, "trace": 5, "run_item": 5, "score": 16, "mean": 2}
        assert receipt.missing == 0
        assert server.langfuse.orphans() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("elsewhere", [{"project_id": "another-project"}, {"host": "https://other.example"}])
async def test_samples_of_another_project_are_never_scored_in_this_one(elsewhere: Row, lang: Any, tmp_path: Path):
    async with LangfuseServer() as server:
        run = _read_from(made_run(tmp_path / "r", 4), server, lambda n: n == 3, **elsewhere)
        with pytest.raises(ConfigError) as told:
            await send(run, order(server, tmp_path, lang=lang))
        assert all(word in str(told.value) for word in (*elsewhere.values(), PROJECT, "样本-3"))
        assert writes(server) == []


# ------------------------------------------------------------------ dry run
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_dry_run_tells_what_would_be_sent_and_asks_nobody(lang: Any, tmp_path: Path):
    run = made_run(tmp_path / "r")
    async with LangfuseServer() as server:
        plan = await send(run, order(server, tmp_path, lang=lang, dry_run=True))
        assert dict(plan.due) == {"dataset": 1, "item": 23, "trace": 23, "score": 38, "mean": 2}
        assert (plan.dry_run, plan.missing, dict(plan.accepted), dict(plan.kept)) == (True, 0, {}, {})
        parts = [sum(map(int, re.findall(r"\d+", notice))) for notice in plan.notices]
        assert plan.requests in parts
        assert server.seen == []
        assert not (run / FOLDER).exists()
        done = await send(run, order(server, tmp_path))
        assert plan.requests <= done.requests <= plan.requests + 2, "links are looked for"
        assert dict(plan.due) == dict(done.due)
        count = len(server.seen)
        after = await send(run, order(server, tmp_path, dry_run=True))
        assert dict(after.kept) == dict(plan.due)
        assert len(server.seen) == count


async def test_a_dry_run_tells_what_the_free_plan_makes_of_it(tmp_path: Path):
    few = await send(made_run(tmp_path / "few", 10), Order(environ={}, dry_run=True))
    many = await send(made_run(tmp_path / "many", 450), Order(environ={}, dry_run=True))
    assert not any(" min" in notice for notice in few.notices)
    assert any("about 4 min" in notice for notice in many.notices), "451 requests for data set and items, 100 a minute"


async def test_a_dry_run_needs_no_keys(tmp_path: Path):
    plan = await send(made_run(tmp_path / "r", 3), Order(environ={}, dry_run=True))
    assert plan.due["trace"] == 3
    assert any("LANGFUSE_SECRET_KEY" in notice for notice in plan.notices)


# ------------------------------------------------------------------ what is told
async def test_the_receipt_names_place_notice_and_links_and_no_file_holds_a_key(tmp_path: Path):
    run, heard = hand_made.write_run(tmp_path / "r"), list[str]()
    async with LangfuseServer("v5", "rate") as server:
        server.langfuse.retry_after = "7"
        receipt = await send(run, order(server, tmp_path, tell=heard.append))
        assert receipt.target == f"{server.url} · tests ({PROJECT})"
        assert receipt.signature == hand_made.MANIFEST["signature"]
        (link,) = receipt.links
        assert link.startswith(f"{server.url}/project/{PROJECT}/experiments/results?baseline=")
        assert len([text for text in heard if "7 s" in text]) == 1, "told once, not a request"
        held = [path for path in tmp_path.rglob("*") if path.is_file()]
        texts = [path.read_bytes() for path in held] + [
            orjson.dumps(receipt.to_dict()),
            repr(receipt).encode(),
            *[text.encode() for text in heard],
        ]
        assert not any(secret.encode() in text for secret in (PUBLIC, SECRET) for text in texts)


async def test_a_server_with_run_items_is_linked_by_the_id_of_its_run(tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    async with LangfuseServer("v3") as server:
        first = await send(run, order(server, tmp_path))
        again = await send(run, order(server, tmp_path))
        assert first.links == again.links == (f"{server.url}/project/{PROJECT}/datasets/clds0000/runs/clrun0000",)


@pytest.mark.parametrize("generation", ["v3", "v4"])
async def test_under_an_earlier_name_again_its_means_stay_on_the_run_of_that_name(generation: str, tmp_path: Path):
    run = made_run(tmp_path / "r", 3)
    named = [ExportSettings(langfuse=LangfuseSettings(dataset=name, experiment=name)) for name in ("one", "other", "one")]
    async with LangfuseServer(generation) as server:
        first, other = [await send(run, order(server, tmp_path, settings=settings)) for settings in named[:2]]
        before = server.langfuse.scores()
        planned = await send(run, order(server, tmp_path, settings=named[2], dry_run=True))
        again = await send(run, order(server, tmp_path, settings=named[2]))
        assert first.links == again.links != other.links
        assert (planned.kept, again.kept, again.accepted) == (planned.due, first.due, {})
        assert server.langfuse.scores() == before


async def test_a_run_without_a_folder_is_sent_and_says_that_nothing_is_noted(tmp_path: Path):
    run = load(made_run(tmp_path / "r", 3)).in_memory()
    async with LangfuseServer() as server:
        for _ in range(2):
            receipt = await LangfuseSink().send(Content(run), order(server, tmp_path))
            assert receipt.missing == 0
            assert len(receipt.notices) == 1
        assert server.langfuse.held()["scores"] == 3 + 2 + 2


def test_in_python_with_a_loop_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run = made_run(tmp_path / "r", 3)
    with ThreadedLangfuseServer("v4") as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        receipt = ragstone.load(run).export("langfuse", experiment="提示词 v2")
        assert receipt.missing == 0
        assert receipt.accepted["score"] == 5


# ------------------------------------------------------------------ on the command line
@pytest.fixture
def typed(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)

    def go(server: Any, *args: str, lang: Any = "en") -> tuple[int, str, str]:
        for name, value in (server.environ if server else {}).items():
            monkeypatch.setenv(name, value)
        code = command(["export", "run", "--to", "langfuse", *args], lang, dict(server.environ) if server else {})
        out, err = capfd.readouterr()
        assert SECRET not in out + err
        assert PUBLIC not in out + err
        return code, out, err

    return go


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_command_exits_with_what_became_of_it(typed: Any, tmp_path: Path, lang: Any):
    from ragstone.langfuse import ids

    made_run(tmp_path / "run", 5)
    assert typed(None, lang=lang)[0] == 2
    with ThreadedLangfuseServer("v5", "suspended") as server:
        code, out, err = typed(server, lang=lang)
        assert (code, out) == (3, "")
        assert "usage threshold exceeded" in err
        server.langfuse.play("v5")
        bad = ids.score_id(PROJECT, "run", "样本-2", "faithfulness")
        server.langfuse.refused = {bad}
        code, out, _ = typed(server, "--json", lang=lang)
        told = json.loads(out)
        assert (code, told["missing"]) == (1, 1)
        assert [(one["kind"], one["id"], one["sample_id"], one["metric"]) for one in told["rejected"]] == [
            ("score", bad, "样本-2", "faithfulness")
        ]
        assert told["notice"] == load(tmp_path / "run").notice
        server.langfuse.refused = set()
        code, out, _ = typed(server, "--json", lang=lang)
        told = json.loads(out)
        assert (code, told["missing"], told["accepted"]) == (0, 0, {"score": 1})
        code, out, _ = typed(server, lang=lang)
        assert code == 0
        assert server.url in out


def test_names_from_a_settings_file(typed: Any, tmp_path: Path):
    made_run(tmp_path / "run", 3)
    (tmp_path / "ragstone.toml").write_text('[export.langfuse]\ndataset = "手册"\nexperiment = "提示词 v2"\nenvironment = "ci"\n', "utf-8")
    with ThreadedLangfuseServer("dual") as server:
        assert typed(server)[0] == 0
        assert [*server.langfuse.datasets] == [f"手册/{GOLD[:8]}"]
        assert {one["runName"] for one in server.langfuse.run_items()} == {"提示词 v2"}
