"""Pipelines over real sockets: what is asked, what is skipped, what begins anew, and how each ending is told."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from support.rounds import ALL, BAD, GOOD, Rounds, gold, statuses

from ragstone.errors import ConfigError, RunFolderError, StoppedError
from ragstone.folder import FolderLock
from ragstone.results import load

DROP = {"metrics": {"faithfulness": {"max_drop": 0.05}}}


@pytest.fixture
def rounds(tmp_path):
    with Rounds(tmp_path) as found:
        yield found


def means(found):
    return {m.metric: m.mean for m in found.summary.metrics}


def index(rounds):
    return json.loads((rounds.work / "runs.json").read_text(encoding="utf-8"))


# ------------------------------------------------------------------ the first and the second call
def test_a_first_round_does_everything_and_leaves_its_files(rounds):
    found = rounds.run()
    assert found.exit_code == 0
    assert statuses(found) == dict.fromkeys(ALL, "done") | {"compare": "skipped"}
    assert rounds.asked == 8
    assert means(found) == {"faithfulness": 1.0, "context_recall": 1.0}
    names = {path.name for path in Path(found.folder).iterdir()}
    assert {
        "manifest.json",
        "scores.jsonl",
        "diagnosis.json",
        "diagnosis.md",
        "gate.json",
        "gate.junit.xml",
        "report.md",
        "summary.md",
    } <= names
    assert "comparison.json" not in names
    assert load(found.folder).summary().samples == 8
    assert index(rounds)["latest"] == found.run


def test_a_second_round_asks_nobody_and_changes_nothing(rounds):
    first = rounds.run()
    held = {path: path.read_bytes() for path in rounds.work.rglob("*") if path.is_file() and path.name not in ("summary.md", ".lock")}
    rounds.count_anew()
    second = rounds.run()
    assert set(statuses(second).values()) == {"skipped"}
    assert (second.run, second.exit_code, rounds.asked) == (first.run, 0, 0)
    assert {path: path.read_bytes() for path in held} == held
    assert any("--from collect" in text for text in second.step("collect").notices)


@pytest.mark.parametrize("name", ["scores.jsonl", "diagnosis.json", "gate.junit.xml"])
def test_a_file_that_is_gone_or_changed_is_made_again(rounds, name):
    first = rounds.run()
    path = Path(first.folder) / name
    before = path.read_bytes()
    path.write_bytes(before[:-20]) if name == "scores.jsonl" else path.unlink()
    assert rounds.run().exit_code == 0
    assert path.read_bytes() == before


# ------------------------------------------------------------------ something changed
def test_another_key_is_another_application_and_stands_nowhere(rounds):
    def run(key):
        return rounds.run(environ={"XDG_CACHE_HOME": str(rounds.folder), "RAGSTONE_COLLECT_API_KEY": key})

    first = run("fastgpt-first-application-key")
    rounds.count_anew()
    assert (statuses(run("fastgpt-first-application-key"))["collect"], rounds.asked) == ("skipped", 0)
    rounds.otherwise = BAD
    second = run("fastgpt-second-application-key")
    assert (statuses(second)["collect"], rounds.asked) == ("done", 8)
    assert second.run != first.run
    written = "".join(path.read_text(encoding="utf-8") for path in rounds.folder.rglob("*") if path.is_file())
    assert "application-key" not in written


def test_a_new_row_of_the_gold_set_is_the_only_one_asked_and_the_run_is_a_new_one(rounds):
    first = rounds.run()
    rounds.write_gold(gold(9))
    rounds.count_anew()
    second = rounds.run()
    assert rounds.asked == 1
    assert second.run != first.run
    assert second.summary.samples == 9
    assert second.baseline == first.run
    assert statuses(second)["compare"] == "done"


def test_what_is_no_part_of_a_score_begins_no_run(rounds):
    first = rounds.run()
    rows = gold(8)
    rows[0]["meta"]["kind"] = "c"
    rounds.write_gold(rows)
    rounds.write(concurrency=2)
    second = rounds.run()
    assert (second.run, second.exit_code) == (first.run, 0)
    assert next(iter(load(second.folder).samples))["meta"]["kind"] == "c"


@pytest.mark.parametrize(
    ("change", "new"),
    [
        ({"metrics": {"metrics": ["faithfulness"]}}, True),
        ({"repeat": 2}, True),
        ({"seed": 3}, True),
        ({"limits": {"top_k": 1}}, True),
        ({"language": "en"}, True),
        ({"gate": {"min_coverage": 0.9}}, False),
        ({"no_cache": True}, False),
        ({"judge": {"model": "scripted:truth.json", "timeout": 5.0}}, False),
    ],
    ids=str,
)
def test_what_can_change_a_score_begins_a_new_run(rounds, change, new):
    first = rounds.run()
    rounds.count_anew()
    rounds.write(**change)
    second = rounds.run()
    assert (second.run != first.run) is new
    assert statuses(second)["evaluate"] == ("done" if new else "skipped")
    assert rounds.asked == 0


def test_a_changed_truth_table_is_another_judge(rounds):
    first = rounds.run()
    path = rounds.folder / "truth.json"
    path.write_text(path.read_text(encoding="utf-8").replace("contradicted", "supported"), encoding="utf-8")
    second = rounds.run()
    assert second.run != first.run
    assert statuses(second)["gate"] == "failed 2"


def test_another_application_has_a_file_of_samples_of_its_own(rounds):
    rounds.run()
    rounds.write(collect={"headers": {"X-Variant": "b"}})
    rounds.count_anew()
    rounds.run()
    assert rounds.asked == 8
    rounds.write()
    rounds.run()
    assert rounds.asked == 0
    assert len([path for path in (rounds.work / "samples").iterdir() if not path.name.endswith(("raw.jsonl", ".lock"))]) == 2


# ------------------------------------------------------------------ --from
def test_from_collect_asks_anew_and_a_new_run_begins_if_answers_changed(rounds):
    first = rounds.run()
    assert rounds.asked == 8
    same = rounds.run("collect")
    assert (same.run, rounds.asked) == (first.run, 8)
    rounds.otherwise = BAD
    changed = rounds.run("collect")
    assert changed.run != first.run
    assert means(changed)["faithfulness"] == 0.0
    assert len(list((rounds.work / "samples").glob("*.jsonl.2*.raw.jsonl"))) == 2


def test_the_index_names_for_every_run_the_samples_it_judged(rounds):
    def answers(path):
        return [json.loads(line)["answer"] for line in path.read_text(encoding="utf-8").splitlines()]

    first = rounds.run()
    assert rounds.run("collect").run == first.run  # the same answers: the run goes on, with the file that is there now
    assert "8 of 8" in rounds.run("diagnose").step("collect").text
    rounds.otherwise = BAD
    changed = rounds.run("collect")
    told = {run["name"]: rounds.work / run["samples"] for run in index(rounds)["runs"]}
    assert set(told) == {first.run, changed.run}
    for name, path in told.items():
        assert answers(path) == answers(rounds.work / name / "samples.jsonl")


def test_from_takes_earlier_steps_as_they_are(rounds):
    first = rounds.run()
    rounds.write_gold(gold(9))
    rounds.count_anew()
    second = rounds.run("gate")
    assert rounds.asked == 0
    assert second.run == first.run
    assert statuses(second) == dict.fromkeys(ALL[:4], "skipped") | {"gate": "done", "report": "done"}


def test_from_evaluate_asks_nothing_that_stands(rounds):
    first = rounds.run()
    scores = (Path(first.folder) / "scores.jsonl").read_bytes()
    second = rounds.run("evaluate")
    assert (second.run, statuses(second)["evaluate"]) == (first.run, "done")
    assert (Path(first.folder) / "scores.jsonl").read_bytes() == scores


@pytest.mark.parametrize(("begin", "named"), [("evaluate", "collect"), ("gate", "collect")])
def test_from_needs_what_stands_before(rounds, begin, named):
    with pytest.raises(ConfigError, match=rf"--from {begin}.*{named}"):
        rounds.run(begin)


def test_from_names_the_file_that_is_gone(rounds):
    found = rounds.run()
    (Path(found.folder) / "scores.jsonl").unlink()
    with pytest.raises(ConfigError, match=r"scores\.jsonl"):
        rounds.run("gate")


# ------------------------------------------------------------------ the baseline and the gate
def test_a_drop_fails_the_gate_again_and_again_and_the_report_is_written_all_the_same(rounds):
    rounds.write(gate=DROP)
    first = rounds.run()
    for found in (first, rounds.run()):
        assert any("max_drop" in text for text in found.step("gate").notices)
        for name in ("gate.md", "report.md", "summary.md"):
            page = (Path(found.folder) / name).read_text(encoding="utf-8")
            assert "Not checked: \\[gate.metrics.faithfulness\\] max\\_drop" in page, name
    rounds.otherwise = BAD
    for begin in ("collect", None):
        found = rounds.run(begin)
        assert statuses(found) | {"collect": "", "evaluate": "", "diagnose": "", "compare": ""} == {
            **dict.fromkeys(ALL, ""),
            "gate": "done 1",
            "report": "done" if begin else "skipped",
        }
        assert (found.exit_code, found.baseline) == (1, first.run)
    assert "<failure" in (Path(found.folder) / "gate.junit.xml").read_text(encoding="utf-8")


def test_a_tag_is_a_baseline_and_one_that_no_run_has_is_waited_for(rounds):
    from ragstone.pipeline.tags import changed

    rounds.write(baseline="good", gate=DROP)
    for begin in (None, None, "collect"):
        found = rounds.run(begin)
        assert f"ragstone runs {rounds.work} --tag good" in found.step("compare").text
        assert any("max_drop" in text for text in found.step("gate").notices)
        assert found.exit_code == 0
    changed(rounds.work, "good", None, "en")
    found = rounds.run()
    assert "itself" in found.step("compare").text
    assert "itself" in " ".join(found.step("gate").notices)
    for answer in (BAD, GOOD):
        rounds.otherwise = answer
        found = rounds.run("collect")
        assert found.baseline == "good"
        assert found.exit_code == (1 if answer == BAD else 0)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("wrong", ["god", "Good", "lats", "LATEST_RUN", "the good one"])
def test_what_looks_like_a_slip_of_a_name_there_is_is_told(rounds, wrong, lang):
    from ragstone.pipeline.tags import changed

    first = rounds.run()
    changed(rounds.work, "good", None, "en")
    rounds.write(baseline=first.run[:-1] if wrong == "LATEST_RUN" else wrong)
    with pytest.raises(ConfigError) as told:
        rounds.run(lang=lang)
    meant = {"lats": "last", "LATEST_RUN": first.run, "the good one": ""}.get(wrong, "good")
    assert meant in str(told.value)
    assert not re.search(r"[?？.。][.。]", str(told.value))


def test_a_run_folder_is_a_baseline(rounds):
    first = rounds.run()
    Path(first.folder).rename(rounds.folder / "elsewhere")
    rounds.write(baseline="elsewhere")
    assert rounds.run().baseline == "elsewhere"


def test_another_judge_is_refused_by_the_gate_until_somebody_says_yes(rounds):
    rounds.write(gate={"min_coverage": 0.5})
    rounds.run()
    rounds.write(gate={"min_coverage": 0.5}, judge={"model": "local"})
    for _ in range(2):
        found = rounds.run()
        assert (statuses(found)["gate"], statuses(found)["report"], found.exit_code) == ("failed 2", "not_run", 2)
        assert "allow_different_signature" in found.step("gate").text
    assert statuses(found)["compare"] == "skipped"
    rounds.write(gate={"min_coverage": 0.5, "allow_different_signature": True}, judge={"model": "local"})
    assert statuses(rounds.run())["report"] == "done"


def test_a_gold_set_without_a_common_question_is_nothing_to_compare_with(rounds):
    rounds.write(gate=DROP)
    rounds.run()
    rounds.write_gold(gold(8, first=100))
    found = rounds.run()
    assert found.exit_code == 0
    assert "none of the questions" in found.step("compare").text


# ------------------------------------------------------------------ other endings
def test_missing_rows_are_a_1_that_stops_nothing_and_retry_failed_asks_them(rounds):
    rounds.answers["How long is warranty 3?"] = "The system is down."
    rounds.write(collect={"fail_if": "system is down"})
    found = rounds.run()
    assert (statuses(found)["collect"], found.exit_code) == ("done 1", 1)
    assert statuses(found)["report"] == "done"
    assert rounds.asked == 8
    assert rounds.run().exit_code == 1
    assert rounds.asked == 0
    rounds.answers.clear()
    mended = rounds.run(retry_failed=True)
    assert (mended.exit_code, rounds.asked) == (0, 1)


def test_a_stop_keeps_the_rest_from_running_and_the_next_call_goes_on(rounds):
    rounds.write(max_calls=1, judge={"model": "nobody", "base_url": f"{rounds.url}/v1", "retries": 0})
    found = rounds.run(environ={"OPENAI_API_KEY": "k"})
    assert statuses(found) == {"collect": "done", "evaluate": "failed 3", **dict.fromkeys(ALL[2:], "not_run")}
    rounds.write()
    again = rounds.run()
    assert again.exit_code == 0
    assert statuses(again)["collect"] == "skipped"
    assert len(index(rounds)["runs"]) <= 2


@pytest.mark.parametrize("earlier", [False, True], ids=["first round", "later round"])
def test_a_judge_that_is_not_there_leaves_a_run_that_is_gone_on_with(rounds, earlier):
    if earlier:
        rounds.run()
    for _ in range(2):
        rounds.write(judge={"model": "nobody", "base_url": f"{rounds.url}/v1", "retries": 0})
        found = rounds.run()
        assert (statuses(found)["evaluate"], found.exit_code) == ("failed 3", 3)
        assert len(index(rounds)["runs"]) == 1 + earlier
    rounds.write()
    assert rounds.run().exit_code == 0


@pytest.mark.parametrize("step", ALL)
def test_interrupted_anywhere_and_called_again_it_ends_as_if_it_had_not_been(rounds, step):
    def stop(text):
        if text == f"step {step}":
            raise KeyboardInterrupt

    broken = rounds.run(on_notice=stop)
    assert broken.exit_code == 3
    assert statuses(broken)[step] == "failed 3"
    found = rounds.run()
    assert (found.exit_code, rounds.asked) == (0, 8)
    assert means(found) == {"faithfulness": 1.0, "context_recall": 1.0}
    assert len(index(rounds)["runs"]) == 1


def test_a_second_pipeline_in_the_same_folder_is_refused(rounds):
    rounds.run()
    lock = FolderLock(rounds.work)
    try:
        with pytest.raises(RunFolderError, match="another pipeline"):
            rounds.run()
    finally:
        lock.release()
    assert rounds.run().exit_code == 0


# ------------------------------------------------------------------ fewer steps, nothing sent
def test_steps_may_be_left_out(rounds):
    rounds.write(steps=["gate", "evaluate"], gold="answered.jsonl", collect=None)
    rows = [{**row, "answer": GOOD, "contexts": ["Warranty: 1 year."]} for row in gold(3)]
    (rounds.folder / "answered.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found = rounds.run()
    assert statuses(found) == {"evaluate": "done", "gate": "done"}
    assert rounds.asked == 0


def test_the_page_says_a_thing_once_and_keeps_sentences_apart(rounds):
    from ragstone.pipeline.base import StepResult
    from ragstone.pipeline.result import PipelineResult
    from ragstone.shown.blocks import to_markdown

    rounds.write(judge={"model": "local"})
    rounds.run()
    assert to_markdown(rounds.run("collect").blocks()).count("smoke test") == 1
    for lang, stop in (("en", "(HTTP 401). Set"), ("zh", "(HTTP 401)。Set")):
        failed = StepResult(step="collect", status="failed", exit_code=3, text="no key (HTTP 401)\nSet it.")
        plain = {"path": "p.toml", "run": None, "folder": None, "baseline": None, "summary": None, "dry_run": False}
        assert stop in to_markdown(PipelineResult(steps=(failed,), lang=lang, **plain).blocks())


def test_a_dry_run_sends_and_writes_nothing_and_says_what_would_be_done(rounds):
    found = rounds.run(dry_run=True)
    assert "at most 8 questions" in found.step("collect").text
    assert rounds.asked == 0
    assert not rounds.work.exists()
    assert set(statuses(found).values()) == {"not_run"}
    assert (found.run, found.folder) == (None, None)
    rounds.run()
    before = {path: path.read_bytes() for path in rounds.work.rglob("*") if path.is_file()}
    rounds.write(gate=DROP)
    found = rounds.run(dry_run=True)
    assert statuses(found) == dict.fromkeys(ALL[:4], "skipped") | {"gate": "not_run", "report": "not_run"}
    assert {path: path.read_bytes() for path in rounds.work.rglob("*") if path.is_file()} == before


def test_the_working_folder_does_not_matter(rounds, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    first = rounds.run()
    monkeypatch.chdir(rounds.folder)
    rounds.file = Path("pipeline.toml")
    assert set(statuses(rounds.run()).values()) == {"skipped"}
    assert list(Path(first.folder).parent.parent.glob("*.toml"))


def test_a_refusal_that_is_right_is_no_cause_in_the_line_of_the_diagnosis(rounds):
    rows = gold(3)
    rows[0] |= {"reference": "It should say that nothing is known, and invent nothing.", "expected_behavior": "refuse"}
    rounds.write_gold(rows)
    rounds.answers[rows[0]["question"]] = "I'm sorry, I cannot answer that."
    rounds.answers[rows[1]["question"]] = BAD
    rounds.write(steps=["collect", "evaluate", "diagnose"], judge={"model": "local"}, metrics={"metrics": ["answer_correctness"]})
    found = rounds.run()
    page = (Path(found.folder) / "diagnosis.md").read_text(encoding="utf-8")
    assert "Not a fault" in page
    causes = found.step("diagnose").numbers["causes"]
    assert causes
    assert "refused" not in causes


# ------------------------------------------------------------------ what must not pass for fresh
def test_another_version_reads_the_run_anew_and_asks_nobody(rounds, monkeypatch):
    rounds.run()
    rounds.count_anew()
    monkeypatch.setattr("ragstone.__version__", "99.0")
    found = rounds.run()
    assert {step: statuses(found)[step] for step in ("evaluate", "diagnose", "gate", "report")} == {
        "evaluate": "skipped",
        "diagnose": "done",
        "gate": "done",
        "report": "done",
    }
    assert rounds.asked == 0


def test_a_report_does_not_go_on_comparing_with_a_baseline_that_is_none_any_more(rounds):
    steps = [step for step in ALL if step != "gate"]
    rounds.write(steps=steps)
    first = rounds.run()
    rounds.write(steps=steps, seed=1)
    second = rounds.run()
    page = Path(second.folder) / "report.md"
    assert f"Compared with: {first.run}\n" in page.read_text(encoding="utf-8")
    rounds.write(steps=steps, seed=1, baseline=second.folder)
    assert statuses(rounds.run(dry_run=True))["report"] == "not_run"
    assert statuses(rounds.run())["report"] == "done"
    assert "Compared with" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("tag", ["compare", "gate", "diagnose"])
def test_a_tag_may_be_called_like_a_step(rounds, tag):
    from ragstone.pipeline.tags import changed

    rounds.run()
    changed(rounds.work, tag, None, "en")
    rounds.write(baseline=tag)
    rounds.write_gold(gold(9))
    assert (rounds.run().exit_code, rounds.run().baseline) == (0, tag)


def test_a_run_folder_that_was_deleted_is_no_baseline(rounds):
    first = rounds.run()
    rounds.write(seed=1)
    second = rounds.run()
    shutil.rmtree(second.folder)
    rounds.write(seed=2)
    assert (rounds.run().baseline, rounds.run().exit_code) == (first.run, 0)


def test_a_gate_that_fails_to_judge_leaves_no_verdict_behind(rounds):
    rounds.run()
    rounds.write(judge={"model": "local"}, gate={"allow_different_signature": True})
    found = rounds.run()
    pages = {path.name for path in Path(found.folder).iterdir()}
    gone = {"gate.json", "gate.md", "gate.junit.xml", "report.md"}
    assert gone < pages
    rounds.write(judge={"model": "local"}, gate={})
    assert statuses(rounds.run())["gate"] == "failed 2"
    assert not {"gate", "report"} & set(next(one for one in index(rounds)["runs"] if one["name"] == found.run)["steps"])
    assert {path.name for path in Path(found.folder).iterdir()} == pages - gone
    rounds.write(judge={"model": "local"}, gate={"allow_different_signature": True})
    assert rounds.run().exit_code == found.exit_code
    assert {path.name for path in Path(found.folder).iterdir()} == pages


def test_answers_that_were_set_aside_are_not_taken_for_collected(rounds):
    rounds.run()

    once = iter([True])

    def stop(progress):
        if progress.done and next(once, False):
            raise StoppedError("the disk is full")

    assert statuses(rounds.run("collect", on_progress=stop))["collect"] == "failed 3"
    assert list((rounds.work / "samples").glob("*[0-9a-f].jsonl"))
    with pytest.raises(ConfigError, match=r"--from evaluate.*collect"):
        rounds.run("evaluate")
    assert rounds.run().exit_code == 0


def test_later_steps_need_neither_the_application_nor_its_settings(rounds):
    first = rounds.run()
    rounds.write(collect={"headers": {"X-Key": "$env.NOT_SET"}})
    with pytest.raises(ConfigError, match="NOT_SET"):
        rounds.run()
    found = rounds.run("gate")
    assert (found.run, found.exit_code) == (first.run, 0)
    assert "8 of 8" in found.step("collect").text


def test_what_was_told_in_another_language_is_told_again_all_the_same(rounds):
    rounds.write_gold([{name: value for name, value in row.items() if name != "reference"} for row in gold(8)])
    rounds.write(judge={"model": "local"}, metrics={"metrics": None, "preset": "full"})
    told = rounds.run().step("evaluate").notices
    assert told
    assert rounds.run(lang="zh").step("evaluate").notices == told


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_what_ends_a_process_from_outside_stops_it_as_ctrl_c_does_before_the_first_step_too(rounds):
    seen: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        rounds.write(work="work")
        with pytest.raises(KeyboardInterrupt):
            rounds.run(environ={"RAGSTONE_JUDG": "x"}, on_notice=lambda _: signal.raise_signal(signal.SIGTERM))
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (seen, rounds.asked) == ([signal.SIGTERM], 0)
    assert rounds.run().exit_code == 0


@pytest.mark.parametrize(("lang", "said"), [("en", "asks every question anew"), ("zh", "重新提出全部问题")])
def test_samples_whose_responses_are_gone_are_named_with_what_helps(rounds, lang, said):
    rounds.run()
    for raw in (rounds.work / "samples").glob("*.raw.jsonl"):
        raw.unlink()
    rounds.write_gold(gold(9))
    found = rounds.run(lang=lang)
    assert statuses(found)["collect"] == "failed 2"
    assert said in found.step("collect").text
    assert "--force" not in found.step("collect").text
    assert rounds.run("collect").exit_code == 0


def test_what_the_steps_came_to_is_told_where_the_page_of_the_call_cannot_be_written(rounds):
    first = rounds.run()
    page = Path(first.folder) / "summary.md"
    page.unlink()
    page.mkdir()
    found = rounds.run()
    assert (found.exit_code, found.run, found.summary.samples) == (3, first.run, 8)
    assert statuses(found) == dict.fromkeys(ALL, "skipped") | {ALL[-1]: "failed 3"}
    assert "summary.md" in found.steps[-1].text
    page.rmdir()
    assert rounds.run().exit_code == 0
