"""The key is sent as a header and stands nowhere else: not on disk, not on the screen, in no log, error, traceback, repr or pickle."""

import asyncio
import base64
import contextlib
import copy
import html
import json
import logging
import os
import pickle
import re
import subprocess
import sys
import traceback
from urllib.parse import quote

import pytest
from support.asking import embedder, judge, question
from support.fault_server import FaultServer, error, reply
from support.server import Answer, Server, embed, refuse
from support.told_rows import EN, shared_out, table

from ragstone.cli.app import run
from ragstone.embed.http import HttpEmbedder
from ragstone.errors import ConfigError, StoppedError
from ragstone.judge.http import HttpJudge
from ragstone.judge.select import first_key, named_key
from ragstone.transport.endpoint import JUDGE, Endpoint, Key

KEYS = {
    "usual": "sk-9Qx7LmZr2TbWk4Vd8Pn3",
    "project": "sk-proj-aB3_dE6-fG9hJ2kL5mN8pQ1rS4tU7vW0xY3z",
    "six": "q7Zk2x",
    "ten": "pw0rd-9x.Y",
    "regex": "a+b*(c)[d]{3}^$|.?x9",
    "quotes": "key\"with'quotes`9",
    "backslash": "dom\\user\\n0\\u0041x",
    "percent": "100%25key%41%s{0}x7",
    "markup": "<k3y>&amp;tail;",
    "base64": "Zm9v+YmFy/cXV4eg0==",
}
SHAPES = {
    "as it is": lambda key: f"Incorrect API key provided: {key}",
    "header": lambda key: f"headers: {{'Authorization': 'Bearer {key}', 'Host': 'x'}}",
    "URL-encoded": lambda key: f"GET /v1?api_key={quote(key, safe='')}&x=1",
    "URL-encoded twice": lambda key: f"next={quote(quote(key, safe=''), safe='')}",
    "JSON-escaped": lambda key: "".join(f"\\u{ord(char):04x}" for char in key),
    "JSON in JSON": lambda key: json.dumps(json.dumps({"key": key})),
    "base64": lambda key: "Basic " + base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 of the header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "over lines": lambda key: "\n".join(key[i : i + 4] for i in range(0, len(key), 4)),
    "over escaped lines": lambda key: "\\n".join(key[i : i + 5] for i in range(0, len(key), 5)),
    "upper case": lambda key: key.upper(),
    "lower case": lambda key: key.lower(),
    "HTML": lambda key: f"<p>{html.escape(key)}</p>",
    "HTML by number": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "hexadecimal": lambda key: key.encode().hex(),
}


def traces(key):
    """The key as any reader could find it: its spellings in lower case, blanks and backslashes left out."""
    raw = key.encode()
    found = {key, quote(key, safe=""), html.escape(key), raw.hex(), json.dumps(key)[1:-1]}
    found |= {base64.b64encode(b"\0" * shift + raw).decode()[4:-4] for shift in range(3) if len(raw) > 9}
    return {squeezed(text) for text in found}


def squeezed(text):
    return "".join(text.replace("\\n", "").replace("\\", "").split()).lower()


def hold(key, *texts):
    for text in texts:
        plain = squeezed(text)
        assert [trace for trace in traces(key) if trace in plain] == [], text[:600]


def everything_in(folder):
    return [path.read_bytes().decode("utf-8", "replace") for path in folder.rglob("*") if path.is_file()]


# ------------------------------------------------------------------ masks
# too little of a short key stands apart in base64 to be told from a word
TOLD = [(name, shape) for name in KEYS for shape in SHAPES if len(KEYS[name]) >= 12 or not shape.startswith("base64")]


@pytest.mark.parametrize(("name", "shape"), TOLD)
def test_a_key_is_masked_in_every_shape_a_server_may_repeat_it_in(name, shape):
    key = KEYS[name]
    endpoint = Endpoint("https://host/v1", "m", Key(key, "K"), JUDGE, "en")
    told = SHAPES[shape](key)
    hold(key, endpoint.scrub(f"before {told} after"), endpoint.say("bad_url", url=told, setting="x", example="y"))
    assert "before" in endpoint.scrub(f"before {told} after")


@pytest.mark.parametrize("name", KEYS)
def test_a_repr_shows_no_key(name):
    key = KEYS[name]
    held = Key(key, "K")
    endpoint = Endpoint("https://host/v1", "m", held, JUDGE, "en")
    asked, vectors = judge("https://host/v1", key), embedder("https://host/v1", key)
    parts = [held, endpoint, asked, vectors, held.header(), asked._wire, asked.identity, vectors.identity]
    hold(key, *(repr(part) for part in parts), *(str(part) for part in parts), *(repr(vars(part)) for part in (asked, endpoint, vectors)))
    assert held.header() == {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize("make", [judge, embedder])
def test_what_holds_a_key_is_copied_but_never_pickled(make):
    asked = make("https://host/v1", KEYS["usual"])
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for part in (asked._endpoint, asked._endpoint.key, asked._endpoint.key.header()):
            with pytest.raises(TypeError) as caught:
                pickle.dumps(part, protocol)
            hold(KEYS["usual"], str(caught.value))
    held = asked._endpoint.key
    assert copy.copy(held) is held
    assert copy.deepcopy(asked._endpoint).key is held


def variables(error):
    """Every variable of the functions an exception went through, as a debugger shows it; those of the tests left out."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if "/tests/" not in frame.f_code.co_filename:
            for name, value in frame.f_locals.items():
                with contextlib.suppress(AttributeError):  # an object whose making failed
                    yield f"{frame.f_code.co_filename}: {name} = {value!r}"
    for other in (error.__context__, error.__cause__):
        if other is not None:
            yield from variables(other)


@pytest.mark.parametrize("make", [HttpJudge, HttpEmbedder])
def test_variables_of_the_functions_a_key_passes_through_show_none(make):
    key = KEYS["usual"]
    with pytest.raises(ConfigError) as caught:
        make("m", "ftp://host", key)
    shown = list(variables(caught.value))
    assert any("api_key = '…'" in text for text in shown)
    hold(key, *shown)
    hold(key, repr(first_key(("A",), {"A": key})), repr(named_key("s", "A", {"A": key}, "en")))


@pytest.mark.parametrize(
    "answer",
    [refuse(401, f"bad {KEYS['usual']}"), refuse(404, "no such model"), Answer(302, b"", {"Location": f"/{KEYS['usual']}/x"})],
    ids=["401", "404", "302"],
)
async def test_a_run_that_is_stopped_by_a_request_shows_no_key(answer):
    key = KEYS["usual"]
    async with Server([answer]) as server:
        asked = judge(server.url, key)
        with pytest.raises(StoppedError) as caught:
            await asked.complete(question())
        await asked.close()
    shown = list(variables(caught.value))
    assert any("HttpJudge(" in text for text in shown)
    hold(key, *(text for text in shown if "Answer(" not in text and " raw = " not in text and " data = " not in text))
    hold(key, str(caught.value), repr(caught.value), "".join(traceback.format_exception(caught.value)))


async def test_a_request_that_is_cancelled_shows_no_key_among_its_variables():
    key = KEYS["usual"]
    async with Server([Answer(mode="hang")]) as server:
        asked = judge(server.url, key)
        task = asyncio.create_task(asked.complete(question()))
        while not server.seen:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        await asked.close()
    shown = list(variables(caught.value))
    assert any("headers" in text and "Authorization" in text for text in shown), "the client's own frames are among them"
    hold(key, *shown)


# ------------------------------------------------------------------ addresses
@pytest.mark.parametrize("name", ["api_key", "key", "access_token", "subscription-key", "sig"])
@pytest.mark.parametrize("answer", [401, 500])
async def test_a_key_in_the_address_is_sent_and_shown_nowhere(name, answer):
    secret = "Qk3-hidden-7f9"
    async with Server([refuse(answer, f"no access with {secret}; seen /v1/chat/completions?{name}={secret}&v=1")]) as server:
        asked = judge(f"{server.url}?{name}={secret}&v=1", None, retries=0)
        try:
            reply = await asked.complete(question())
            told = f"{reply.error}: {reply.message}"
        except StoppedError as stopped:
            told = str(stopped)
        await asked.close()
    assert f"{name}={secret}" in server.seen[0].path
    hold(secret, told, repr(asked), repr(asked.identity), repr(vars(asked._endpoint)))
    assert "no access with Qk3…f9" in told


@pytest.mark.parametrize("url", ["https://me:{}@host/v1", "https://{}@host/v1", "https://host:{}/v1", "ftp://host/?key={}"])
def test_an_address_that_is_refused_is_not_repeated_with_its_secrets(url):
    with pytest.raises(ConfigError) as caught:
        judge(url.format("s3cret-pass-99"), KEYS["usual"])
    if "://host:" not in url:
        hold("s3cret-pass-99", str(caught.value), repr(caught.value))
    hold(KEYS["usual"], str(caught.value))


# ------------------------------------------------------------------ whole commands
ROWS = [shared_out(f"row-{n:02}", 1, 1) for n in range(2 * len(SHAPES))]


def echoing(key):
    """A judge whose endpoint repeats the key in every way it can, in errors and beside its answers."""
    shapes = list(SHAPES.values())

    def fault(call):
        number = int(re.search(r"row-(\d\d)", call.seen.user)[1])
        shape = shapes[number % len(shapes)](key)
        if call.kind != "check_claims":
            return reply(call.good, reasoning_content=f"My key is {key}")
        if number % 3 == 0:
            return error(500, shape, code=shape, param=shape)
        if number % 3 == 1:
            return Answer(502, f"<html><title>{shape}</title></html>".encode())
        return Answer(429, json.dumps({"detail": [{"loc": ["headers", key], "msg": shape}]}).encode())

    return FaultServer(table(ROWS), fault, embed=lambda seen: error(500, f"embedding with {key}") if seen.nth else embed(seen))


SCRIPT = """
import asyncio, logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
for name in ("", "asyncio", "aiohttp", "aiohttp.client", "ragstone"):
    logging.getLogger(name).setLevel(logging.DEBUG)
from ragstone.cli.app import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["usual", "ten", "quotes"])
def test_a_whole_run_leaves_no_trace_of_the_key(tmp_path, capsys, name):
    key = KEYS[name]
    source = tmp_path / "samples.jsonl"
    source.write_text("".join(json.dumps(told.row) + "\n" for told in ROWS))
    environ = {**os.environ, "RAGSTONE_JUDGE_API_KEY": key, "PYTHONASYNCIODEBUG": "1"}
    python = [sys.executable, "-X", "dev", "-W", "error", "-c", SCRIPT]
    with echoing(key) as server:
        command = ["evaluate", str(source), "--out", str(tmp_path / "run"), "--cache", str(tmp_path / "cache"), "--judge", "m"]
        command += ["--base-url", server.url, "--embeddings", "e", "--retries", "0", "--metrics", "faithfulness,answer_relevancy"]
        ended = subprocess.run([*python, *command], env=environ, capture_output=True, text=True, timeout=300, check=False)
        assert server.mistakes == []
        assert all(seen.headers["Authorization"] == f"Bearer {key}" for seen in server.seen)
    assert ended.returncode == 1, ended.stderr
    hold(key, ended.stdout, ended.stderr, *everything_in(tmp_path))
    assert "DEBUG" in ended.stderr
    for args in (["--json", "--failed"], ["--failed"], [ROWS[0].id, "--raw"], [ROWS[1].id, "--raw", "--json"]):
        assert run(["show", str(tmp_path / "run"), *args], "en", {}) == 0
        hold(key, *capsys.readouterr())


@pytest.mark.parametrize("status", [401, 403, 404, 402])
def test_a_run_that_is_stopped_leaves_no_trace_of_the_key(tmp_path, capsys, caplog, status):
    key = KEYS["project"]
    source = tmp_path / "samples.jsonl"
    source.write_text(json.dumps(EN.row))
    caplog.set_level(logging.DEBUG)
    for shape in SHAPES.values():
        with FaultServer(table([EN]), lambda call, shape=shape: error(status, shape(key))) as server:
            command = ["evaluate", str(source), "--out", str(tmp_path / "run"), "--judge", "m", "--base-url", server.url]
            assert run([*command, "--metrics", "faithfulness"], "en", {"RAGSTONE_JUDGE_API_KEY": key}) == 3
        out, err = capsys.readouterr()
        hold(key, out, err, caplog.text, *everything_in(tmp_path))


def test_a_fault_of_ragstone_itself_shows_no_key(tmp_path, capsys, monkeypatch):
    """The traceback that is printed then has no variables; the key stands in none of its lines."""
    key = KEYS["usual"]
    source = tmp_path / "samples.jsonl"
    source.write_text(json.dumps(EN.row))
    monkeypatch.setattr("ragstone.judge.chat.read_completion", lambda data: 1 / 0)
    with FaultServer(table([EN])) as server:
        command = ["evaluate", str(source), "--out", str(tmp_path / "run"), "--judge", "m", "--base-url", server.url]
        assert run([*command, "--metrics", "faithfulness"], "en", {"RAGSTONE_JUDGE_API_KEY": key}) == 70
    out, err = capsys.readouterr()
    assert "ZeroDivisionError" in err
    hold(key, out, err, *everything_in(tmp_path))
