"""`ragstone collect --from langfuse` over real sockets: which traces become samples, what is asked, told and kept."""

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.langfuse_server import SECRET, ThreadedLangfuseServer
from support.langfuse_traces import Told, serve, trace
from support.rag_server import page

from ragstone.cli.app import run
from ragstone.cli.width import width

LANGUAGES = pytest.mark.parametrize("lang", ["en", "zh"])
SERVERS = pytest.mark.parametrize("generation", ["v5", "v4", "v3"])
DAY = ("--since", "2026-12-01", "--until", "2026-12-02")
TO = ("--to", "samples.jsonl")
HELD = {"leave": ("入职满一年有几天年假？", "有 12 天。", [{"text": "年假：满一年 12 天。", "source": "员工手册.pdf"}])}
HELD |= {"warranty": ("How long is the warranty?", "One year.", [{"page_content": "Standard warranty: 1 year."}])}
HELD |= {"parking": ("Where can visitors park?", "I could not find that.", [])}


def three(**more) -> list:
    """Three traces, one an hour."""
    return [
        trace(name, question={"query": question}, answer={"answer": answer}, passages=found, at=f"2026-12-01T0{hour}:00:00.000Z", **more)
        for hour, (name, (question, answer, found)) in enumerate(HELD.items(), 7)
    ]


def many(count: int, **more) -> list:
    return [
        trace(f"{n:032x}", question=f"q{n}", answer="a", passages=["p"], at=f"2026-12-01T08:{n:02}:00.000Z", **more) for n in range(count)
    ]


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[ThreadedLangfuseServer]:
    with ThreadedLangfuseServer(getattr(request, "param", "v5")) as server:
        serve(server.langfuse, three())
        yield server


def collect(server: ThreadedLangfuseServer | None, *args: str, lang: str = "en", **environ: str) -> int:
    known = {} if server is None else server.environ
    return run(["collect", *args], lang, {**known, **environ})


def back(server: ThreadedLangfuseServer, *args: str, lang: str = "en") -> int:
    return collect(server, "--from", "langfuse", *TO, *DAY, "--quiet", *args, lang=lang)


def samples(name: str = "samples.jsonl") -> list[dict]:
    return [json.loads(line) for line in Path(name).read_text(encoding="utf-8").splitlines()]


def ids() -> list[str]:
    return [row["id"] for row in samples()]


# ------------------------------------------------------------------ what is read
@SERVERS
@LANGUAGES
def test_samples_raw_file_and_page(generation, lang, capfd, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with ThreadedLangfuseServer(generation) as server:
        serve(server.langfuse, three())
        assert collect(server, "--from", "langfuse", *TO, *DAY, lang=lang) == 0
        assert {asked.method for asked in server.seen} == {"GET"}
    rows = samples()
    assert [row["id"] for row in rows] == ["leave", "warranty", "parking"]
    assert [row["answer"] for row in rows] == ["有 12 天。", "One year.", "I could not find that."]
    assert [row["contexts"] for row in rows] == [["年假：满一年 12 天。"], ["Standard warranty: 1 year."], []]
    assert [row["language"] for row in rows] == ["zh", "en", "en"]
    assert rows[0]["meta"]["langfuse"]["trace_id"] == "leave"
    raw = Path("samples.jsonl.raw.jsonl")
    assert stat.S_IMODE(raw.stat().st_mode) == 0o600 or os.name == "nt"
    assert "someone@example.org" not in raw.read_text(encoding="utf-8") + Path("samples.jsonl").read_text(encoding="utf-8")
    out, err = capfd.readouterr()
    assert "3/3" in err
    assert "ragstone evaluate samples.jsonl --preset monitor" in out
    assert "ragstone export runs/samples --to langfuse" in out
    assert max(width(line) for line in out.splitlines() if not line.startswith("  ragstone")) <= 80
    assert ("样本 3 条" if lang == "zh" else "Samples: 3") in out


@SERVERS
@pytest.mark.parametrize("rows", [1, 3, None])
def test_every_trace_is_read_once_however_it_is_paged(generation, rows):
    with ThreadedLangfuseServer(generation) as server:
        told = serve(server.langfuse, many(10))
        told.page = rows
        assert back(server) == 0
        assert sorted(told.whole) == sorted(ids()) == [f"{n:032x}" for n in range(10)]


@SERVERS
def test_only_the_sample_is_read_and_a_larger_one_holds_a_smaller_one(generation):
    found = list[set[str]]()
    with ThreadedLangfuseServer(generation) as server:
        told = serve(server.langfuse, many(40))
        for n, given in enumerate((["--rate", "0.3"], ["--rate", "0.6"], ["--rate", "0.3", "--seed", "7"], ["--limit", "5"])):
            told.whole.clear()
            assert back(server, *given, "--to", f"{n}.jsonl") == 0
            found.append({row["id"] for row in samples(f"{n}.jsonl")})
            assert {*told.whole} == found[-1]
    small, large, other, five = found
    assert small < large
    assert small != other
    assert len(five) == 5 < len(small)
    assert five < small  # those that stand lowest, whatever the share


@SERVERS
def test_tags_must_all_be_there_and_traces_of_nobody_are_left_out_and_counted(generation, capfd):
    made = [
        *many(2, tags=["faq", "zh"]),
        trace("own", environment="ragstone", tags=["faq", "zh"]),
        trace("judge", environment="langfuse-llm-as-a-judge", tags=["faq", "zh"]),
        trace("one", question="q", tags=["faq"]),
        trace("early", question="q", tags=["faq", "zh"], at="2026-11-30T23:59:59.999Z"),
        trace("late", question="q", tags=["faq", "zh"], at="2026-12-02T00:00:00.000Z"),
    ]
    with ThreadedLangfuseServer(generation) as server:
        serve(server.langfuse, made)
        assert back(server, "--tag", "faq", "--tag", "zh", "--json") == 0
    document = json.loads(capfd.readouterr().out)
    assert ids() == [f"{n:032x}" for n in range(2)]
    assert {name: document[name] for name in ("listed", "own", "sampled", "rows")} == {"listed": 4, "own": 2, "sampled": 2, "rows": 2}
    assert any(": 2." in notice for notice in document["notices"])


@SERVERS
def test_what_has_neither_question_nor_answer_and_what_is_gone_is_counted(generation, capfd):
    with ThreadedLangfuseServer(generation) as server:
        told = serve(server.langfuse, [*three(), trace("bare"), trace("half", question="q"), trace("gone", question="q")])
        told.gone.add("gone")
        assert back(server, "--json") == 0
    document = json.loads(capfd.readouterr().out)
    assert {*ids()} == {*HELD, "half"}
    counts = {name: document[name] for name in ("sampled", "rows", "bare", "gone", "hidden", "empty")}
    assert counts == {"sampled": 6, "rows": 4, "bare": 1, "gone": 1, "hidden": 1, "empty": 1}
    assert len(document["notices"]) == 3


def test_a_key_within_a_trace_is_masked_in_both_files(server):
    serve(server.langfuse, [trace("t1", question=f"Is {SECRET} my key?", answer=SECRET, passages=[SECRET])])
    assert back(server) == 0
    assert SECRET not in Path("samples.jsonl").read_text(encoding="utf-8") + Path("samples.jsonl.raw.jsonl").read_text(encoding="utf-8")
    assert samples()[0]["question"].startswith("Is sk-")


def test_a_server_that_is_asked_too_much_is_asked_again(server):
    server.langfuse.play("rate")
    assert back(server) == 0
    assert len(ids()) == 3


# ------------------------------------------------------------------ settings
@pytest.mark.parametrize("since", ["2026-12-01", '"2026-12-01"', "2026-12-01T00:00:00Z"])
def test_a_settings_file_says_the_same(server, since):
    table = f'since = {since}\nuntil = "2026-12-02"\nrate = 1.0\ntags = []\n'
    Path("ragstone.toml").write_text(f'[collect]\nplatform = "langfuse"\n[collect.langfuse]\n{table}', encoding="utf-8")
    assert collect(server, *TO, "--quiet") == 0
    assert len(ids()) == 3
    assert collect(server, "gold.jsonl", *TO) == 2


def test_options_go_ahead_of_the_settings(server, capfd):
    Path("ragstone.toml").write_text('[collect.langfuse]\nsince = "2020-01-01"\nuntil = "2020-01-02"\nrate = 0.5', encoding="utf-8")
    assert back(server, "--rate", "1", "--json") == 0
    assert json.loads(capfd.readouterr().out)["window"] == {"since": "2026-12-01T00:00:00Z", "until": "2026-12-02T00:00:00Z"}


# ------------------------------------------------------------------ going on
def test_the_same_command_again_asks_nothing_and_writes_the_same(server, capfd, monkeypatch):
    monkeypatch.setenv("RAGSTONE_LANG", "en")
    assert back(server) == 0
    before, asked = Path("samples.jsonl").read_bytes(), len(server.seen)
    assert collect(server, "--from", "langfuse", *TO, *DAY) == 0
    assert (Path("samples.jsonl").read_bytes(), len(server.seen)) == (before, asked)
    assert "nothing was asked" in capfd.readouterr().err


OTHERS = {"rate": ("--rate", "0.5"), "seed": ("--seed", "3"), "tags": ("--tag", "a"), "limit": ("--limit", "2"), "until": ("--until", "1h")}


@pytest.mark.parametrize(("what", "given"), OTHERS.items())
def test_another_window_or_sampling_needs_another_file_or_force(server, given, what, capfd):
    assert back(server) == 0
    before, asked = Path("samples.jsonl").read_bytes(), len(server.seen)
    assert back(server, *given) == 2
    assert what in capfd.readouterr().err
    assert (Path("samples.jsonl").read_bytes(), len(server.seen)) == (before, asked)
    back(server, *given, "--force")
    assert any(path.name.startswith("samples.jsonl.2") for path in Path().iterdir())


def test_a_call_that_was_stopped_is_gone_on_with(server, capfd):
    told = serve(server.langfuse, many(12))
    keys = server.langfuse.keys

    def cut_off(asked):
        if len(told.whole) == 5:
            server.langfuse.keys = ("pk-lf-other", "sk-lf-other")
        return told(asked)

    server.langfuse.more = cut_off
    assert back(server) == 3
    assert 0 < len(ids()) < 12
    held, told.whole[:] = {*ids()}, []
    server.langfuse.keys, server.langfuse.more = keys, told
    assert back(server) == 0
    assert ids() == [f"{n:032x}" for n in range(12)]
    assert not held & {*told.whole}


def test_a_row_that_was_mended_by_hand_is_not_lost_without_a_word(server, capfd):
    assert back(server) == 0
    with Path("samples.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id":"mine","question":"q","answer":"a"}\n')
    assert back(server) == 0
    assert [path for path in Path().iterdir() if path.name.startswith("samples.jsonl.2") and "mine" in path.read_text(encoding="utf-8")]


# ------------------------------------------------------------------ what cannot be
@LANGUAGES
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--rate", "0"], "--rate"),
        (["--rate", "1.5"], "0.1"),
        (["--rate", "nan"], "--rate"),
        (["--rate", "tenth"], "tenth"),
        (["--since", "2026-12-03"], "2026-12-02T00:00:00Z"),
        (["--since", "last week"], "7d"),
        (["--until", "昨天"], "2026-12-01T08:00"),
        (["gold.jsonl"], "GOLD"),
        (["--platform", "fastgpt"], "--platform"),
        (["--call", "rag:answer"], "--call"),
        (["--answers", "a.jsonl"], "--answers"),
        (["--try", "3"], "--try"),
        (["--retries", "2"], "--retries"),
        (["--from", "langsmith"], "langfuse"),
    ],
)
def test_what_cannot_be_is_told_before_any_request(server, args, said, lang, capfd):
    assert back(server, *args, lang=lang) == 2
    out, err = capfd.readouterr()
    assert said in err
    assert out == ""
    assert server.seen == []
    assert not Path("samples.jsonl").exists()


@LANGUAGES
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--from", "langfuse"], "--to"),
        (["gold.jsonl", *TO, "--since", "24h"], "--from langfuse"),
        (["gold.jsonl", *TO, "--rate", "0.1", "--tag", "a"], "--tag"),
    ],
)
def test_what_is_missing_is_told(server, args, said, lang, capfd):
    assert collect(server, *args, lang=lang) == 2
    assert said in capfd.readouterr().err


@LANGUAGES
def test_without_keys_the_variables_are_named(lang, capfd):
    assert collect(None, "--from", "langfuse", *TO, lang=lang) == 2
    assert "LANGFUSE_SECRET_KEY" in capfd.readouterr().err


@LANGUAGES
def test_no_trace_in_the_window_exits_1_and_says_what_to_check(server, lang, capfd):
    command = ("--from", "langfuse", *TO, "--since", "2025-01-01", "--until", "2025-01-02", "--tag", "faq", "--quiet")
    for _ in range(2):
        assert collect(server, *command, lang=lang) == 1
        err = capfd.readouterr().err
        assert all(word in err for word in ("2025-01-01T00:00:00Z", "faq", "clproject0001", server.url))
    assert ids() == []
    assert back(server) == 0  # nothing was kept of that window


@LANGUAGES
@pytest.mark.parametrize("trouble", ["keys", "page", "unknown", "refused"])
def test_a_server_that_cannot_be_read_exits_3(server, trouble, lang, capfd):
    match trouble:
        case "keys":
            server.langfuse.keys = ("pk-lf-other", "sk-lf-other")
        case "page":
            server.script = page()
        case "unknown":
            server.langfuse.more = lambda _: None
        case "refused":
            told = Told([], "v5")
            server.langfuse.more = lambda asked: told(asked) if "limit=1&" in asked.path_qs else None
    assert back(server, lang=lang) == 3
    err = capfd.readouterr().err
    assert server.url in err
    assert SECRET not in err
    assert "Traceback" not in err
