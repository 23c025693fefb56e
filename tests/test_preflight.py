"""The preflight of a run is its own first chat and its own first embeddings request; what fails there stops it, naming what to change."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.fault_server import FaultServer, error
from support.server import PAGE, Answer
from support.told_rows import shared_out, table

from ragstone.cli.app import run

KEY = "sk-live-0123456789abcdef"
ENVIRON = {"RAGSTONE_JUDGE_API_KEY": KEY}
ROWS = [shared_out(f"row-{n:02}-", 1, 2) for n in range(12)]
GATEWAY = Answer(502, b"<html><title>502 Bad Gateway</title></html>", {"Content-Type": "text/html"})


class Watched(FaultServer):
    """Keeps, for every request, how many of its operation had been answered when it arrived."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.answered: dict[str, int] = {}
        self.before: dict[str, list[int]] = {}

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        operation = request.path.rpartition("/")[2]
        done = self.answered.setdefault(operation, 0)
        self.before.setdefault(operation, []).append(done)
        try:
            return await super()._handle(request)
        finally:
            self.answered[operation] += 1


@pytest.fixture(autouse=True)
def working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text("".join(json.dumps(row.row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")


def evaluate(url: str, *arguments: str, lang: str = "en", metrics: str = "faithfulness", out: str = "run") -> int:
    command = ["evaluate", "s.jsonl", "--out", out, "--judge", "m1", "--base-url", url, "--metrics", metrics, "--cache", "cache"]
    return run([*command, *arguments], lang, ENVIRON)


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def test_the_first_request_of_each_kind_goes_out_alone_and_nothing_extra(capsys):
    with Watched(table(ROWS)) as server:
        assert evaluate(server.url, "--embeddings", "e1", metrics="faithfulness,answer_relevancy") == 0
    capsys.readouterr()
    for operation in ("completions", "embeddings"):
        assert server.before[operation][0] == 0
        assert all(done >= 1 for done in server.before[operation][1:]), "the second one waits for the answer to the first"
    asked = [reply for reply in lines("run/replies.jsonl") if reply["kind"] != "cosine"]
    assert len(server.calls) == len(asked), "every request is a question whose reply is used"
    assert {json.dumps(reply["input"]) for reply in asked} == {json.dumps(call.input) for call in server.calls}
    counts = json.loads(Path("run/manifest.json").read_text(encoding="utf-8"))["counts"]
    assert counts["embedding_requests"] == len(server.asked("embeddings"))


def test_nothing_is_sent_when_all_is_cached(capsys):
    arguments = ["--embeddings", "e1"]
    with Watched(table(ROWS)) as server:
        assert evaluate(server.url, *arguments, metrics="faithfulness,answer_relevancy") == 0
        sent = len(server.seen)
        server.fault = lambda call: error(401, "no")
        assert evaluate(server.url, *arguments, metrics="faithfulness,answer_relevancy", out="again") == 0
        assert len(server.seen) == sent
    capsys.readouterr()


FAILURES = {
    "401": (error(401, f"Incorrect API key provided: {KEY}"), ["401", "RAGSTONE_JUDGE_API_KEY"]),
    "403": (error(403, "no access to this project"), ["403", "RAGSTONE_JUDGE_API_KEY"]),
    "402": (error(402, "Insufficient Balance"), ["402", "RAGSTONE_JUDGE_API_KEY"]),
    "404 route": (Answer(404, {"detail": "Not Found"}), ["404", "--base-url", "[judge] base_url"]),
    "404 model": (error(404, "The model `m1` does not exist", code="model_not_found"), ["404", "--judge", "[judge] model"]),
    "200 page": (PAGE, ["200", "--base-url", "[judge] base_url"]),
    "200 other": (Answer(200, {"status": "ok"}), ["200", "--base-url"]),
    "redirect": (Answer(302, b"", {"Location": "https://login.example.com/"}), ["302", "login.example.com", "--base-url"]),
    "405": (error(405, "Method Not Allowed"), ["405", "--base-url"]),
}


def told(err: str, url: str, words: list[str], lang: str) -> None:
    assert url in err
    assert "m1" in err
    assert [word for word in words if word not in err] == []
    assert KEY not in err
    assert "Traceback" not in err
    assert bool(re.search(r"[\u4e00-\u9fff]", err)) == (lang == "zh")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", FAILURES)
def test_what_fails_the_first_question_stops_the_run(name, lang, capsys):
    answer, words = FAILURES[name]
    with Watched(table(ROWS), lambda call: answer) as server:
        assert evaluate(server.url, lang=lang) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert len(server.seen) == 1
    told(err, server.url, words, lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_address_without_its_version_is_told(lang, capsys):
    with Watched(table(ROWS), lambda call: Answer(404, {"detail": "Not Found"})) as server:
        url = server.url.removesuffix("/v1")
        assert evaluate(url, lang=lang) == 3
    told(capsys.readouterr().err, url, ["404", "--base-url", f"{url}/v1"], lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_refused_connection_is_told(lang, capsys):
    with socket.create_server(("127.0.0.1", 0)) as held:
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
    assert evaluate(url, "--retries", "0", lang=lang) == 3
    told(capsys.readouterr().err, url, ["--base-url", "[judge] base_url"], lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_host_without_an_address_is_told(lang, capsys, monkeypatch):
    def unknown(*args: Any, **more: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # no test may ask a name server
    url = "http://no-such-host.invalid/v1"
    assert evaluate(url, "--retries", "0", lang=lang) == 3
    told(capsys.readouterr().err, url, ["--base-url", "no-such-host.invalid"], lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_server_without_tls_is_told(lang, capsys):
    with Watched(table(ROWS)) as server:
        url = server.url.replace("http://", "https://")
        assert evaluate(url, "--retries", "0", lang=lang) == 3
        assert server.seen == []
    told(capsys.readouterr().err, url, ["--base-url", "[judge] base_url"], lang)


EMBEDDINGS = {
    "401": (error(401, "no"), ["401", "RAGSTONE_EMBEDDINGS_API_KEY", "RAGSTONE_JUDGE_API_KEY"]),
    "402": (error(402, "Insufficient Balance"), ["402", "RAGSTONE_EMBEDDINGS_API_KEY"]),
    "404 route": (Answer(404, {"detail": "Not Found"}), ["404", "--embeddings-base-url", "[embeddings] base_url"]),
    "404 model": (error(404, "The model `e1` does not exist"), ["404", "--embeddings", "[embeddings] model"]),
    "200 page": (PAGE, ["200", "--embeddings-base-url"]),
    "redirect": (Answer(301, b"", {"Location": "https://other.example.com/"}), ["301", "other.example.com", "--embeddings-base-url"]),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_what_fails_the_first_embeddings_request_stops_the_run(name, lang, capsys):
    answer, words = EMBEDDINGS[name]
    with Watched(table(ROWS), embed=lambda seen: answer) as server:
        assert evaluate(server.url, "--embeddings", "e1", metrics="answer_relevancy", lang=lang) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert len(server.asked("embeddings")) == 1
    told(err.replace("e1", "m1"), server.url, [word.replace("e1", "m1") for word in words], lang)


def test_trouble_in_the_middle_is_no_preflight_and_costs_cells_only(capsys):
    with Watched(table(ROWS)) as server:
        server.fault = lambda call: error(500, "boom") if call.about("row-03-") else None
        assert evaluate(server.url, "--retries", "0", "--min-coverage", "0.5") == 0
    capsys.readouterr()
    assert [row["reason"] for row in lines("run/scores.jsonl") if row["status"] == "failed"] == ["server_error"]
