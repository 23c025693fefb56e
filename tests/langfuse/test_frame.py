"""The frame of a run: the same for the same run, whatever day it is."""

import orjson
import pytest
from support.langfuse_lines import FRAME, content

from ragstone import load
from ragstone.config.delivery import LangfuseSettings
from ragstone.langfuse.frame import frame_of, stamp
from ragstone.samples import scan

ROWS = [{"sample_id": "q1", "metric": "faithfulness", "value": 1.0, "status": "ok"}]
MANIFEST = {
    "run_id": "20261130-1",
    "created_at": "2026-11-30T10:00:00+08:00",
    "gold_fingerprint": "0a1b2c3d4e5f6071",
    "signature": "ragstone 1 | judge m",
    "judge": {"model": "m", "endpoint": "https://j.example"},
    "repeats": 3,
    "language": "zh",
}
LATER = "2027-01-01T00:00:00.000Z"


def framed(manifest, **settings):
    made = content(ROWS, manifest=manifest)
    return frame_of(made, LangfuseSettings(**settings), host="https://lf.example/", project_id="p1", otherwise=LATER)


def test_a_frame_says_what_the_manifest_says():
    frame = framed(MANIFEST)
    assert (frame.host, frame.project_id, frame.environment) == ("https://lf.example", "p1", "ragstone")
    assert (frame.run_name, frame.dataset) == ("20261130-1", "ragstone/0a1b2c3d")
    assert frame.timestamp == "2026-11-30T02:00:00.000Z"
    assert (frame.judge, frame.repeats, frame.lang, frame.notice) == ("m", 3, "zh", None)
    assert frame.known == {"run": "20261130-1", "signature": "ragstone 1 | judge m", "gold_fingerprint": "0a1b2c3d4e5f6071"}


def test_names_of_settings_come_first():
    frame = framed(MANIFEST, experiment="夜间", dataset="政策问答", environment="staging")
    assert (frame.run_name, frame.dataset, frame.environment) == ("夜间", "政策问答/0a1b2c3d", "staging")


@pytest.mark.parametrize(
    "manifest", [None, {"created_at": "soon", "judge": 7, "repeats": "3"}, {"created_at": "0001-01-01T00:00:00", "repeats": 0}]
)
def test_a_run_that_says_nothing_of_itself_has_a_frame(manifest):
    frame = framed(manifest)
    assert (frame.timestamp, frame.run_name, frame.dataset) == (LATER, "ragstone", "ragstone")
    assert (frame.judge, frame.repeats, frame.lang, frame.known) == (None, 1, "en", {})


def test_a_run_folder_without_an_id_is_called_by_its_name(tmp_path):
    folder = tmp_path / "第一次"
    folder.mkdir()
    (folder / "scores.jsonl").write_text('{"sample_id":"q1","metric":"m","value":1,"status":"ok"}\n', encoding="utf-8")
    from ragstone.export.content import Content

    frame = frame_of(Content(load(folder)), LangfuseSettings(), host="h", project_id="p", otherwise=LATER)
    assert frame.run_name == "第一次"


def test_the_local_judge_is_a_smoke_test():
    assert framed({**MANIFEST, "judge": {"model": "local", "endpoint": "local"}}).known["notice"].startswith("local heuristic judge")


def test_the_experiment_is_known_once_the_data_set_is():
    frame = framed(MANIFEST)
    assert frame.experiment_id is None
    assert len(frame.within("clds1").experiment_id) == 16
    assert frame.within("clds1").experiment_id != frame.within("clds2").experiment_id


def test_the_start_is_exact():
    assert FRAME.start == 1796083199_500_000_000


@pytest.mark.parametrize(
    ("told", "made"),
    [
        ("2026-11-30T10:57:21+00:00", "2026-11-30T10:57:21.000Z"),
        ("2026-11-30T10:57:21.123456", "2026-11-30T10:57:21.123Z"),
        ("2026-11-30T00:30:00+08:00", "2026-11-29T16:30:00.000Z"),
        ("2026-11-30", "2026-11-30T00:00:00.000Z"),
        ("9999-12-31T23:59:59-23:00", None),
        ("1979-12-31T23:59:59Z", None),
        ("9999-12-31T23:59:59Z", None),
        ("2262-01-01T00:00:00Z", None),
        ("", None),
        (None, None),
    ],
)
def test_times_are_told_in_utc(told, made):
    assert stamp(told) == made


# ------------------------------------------------------------------ a run that does not name its gold set
ASKED = {"id": "q1", "question": "How much?", "reference": "24", "reference_points": ["24 days"], "reference_contexts": ["Leave"]}


def fingerprint(*samples):
    made = content(ROWS, [*samples])
    return frame_of(made, LangfuseSettings(), host="h", project_id="p", otherwise=LATER).gold_fingerprint


@pytest.mark.parametrize("field", ["question", "reference", "reference_points", "reference_contexts"])
def test_a_gold_set_that_is_not_named_is_told_by_what_was_asked(field):
    told = fingerprint(ASKED)
    assert told == fingerprint({**ASKED, "answer": "anything", "contexts": ["anything"]})
    assert told != fingerprint({**ASKED, field: "other"})
    assert len({fingerprint({**ASKED, field: text}) for text in ("\ud800", "\x00", "")}) == 3


def test_it_is_the_fingerprint_that_an_evaluation_would_name(tmp_path):
    file = tmp_path / "samples.jsonl"
    rows = [ASKED, {"id": "q2", "question": "为什么？", "answer": "x"}]
    rows += [{"id": f"q3#{n}", "question": "again", "reference": "r", "meta": {"question_id": "q3"}} for n in (0, 1)]
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    assert fingerprint(*rows) == scan(file).gold_fingerprint


def test_without_samples_no_gold_set_is_known():
    assert fingerprint() is None
