"""A laboratory for cases: rows, a good judge with a fault between, the command line; what must hold in every case is asserted each time."""

import functools
import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.fault_server import Fault, FaultServer
from support.told_rows import Told, table

import ragstone
from ragstone.cli.app import run
from ragstone.cli.tables import summary_table
from ragstone.errors import RagstoneError
from ragstone.types import Language

ALL = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")
LIMIT = 120
"""Seconds no case needs; longer is a hang."""
FAILED = re.compile(
    r"timeout|rate_limited|server_error|bad_gateway|connection|empty_reply|bad_reply|truncated|too_long|blocked|verdicts \d+/\d+"
    r"|no_questions|embedding_(missing|zero|dimension)|collect:\S+|budget|interrupted"
)
NOT_APPLICABLE = re.compile(r"no_claims|no_reference_claims|contexts_missing|missing:\w+|expected_(refusal|clarification)")
NOTED = re.compile(r"no_context|empty_answer")


def strict(text: str | bytes) -> Any:
    """JSON as the standard has it: NaN and Infinity are no numbers."""

    def refuse(token: str) -> Any:
        raise AssertionError(f"{token} in JSON")

    return json.loads(text, parse_constant=refuse)


def lines(path: Path) -> list[dict[str, Any]]:
    return [strict(line) for line in path.read_bytes().splitlines()]


@dataclass
class Outcome:
    """What a command line left behind."""

    code: int
    out: str
    err: str
    folder: Path
    server: FaultServer
    scores: list[dict[str, Any]] = field(default_factory=list)

    def cell(self, sample: str, metric: str = "faithfulness") -> float | str:
        """The value of a cell, or the reason why it has none."""
        (row,) = [row for row in self.scores if (row["sample_id"], row["metric"]) == (sample, metric)]
        return row["reason"] if row["value"] is None else row["value"]

    def row(self, sample: str, metric: str = "faithfulness") -> dict[str, Any]:
        (row,) = [row for row in self.scores if (row["sample_id"], row["metric"]) == (sample, metric)]
        return row

    def values(self, metric: str = "faithfulness") -> list[float | str]:
        return [self.cell(row["sample_id"], metric) for row in self.scores if row["metric"] == metric]

    @property
    def replies(self) -> list[dict[str, Any]]:
        return lines(self.folder / "replies.jsonl")

    @property
    def manifest(self) -> dict[str, Any]:
        return strict((self.folder / "manifest.json").read_bytes())


class Laboratory:
    """Runs one case; `ask` may be called again with the same server, then the same folder is resumed."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def write(self, rows: Sequence[Told]) -> Path:
        path = self.folder / "samples.jsonl"
        path.write_text("".join(json.dumps(told.row, ensure_ascii=False) + "\n" for told in rows), encoding="utf-8")
        return path

    @contextmanager
    def server(self, rows: Sequence[Told], fault: Fault | None = None, **more: Any) -> Iterator[FaultServer]:
        truth = {**table(rows), "vectors": more.pop("vectors", {})}
        with FaultServer(truth, fault, **more) as server:
            yield server

    def command(self, args: Sequence[str], environ: dict[str, str] | None = None, lang: Language = "en") -> tuple[int, str, str]:
        with _watched():
            code = run(args, lang, environ or {})
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err, err
        return code, out, err

    def evaluate(
        self,
        rows: Sequence[Told],
        fault: Fault | None = None,
        *args: str,
        metrics: str = "faithfulness",
        environ: dict[str, str] | None = None,
        finished: bool = True,
        source: Path | None = None,
        cli: bool = False,
        **more: Any,
    ) -> Outcome:
        """Evaluate rows against a good judge with a fault, and assert what holds in every case."""
        with self.server(rows, fault, **more) as server:
            return self.ask(server, source or self.write(rows), *args, metrics=metrics, environ=environ, finished=finished, cli=cli)

    def ask(
        self,
        server: FaultServer,
        source: Path,
        *args: str,
        metrics: str = "faithfulness",
        environ: dict[str, str] | None = None,
        finished: bool = True,
        out: str = "run",
        cli: bool = False,
    ) -> Outcome:
        """Evaluate through the Python API, or where screen or environment matter through the command line."""
        flags = ["--judge", "m", "--base-url", server.url, "--metrics", ",".join(ALL) if metrics == "all" else metrics, "--no-cache", *args]
        flags += [] if "--embeddings" in args else ["--embeddings", "e"]
        folder = self.folder / out
        if cli or environ is not None:
            said = self.command(["evaluate", str(source), "--out", str(folder), *flags], environ)
        else:
            said = self._called(source, folder, flags)
        outcome = Outcome(*said, folder, server)
        if finished:
            assert outcome.code in (0, 1), outcome.err
            outcome.scores = lines(folder / "scores.jsonl")
            self.hold(outcome, _ids(folder), _split(flags[5]))
        return outcome

    def _called(self, source: Path, folder: Path, flags: list[str]) -> tuple[int, str, str]:
        """What the command line would say of the same evaluation, notices left out."""
        try:
            with _watched():
                run = ragstone.evaluate(source, out=folder, **_settings(flags))
        except RagstoneError as stopped:
            return stopped.exit_code, "", str(stopped)
        summary = run.summary()
        return int(not summary.covered), summary_table(summary, "en"), ""

    def hold(self, outcome: Outcome, ids: list[str], metrics: list[str]) -> None:
        """Assert what must hold whatever happened."""
        assert outcome.code in (0, 1), outcome.err
        assert outcome.server.mistakes == []
        cells = [(row["sample_id"], row["metric"]) for row in outcome.scores]
        assert len(cells) == len(set(cells))
        assert set(cells) == {(id, metric) for id in ids for metric in metrics}
        assert [id for id, metric in cells if metric == metrics[0]] == ids, "rows stand in sample order"
        for row in outcome.scores:
            _hold_cell(row)
        for file in outcome.folder.rglob("*.json*"):
            for line in [file.read_bytes()] if file.suffix == ".json" else file.read_bytes().splitlines():
                strict(line)
        said = set(outcome.server.said)
        for row in outcome.replies:
            assert row["kind"] == "cosine" or row["raw"] is None or row["raw"] in said
        self._hold_summary(outcome, metrics)

    def summary(self, outcome: Outcome) -> dict[str, dict[str, Any]]:
        """The metrics of `show --json` by name."""
        document = strict(orjson.dumps(ragstone.load(outcome.folder).summary().to_dict()))
        return {m["metric"]: m for m in document["metrics"]}

    def _hold_summary(self, outcome: Outcome, metrics: list[str]) -> None:
        shown = self.summary(outcome)
        assert list(shown) == metrics
        for name, m in shown.items():
            rows = [row for row in outcome.scores if row["metric"] == name]
            values = [row["value"] for row in rows if row["status"] == "ok"]
            failed = sum(row["status"] == "failed" for row in rows)
            assert (m["n"], m["failed"], m["total"]) == (len(values), failed, len(rows))
            assert m["mean"] == (pytest.approx(sum(values) / len(values), abs=1e-12) if values else None)
            assert m["coverage"] == (len(values) / (len(values) + failed) if values or failed else None)
            assert f"{m['n']}/{m['total']}" in outcome.out
        limit = outcome.manifest["min_coverage"]
        assert outcome.code == int(any(m["coverage"] is not None and m["coverage"] < limit for m in shown.values()))


def _settings(flags: list[str]) -> dict[str, Any]:
    """Flags of a command line as keywords."""
    found: dict[str, Any] = {}
    values = iter(flags)
    for flag in values:
        name = flag.removeprefix("--").replace("-", "_")
        if name in ("no_cache", "retry_failed", "force", "strip_citations"):
            found[name] = True
        elif name == "map":
            found.setdefault(name, []).append(next(values))
        else:
            found[name] = next(values)
    return found


def _hold_cell(row: dict[str, Any]) -> None:
    value, reason = row["value"], row["reason"]
    if row["status"] == "ok":
        assert isinstance(value, float | int)
        assert not isinstance(value, bool)
        assert 0 <= value <= 1
        assert reason is None or NOTED.fullmatch(reason)
    else:
        assert value is None
        assert (FAILED if row["status"] == "failed" else NOT_APPLICABLE).fullmatch(reason), row


def _ids(folder: Path) -> list[str]:
    return [row["id"] for row in lines(folder / "samples.jsonl")]


def _split(metrics: str) -> list[str]:
    return re.split(r",(?![^(]*\))", metrics)


@functools.cache
def _entry_points(**wanted: str) -> tuple[EntryPoint, ...]:
    return tuple(entry_points(**wanted))


@contextmanager
def _watched() -> Iterator[None]:
    """A command that does not end fails the test instead of hanging it."""

    def end(*_: Any) -> None:
        raise AssertionError(f"still running after {LIMIT} s")

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGALRM, end)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def lab(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    monkeypatch.chdir(tmp_path)
    # Hundreds of runs: what a power cut would lose and what else is installed is not the matter here, and takes half the time.
    monkeypatch.setattr(os, "fsync", lambda file: None)
    for module in ("ragstone.metrics", "ragstone.judge.select"):
        monkeypatch.setattr(f"{module}.entry_points", _entry_points)
    return Laboratory(tmp_path, capsys)
