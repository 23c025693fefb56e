import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.exported import MANIFEST, SAMPLES, SCORES, exported, write_folder
from support.hand_made import write_run
from support.hostile_texts import HOSTILE, REFUSED

import ragstone
from ragstone import Run
from ragstone.cli.app import run as command_line
from ragstone.errors import RunFolderError


def document(run):
    return json.loads(exported(run, "json"), parse_constant=lambda token: 1 / 0)


def written(path, run):
    path.write_bytes(exported(run, "json"))
    return path


def without_path(found):
    """A document of a command without what may differ: where the runs are, and the judge's words, which an export does not hold."""
    if isinstance(found, dict):
        return {key: without_path(value) for key, value in found.items() if key not in ("path", "replies")}
    return [without_path(one) for one in found] if isinstance(found, list) else found


# ------------------------------------------------------------------ the document
def test_one_document_holds_the_whole_run(tmp_path):
    found = document(write_folder(tmp_path))
    assert list(found) == ["format", "version", "run", "manifest", "summary", "notices", "samples", "scores"]
    assert (found["format"], found["version"]) == ("ragstone-run", 1)
    assert found["run"]["signature"] == MANIFEST["signature"]
    assert "smoke test, not a measurement" in found["run"]["notice"]
    assert found["manifest"] == MANIFEST
    assert found["samples"] == SAMPLES
    assert found["scores"] == SCORES
    assert found["summary"] == ragstone.load(tmp_path).summary().to_dict()
    assert [(m["metric"], m["n"], m["total"]) for m in found["summary"]["metrics"]] == [("faithfulness", 2, 3), ("context_recall", 1, 3)]


def test_every_sample_and_every_score_is_a_line(tmp_path):
    text = exported(write_folder(tmp_path), "json").splitlines()
    assert [json.loads(line.rstrip(b",")) for line in text if line.startswith(b'{"id"')] == SAMPLES


FOLDERS = {
    "whole": {},
    "no samples": {"samples": None},
    "no manifest": {"manifest": None},
    "scores alone": {"samples": None, "manifest": None},
    "no sample": {"samples": [], "manifest": {}},
    "no score yet": {"scores": []},
    "torn": {"scores": json.dumps(SCORES[0]) + "\n{nonsense\n" + json.dumps(SCORES[2]) + '\n{"sample_id"'},
    "doubled": {"scores": [SCORES[0], {**SCORES[0], "value": 0.25}, *SCORES[2:]]},
    "doubled and doubled again": {
        "scores": [*SCORES, *({**row, "detail": {"x": n}} for n in range(2) for row in SCORES[:3][::-1]), SCORES[4]]
    },
    "repeats": {"scores": [{**SCORES[0], "repeat": n, "value": n / 4} for n in range(4)]},
    "out of order": {"scores": SCORES[::-1]},
    "samples twice": {"samples": [*SAMPLES, {**SAMPLES[0], "answer": "later"}]},
    "sample without id": {"samples": [{"question": "?"}, *SAMPLES]},
    "more fields": {"scores": [{**SCORES[0], "of_later": {"x": 1}}], "samples": [{**SAMPLES[0], "of_later": None}]},
}


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_loaded_equals_the_run(name, tmp_path):
    run = ragstone.load(write_folder(tmp_path / "run", **FOLDERS[name]))
    found = ragstone.load(written(tmp_path / "run.json", run))
    assert found == run
    assert run == found
    assert (found.manifest, found.signature, found.notice) == (run.manifest, run.signature, run.notice)
    assert found.samples == (None if run.samples is None else [row for row in run.samples if "id" in row])
    assert found.scores == run.scores
    own, other = (without_path(one.summary().to_dict()) for one in (run, found))
    assert sorted(own.pop("warnings")) == sorted(other.pop("warnings"))
    assert other == own


@pytest.mark.parametrize("name", FOLDERS)
def test_an_export_of_an_export_is_the_same(name, tmp_path):
    first = written(tmp_path / "a.json", write_folder(tmp_path / "run", **FOLDERS[name]))
    second = written(tmp_path / "b.json", first)
    one, other = (without_path(json.loads(path.read_bytes())) for path in (first, second))
    assert sorted(one["summary"].pop("warnings")) == sorted(other["summary"].pop("warnings"))
    assert one == other


def test_a_run_held_in_memory_comes_back(tmp_path):
    run = Run.from_scores(SCORES, SAMPLES, MANIFEST)
    assert ragstone.load(written(tmp_path / "run.json", run)) == run


def test_a_value_that_is_no_number_comes_back_as_not_measured(tmp_path):
    line = '{"sample_id": "%s", "metric": "m", "value": %s, "status": "ok"}\n'
    scores = line % ("s", "NaN") + line % ("t", "1")
    found = ragstone.load(written(tmp_path / "run.json", write_folder(tmp_path, scores=scores, samples=None, manifest=None)))
    (metric,) = found.summary().metrics
    assert (metric.n, metric.total, metric.reasons) == (1, 2, {"not_a_number": 1})
    assert any("no numbers" in text for text in [found.summary().to_markdown("en")])


values = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), st.text())
names = st.text(max_size=12)
metas = st.dictionaries(
    names,
    st.recursive(values, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=6),
    max_size=4,
)


@given(
    st.lists(
        st.tuples(st.text(min_size=1), st.text(), metas, st.floats(0, 1) | st.none()), min_size=1, max_size=6, unique_by=lambda one: one[0]
    )
)
@settings(max_examples=25, deadline=None)
def test_whatever_a_run_holds_comes_back(rows):
    samples = [{"id": name, "question": text, "answer": text, "meta": meta} for name, text, meta, _ in rows]
    scores = [
        {"sample_id": name, "metric": "m", "value": value, "status": "failed" if value is None else "ok"} for name, _, _, value in rows
    ]
    run = Run.from_scores(scores, samples)
    found = document(run)
    assert Run.from_scores(found["scores"], found["samples"], found["manifest"]) == run


@pytest.mark.parametrize("name", [*HOSTILE, *REFUSED])
def test_hostile_texts_come_back(name, tmp_path):
    text = {**HOSTILE, **REFUSED}[name]
    sample = {"id": "s", "question": text, "answer": text, "contexts": [text], "meta": {text: text}}
    verdicts = [{"kind": "answer_claim", "id": "a1", "text": text, "verdict": "supported"}]
    run = Run.from_scores([{"sample_id": "s", "metric": "m", "value": 1, "status": "ok", "verdicts": verdicts}], [sample])
    found = ragstone.load(written(tmp_path / "run.json", run))
    told = text.encode("utf-8", "replace").decode()
    assert found.samples[0]["answer"] == found.rows_of("s")[0]["verdicts"][0]["text"] == told
    assert found == run


# ------------------------------------------------------------------ other layouts
def again(path, change):
    path.write_bytes(change(path.read_bytes()))
    return path


LAYOUTS = {
    "indented": lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=False).encode(),
    "sorted": lambda text: json.dumps(json.loads(text), sort_keys=True).encode(),
    "on one line": lambda text: json.dumps(json.loads(text), separators=(",", ":")).encode(),
    "with a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "with CR LF": lambda text: text.replace(b"\n", b"\r\n"),
    "without a last line end": lambda text: text.rstrip(b"\n"),
    "with blank lines behind": lambda text: text + b"\n\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_document_written_again_is_the_same_run(name, tmp_path):
    run = ragstone.load(write_folder(tmp_path / "run"))
    assert ragstone.load(again(written(tmp_path / "run.json", run), LAYOUTS[name])) == run


# ------------------------------------------------------------------ the command line
COMMANDS = [
    ("show", "{run}", "--json"),
    ("show", "{run}", "leave-days", "--json"),
    ("show", "{run}", "--failed", "--json"),
    ("diagnose", "{run}", "--json"),
    ("compare", "{run}", "{run}", "--json"),
    ("gate", "{run}", "--baseline", "{run}", "--json"),
    ("plan", "--from", "{run}", "--gap", "0.1", "--json"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_that_takes_a_run_takes_its_export(command, tmp_path, capfd):
    folder = write_run(tmp_path / "run")
    told = []
    for path in (folder, written(tmp_path / "run.json", folder)):
        code = command_line([part.format(run=path) for part in command], "en", {})
        out = capfd.readouterr().out
        assert out
        told.append((code, without_path(json.loads(out)) if "--json" in command else out.replace(str(path), "RUN")))
    assert told[0] == told[1]


# ------------------------------------------------------------------ what is no export, or no longer one
def refused(path):
    with pytest.raises(RunFolderError) as caught:
        list(ragstone.load(path).scores)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.99])
def test_a_torn_file_is_told_with_its_line(share, tmp_path):
    path = written(tmp_path / "run.json", write_folder(tmp_path / "run"))
    text = path.read_bytes()
    torn = text[: int(len(text) * share)]
    path.write_bytes(torn)
    assert f"line {len(torn.splitlines())}" in refused(path)


def test_wherever_a_file_is_torn_it_is_refused_or_whole(tmp_path):
    run = ragstone.load(write_folder(tmp_path / "run", scores=SCORES[:1], samples=SAMPLES[1:2]))
    path = tmp_path / "run.json"
    text = exported(run, "json")
    for size in range(len(text) - 2):
        path.write_bytes(text[:size])
        refused(path)


GOLD = {"id": "a", "question": "保修多久？", "reference": "一年"}
FOREIGN = {
    "gold set": (json.dumps(GOLD, ensure_ascii=False), ["gold set", "ragstone evaluate"]),
    "gold set, a list": (json.dumps([GOLD], indent=1), ["gold set"]),
    "gold set with Chinese heads": (json.dumps({"问题": "？"}, ensure_ascii=False), ["gold set"]),
    "gold set that speaks of exports": (json.dumps({"question": '{"format":"ragstone-run"}'}), ["gold set"]),
    "score lines": (json.dumps(SCORES[0]) + "\n" + json.dumps(SCORES[1]), ["score lines"]),
    "another document": ('{"a": 1}', ["no export of a run"]),
    "another format": ('{"a": {"format": "ragstone-run"}}', ["no export of a run"]),
    "a number": ("5", ["neither"]),
    "text": ("id,question\n1,x", ["neither"]),
    "nothing": ("", ["empty file"]),
    "a later version": ('{"format":"ragstone-run","version":2,"scores":[]}', ["version 2", "reads version 1"]),
    "no scores": ('{"format":"ragstone-run","version":1}', ["scores is missing"]),
    "scores of another kind": ('{"format":"ragstone-run","version":1,"scores":{}}', ["scores is missing or of another kind"]),
    "a row of another kind": ('{"format":"ragstone-run","version":1,"scores":[{},5]}', ["entry 2"]),
    "a manifest of another kind": ('{"format":"ragstone-run","version":1,"manifest":[],"scores":[{}]}', ["manifest"]),
    "no score at all": ('{"format":"ragstone-run","version":1,"scores":[]}', ["is empty"]),
    "a comma too many": ('{"format":"ragstone-run",\n"version":1,,"scores":[]}', ["line 2, column 13"]),
    "too deep": ('{"format":"ragstone-run","version":1,"scores":' + "[" * 200_000 + "]" * 200_000 + "}", ["too deeply"]),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_export_is_told_for_what_it_is(name, tmp_path, monkeypatch):
    text, words = FOREIGN[name]
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    told = refused(path)
    assert [word for word in words if word not in told] == []
    monkeypatch.setenv("RAGSTONE_LANG", "zh")
    assert refused(path) != told


def test_another_encoding_is_told_with_its_byte(tmp_path):
    path = written(tmp_path / "run.json", write_folder(tmp_path / "run"))
    text = path.read_text(encoding="utf-8")
    path.write_text(json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")), encoding="gb18030")
    assert "not UTF-8" in refused(path)
    path.write_text(text, encoding="utf-16")
    assert "neither" in refused(path)


@pytest.mark.parametrize("name", ["scores.jsonl", "samples.jsonl", "manifest.json"])
def test_a_file_of_a_run_folder_names_the_folder(name, tmp_path):
    folder = write_folder(tmp_path / "run")
    assert f"Give its folder: {folder}" in refused(folder / name)


def test_a_broken_line_and_a_row_that_cannot_be_are_told_with_their_line(tmp_path):
    path = written(tmp_path / "run.json", write_folder(tmp_path / "run"))
    lines = path.read_text(encoding="utf-8").split("\n")
    at = next(number for number, line in enumerate(lines) if line.startswith('{"sample_id"') and '"value":0.5' in line)
    for wrong, told in (
        (lines[at].replace('"value":0.5', '"value":NaN'), "value is nan"),
        (lines[at].replace('"value":0.5', '"value":1.5'), "value is 1.5"),
        (lines[at].replace('"value":0.5', '"value":'), "no JSON object"),
    ):
        path.write_text("\n".join([*lines[:at], wrong, *lines[at + 1 :]]), encoding="utf-8")
        said = refused(path)
        assert f"line {at + 1}" in said
        assert told in said


def test_what_needs_a_folder_says_so(tmp_path, capfd):
    path = written(tmp_path / "run.json", write_folder(tmp_path / "run"))
    for command in (["replay", str(path)], ["history", str(path)]):
        assert command_line(command, "en", {}) == 2
        assert "is a file; this needs a folder" in capfd.readouterr().err
