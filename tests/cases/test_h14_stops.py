"""H14: what no request can cure stops the run after the first calls, and says what, where, and which setting to change."""

import pytest
from support.fault_server import error
from support.server import Answer
from support.told_rows import shared_out

ROWS = [shared_out(f"row-{n:02}-", 1, 2) for n in range(30)]
KEY = "sk-live-0123456789abcdef"
STOPS = {
    "401": (error(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key"), "RAGSTONE_JUDGE_API_KEY"),
    "401 zh": (Answer(401, {"code": 401, "msg": "无效的令牌"}), "RAGSTONE_JUDGE_API_KEY"),
    "403": (error(403, "You have no access to this project"), "RAGSTONE_JUDGE_API_KEY"),
    "404 model": (error(404, "The model `m` does not exist or you do not have access to it.", code="model_not_found"), "--judge"),
    "400 model zh": (error(400, "model `m` 不存在"), "--judge"),
    "400 model": (error(400, "Model Not Exist"), "--judge"),
    "404 page": (Answer(404, b"<html><title>404 Not Found</title></html>", {"Content-Type": "text/html"}), "--base-url"),
    "404 bare": (Answer(404, {"detail": "Not Found"}), "--base-url"),
    "402": (error(402, "Insufficient Balance"), "RAGSTONE_JUDGE_API_KEY"),
    "429 balance": (error(429, "You exceeded your current quota", code="insufficient_quota"), "RAGSTONE_JUDGE_API_KEY"),
    "429 zh": (error(429, "余额不足或无可用资源包,请充值。", code="1113"), "RAGSTONE_JUDGE_API_KEY"),
    "200 key": (Answer(200, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}), "RAGSTONE_JUDGE_API_KEY"),
    "200 page": (Answer(200, b"<html><title>Welcome</title></html>", {"Content-Type": "text/html"}), "--base-url"),
    "200 json": (Answer(200, {"status": "ok"}), "--base-url"),
    "302": (Answer(302, b"", {"Location": "https://login.example.com/?next=x"}), "--base-url"),
}


def nothing_leaks(lab, *texts):
    for text in texts:
        assert KEY not in text
    for path in lab.folder.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


@pytest.mark.parametrize("name", STOPS)
def test_h14_the_first_call_stops_the_run(lab, name):
    refusal, setting = STOPS[name]
    done = lab.evaluate(ROWS, lambda call: refusal, environ={"RAGSTONE_JUDGE_API_KEY": KEY}, finished=False)
    assert (done.code, done.out) == (3, "")
    assert len(done.server.calls) == 1
    assert done.server.url in done.err
    assert " m" in done.err
    assert "sk-…ef" in done.err
    assert setting in done.err
    nothing_leaks(lab, done.out, done.err)
    scores = done.folder / "scores.jsonl"
    assert not scores.exists() or scores.read_bytes() == b""


def test_h14_show_never_takes_it_for_a_result(lab):
    done = lab.evaluate(ROWS, lambda call: error(401, "no"), finished=False)
    code, out, err = lab.command(["show", str(done.folder)])
    assert code in (0, 2)
    assert "0/30" in out if code == 0 else err
    assert code == 2 or "interrupted 30" in out


def test_h14_the_key_may_be_missing_altogether(lab):
    done = lab.evaluate(ROWS, lambda call: error(401, "You did not provide an API key."), finished=False)
    assert done.code == 3
    assert "RAGSTONE_JUDGE_API_KEY" in done.err


@pytest.mark.parametrize("name", ["401", "402", "404 model", "400 model zh"])
def test_h14_a_stop_in_the_middle_keeps_the_work_and_the_next_call_goes_on(lab, name):
    refusal, setting = STOPS[name]
    with lab.server(ROWS) as server:
        server.fault = lambda call: refusal if len(server.calls) > 20 else None
        stopped = lab.ask(server, lab.write(ROWS), "--concurrency", "4", finished=False, environ={"RAGSTONE_JUDGE_API_KEY": KEY})
        assert stopped.code == 3
        assert setting in stopped.err
        assert len(server.calls) <= 20 + 4 + 1
        nothing_leaks(lab, stopped.out, stopped.err)
        held = {row["key"] for row in stopped.replies if row["error"] is None}
        assert len(held) >= 20 - 3, "all but those on the wire when the run stopped"
        server.fault = None
        done = lab.ask(server, lab.write(ROWS), "--concurrency", "4")
    assert done.values() == [0.5] * 30
    keys = [row["key"] for row in done.replies if row["error"] is None]
    assert held < set(keys)
    assert len(keys) == len(set(keys)), "what was answered is not asked again"


def test_h14_an_address_where_nobody_listens(lab):
    with lab.server(ROWS) as server:
        url = server.url
    command = ["evaluate", str(lab.write(ROWS)), "--out", "run", "--judge", "m", "--base-url", url, "--retries", "0", "--preset", "fast"]
    code, out, err = lab.command(command, {"RAGSTONE_JUDGE_API_KEY": KEY})
    assert (code, out) == (3, "")
    assert url in err
    assert "--base-url" in err
    nothing_leaks(lab, err)


@pytest.mark.parametrize("status", [401, 404, 402])
def test_h14_the_embeddings_endpoint_stops_the_run_too(lab, status):
    done = lab.evaluate(ROWS, None, metrics="answer_relevancy", finished=False, embed=lambda seen: error(status, "no such thing"))
    assert done.code == 3
    assert done.server.url in done.err
    assert "--embeddings" in done.err or "RAGSTONE_EMBEDDINGS_API_KEY" in done.err
    assert len(done.server.asked("embeddings")) <= 3
