"""A damaged run folder is refused with file and place when it would be written on or replayed; never a traceback."""

import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.judges import Counting

import ragstone
from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.errors import ConfigError, RunFolderError
from ragstone.judge.scripted import ScriptedJudge
from ragstone.replay import replay
from ragstone.stored import manifest_problem, reply_problem, sample_problem, score_problem

GOLD = Path(str(files("ragstone").joinpath("gold")))
TRUTH = orjson.loads((GOLD / "truth.json").read_bytes())
ROWS = [orjson.loads(line) for line in (GOLD / "samples.jsonl").read_bytes().splitlines()][:2]
METRICS = "faithfulness,context_precision"

REPLY = {"key": "ab" * 16, "kind": "split_claims", "raw": "{}", "error": None, "usage": {"prompt_tokens": 1}, "attempts": 1}
SCORE = {"sample_id": "a", "metric": "m", "value": 0.5, "status": "ok"}
SAMPLE = {"id": "a", "question": "q", "contexts": ["c", {"text": "d"}]}


def evaluate(out: Path) -> Counting:
    judge = Counting(ScriptedJudge.from_dict(TRUTH))
    ragstone.evaluate(ROWS, judge=judge, embeddings=ScriptedEmbedder.from_dict(TRUTH), out=out, metrics=METRICS)
    return judge


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "run"
    evaluate(folder)
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def put(path: Path, number: int, line: bytes) -> int:
    """Replace a line and return the byte it begins at."""
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number] = line + b"\n"
    path.write_bytes(b"".join(lines))
    return sum(map(len, lines[:number]))


# ------------------------------------------------------------------ lines
@pytest.mark.parametrize("name", ["replies.jsonl", "scores.jsonl", "samples.jsonl"])
@pytest.mark.parametrize("line", [b'{"torn', b"\0\0\0", b'{"a":"\xff"}', b"[1]", b"{}", b'{"key":5,"sample_id":[1],"id":5}'])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_damaged_line_is_told_by_file_and_byte_and_nothing_is_lost(
    run: Path, name: str, line: bytes, lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    place = put(run / name, 1, line)
    before = {path.name: path.read_bytes() for path in run.glob("*.jsonl")}
    for again in (lambda: evaluate(run), lambda: replay(run), lambda: replay(run, write=True)):
        with pytest.raises(RunFolderError) as told:
            again()
        assert str(run / name) in str(told.value)
        assert str(place) in str(told.value)
        assert {path.name: path.read_bytes() for path in run.glob("*.jsonl")} == before


@pytest.mark.parametrize("name", ["replies.jsonl", "scores.jsonl", "samples.jsonl"])
def test_a_blank_line_is_no_damage(run: Path, name: str) -> None:
    path = run / name
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n", 1))
    assert replay(run).changed == []
    assert not evaluate(run).asked


@pytest.mark.parametrize(
    ("check", "row", "wrong"),
    [
        *((reply_problem, REPLY, wrong) for wrong in ({"key": "zz"}, {"key": ""}, {"key": 5}, {"kind": None}, {"raw": 5}, {"error": 1})),
        *((reply_problem, REPLY, wrong) for wrong in ({"attempts": "x"}, {"usage": "x"}, {"usage": {"prompt_tokens": "x"}})),
        *((score_problem, SCORE, wrong) for wrong in ({"sample_id": [1]}, {"metric": {}}, {"repeat": "x"}, {"verdicts": 5})),
        *((score_problem, SCORE, wrong) for wrong in ({"status": None}, {"value": 1.5}, {"status": "failed"})),
        *((sample_problem, SAMPLE, wrong) for wrong in ({"id": 5}, {"question": 5}, {"contexts": "x"}, {"contexts": [5]})),
        *((sample_problem, SAMPLE, wrong) for wrong in ({"language": "xx"}, {"expected_behavior": "fly"}, {"meta": 5})),
    ],
)
def test_what_no_line_may_hold_is_named(check: Any, row: dict[str, Any], wrong: dict[str, Any]) -> None:
    assert check(row) is None
    assert check({**row, "field of a later version": 1}) is None
    (field,) = wrong
    assert field in check({**row, **wrong}) or "value" in check({**row, **wrong})


# ------------------------------------------------------------------ manifest
WRONG: list[dict[str, Any]] = [
    *({"metrics": value} for value in (5, ["faithfulness"], {"faithfulness": 5}, {"faithfulness": {"parameters": [1]}})),
    *({"repeats": value} for value in ("x", 0, -3, None, 10**9)),
    *({"limits": value} for value in (5, {"top_k": "x"}, {"unknown": 1})),
    *({"language": value} for value in ("fr", 5)),
    *({"judge": value} for value in (5, "local")),
    {"plan": 5},
    {"prompts": 5},
    {"counts": {"requests": "x"}},
    {"wall_s": "x"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_manifest_that_cannot_be_built_on_is_refused_by_name(run: Path, wrong: dict[str, Any]) -> None:
    (field,) = wrong
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    (run / "manifest.json").write_bytes(orjson.dumps({**manifest, **wrong}))
    for again in (lambda: evaluate(run), lambda: replay(run)):
        with pytest.raises(RunFolderError, match=f"manifest.json.*{field}"):
            again()


def test_an_empty_manifest_and_one_of_a_later_version_are_fine() -> None:
    assert manifest_problem({}) is None
    assert manifest_problem({"later": [1], "judge": {"model": "m", "later": 1}, "metrics": {"m": {"version": 2}}}) is None


def test_a_parameter_this_version_does_not_know_is_named(run: Path) -> None:
    manifest = orjson.loads((run / "manifest.json").read_bytes())
    manifest["metrics"]["faithfulness"]["parameters"] = {"depth": 2}
    (run / "manifest.json").write_bytes(orjson.dumps(manifest))
    with pytest.raises(ConfigError, match="depth"):
        replay(run)


@pytest.mark.parametrize("name", ["replies.jsonl", "scores.jsonl", "samples.jsonl", "manifest.json"])
def test_a_folder_in_the_place_of_a_file_is_named(run: Path, name: str) -> None:
    (run / name).unlink()
    (run / name).mkdir()
    for again in (lambda: evaluate(run), lambda: replay(run)):
        with pytest.raises(RunFolderError, match=name):
            again()
