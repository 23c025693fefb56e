"""A whole pipeline end to end over real sockets: what is asked, what arrives, what is not asked again, and how it ends."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.pipelines import IDS, STEPS, Lab, judging, lab
from support.truth_server import TruthServer

import ragstone

ANSWER_SIDE = {"split_claims", "check_claims", "match_claims", "invert_answer"}
LANGFUSE_CHECKS = {"/api/public/health", "/api/public/projects"}


@pytest.fixture(scope="module")
def judge() -> Iterator[TruthServer]:
    with judging() as found:
        yield found


@pytest.fixture
def made(tmp_path: Path, judge: TruthServer) -> Iterator[Lab]:
    with lab(tmp_path, judge) as found:
        yield found


def document(made: Lab, capfd: pytest.CaptureFixture[str], *args: str, code: int = 0) -> dict:
    """Run the pipeline and return what `--json` says."""
    capfd.readouterr()
    assert made.run("--json", "--quiet", *args) == code, capfd.readouterr().err
    return json.loads(capfd.readouterr().out)


def ended(found: dict) -> dict[str, tuple[str, int | None]]:
    return {step["step"]: (step["status"], step["exit_code"]) for step in found["steps"]}


# ------------------------------------------------------------------ the first run
def test_the_first_run_does_every_step_and_everything_arrives(made, capfd):
    found = document(made, capfd)
    assert ended(found) == {step: ("skipped", None) if step == "compare" else ("done", 0) for step in STEPS}
    assert made.application.asked == {row["question"]: 1 for row in made.gold}
    (folder,) = made.runs()
    assert Path(found["folder"]) == folder
    for name in ("report.md", "summary.md", "diagnosis.json", "gate.json", "gate.junit.xml"):
        assert (folder / name).stat().st_size
    assert {path.suffix for path in (folder / "exports").iterdir()} >= {".csv", ".xml"}
    assert not (folder / "comparison.json").exists()
    assert [json.loads(line)["id"] for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()] == list(IDS)


def test_what_arrived_in_langfuse_equals_what_was_due(made, capfd):
    document(made, capfd)
    run = ragstone.load(made.runs()[0])
    held = made.langfuse.langfuse
    of_samples = [score for score in held.scores() if "datasetRunId" not in score]
    measured = [score for score in run.scores if score.status == "ok"]
    assert sorted((score["name"], score["value"]) for score in of_samples) == sorted((score.metric, score.value) for score in measured)
    assert held.orphans() == []
    assert held.held()["traces"] == held.held()["items"] == len(IDS)


def test_report_and_summary_say_what_was_measured(made, capfd):
    document(made, capfd)
    report, summary = ((made.runs()[0] / name).read_text(encoding="utf-8") for name in ("report.md", "summary.md"))
    run = ragstone.load(made.runs()[0])
    for metric in run.summary().metrics:
        assert f"{metric.n}/{metric.total}" in report
        assert f"{metric.n}/{metric.total}" in summary
    assert "| Is it made up? |" in report
    assert str(run.signature) in report


# ------------------------------------------------------------------ again
def test_an_unchanged_second_run_asks_nobody(made, capfd):
    document(made, capfd)
    before, files = made.requests(), {path: path.read_bytes() for path in made.runs()[0].rglob("*.json*")}
    found = document(made, capfd)
    assert {status for status, _ in ended(found).values()} == {"skipped"}
    after = made.requests()
    assert (after.app, after.judge) == (before.app, before.judge)
    assert {asked.path for asked in made.langfuse.seen[before.langfuse :]} <= LANGFUSE_CHECKS
    assert {path: path.read_bytes() for path in files} == files
    assert len(made.runs()) == 1


def test_a_changed_prompt_behind_the_same_address_costs_the_answers_side_alone(made, capfd):
    document(made, capfd)
    made.application.prompt, before = " Please call us.", made.requests()
    found = document(made, capfd, "--from", "collect")
    assert made.application.asked == {row["question"]: 2 for row in made.gold}
    assert set(made.kinds(before)) <= ANSWER_SIDE
    references = {row["reference"] for row in made.gold}
    split = [json.loads(body["messages"][1]["content"])["text"] for body in made.judge.chats[before.judge :] if "split" in str(body)[:200]]
    assert split
    assert references.isdisjoint(split)
    assert made.kinds(before)["split_claims"] == len(IDS)
    assert ended(found)["compare"] == ("done", 0)
    old, new = made.runs()
    assert found["baseline"] == old.name
    compared = json.loads((new / "comparison.json").read_text(encoding="utf-8"))
    assert (Path(compared["base"]["path"]).name, Path(compared["new"]["path"]).name) == (old.name, new.name)
    assert old.name in (new / "report.md").read_text(encoding="utf-8")
    assert made.langfuse.langfuse.held()["traces"] == 2 * len(IDS)


def test_a_changed_body_is_seen_without_being_told(made, capfd):
    document(made, capfd)
    before = made.requests()
    made.write(collect="body = { variables = { tone = 'short' } }")
    found = document(made, capfd)
    assert made.application.asked == {row["question"]: 2 for row in made.gold}
    assert made.requests().judge == before.judge  # the same answers: every reply is known
    assert ended(found)["collect"] == ("done", 0)


def test_a_changed_reference_costs_the_gold_side_of_its_row_alone(made, capfd):
    document(made, capfd)
    before = made.requests()
    made.gold[2]["reference"] = "保修期为三年，自发货之日起算。"
    made.write()
    document(made, capfd)
    assert made.requests().app == before.app
    asked = made.judge.chats[before.judge :]
    kinds = made.kinds(before)
    assert kinds
    assert "invert_answer" not in kinds
    assert kinds["split_claims"] == 1
    questions = [json.loads(body["messages"][1]["content"]) for body in asked]
    assert [one["text"] for one in questions if "text" in one] == ["保修期为三年，自发货之日起算。"]
    others = {row["question"] for row in made.gold if row is not made.gold[2]}
    assert others.isdisjoint(one.get("question") for one in questions)


def test_a_changed_limit_asks_nobody(made, capfd):
    document(made, capfd)
    before = made.requests()
    made.write(gate="[gate.metrics.faithfulness]\nmin_mean = 0.01")
    found = document(made, capfd)
    assert {step for step, (status, _) in ended(found).items() if status == "done"} == {"gate", "report"}
    assert made.requests() == before


# ------------------------------------------------------------------ how it ends
def test_a_gate_that_fails_ends_with_1_and_the_export_is_done(made, capfd):
    made.write(gate="[gate.metrics.context_precision]\nmin_mean = 1.0", to='["csv"]')
    found = document(made, capfd, code=1)
    assert ended(found)["gate"] == ("done", 1)
    assert ended(found)["report"] == ended(found)["export"] == ("done", 0)
    assert [*(made.runs()[0] / "exports").glob("*.csv")]


def test_a_suspended_langfuse_ends_with_3_and_gets_the_rest_later(made, capfd):
    made.langfuse.langfuse.play("v5", "suspended")
    found = document(made, capfd, code=3)
    assert ended(found)["export"] == ("failed", 3)
    before = made.requests()
    made.langfuse.langfuse.play("v5")
    found = document(made, capfd)
    assert ended(found)["export"] == ("done", 0)
    assert (made.requests().app, made.requests().judge) == (before.app, before.judge)
    measured = sum(score.status == "ok" for score in ragstone.load(made.runs()[0]).scores)
    assert sum("datasetRunId" not in score for score in made.langfuse.langfuse.scores()) == measured
    assert made.langfuse.langfuse.orphans() == []


def test_a_judge_that_refuses_the_key_ends_with_3_and_the_later_steps_wait(made, capfd):
    refusal = {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error", "code": "invalid_api_key"}}
    made.judge.instead = lambda body: (401, refusal)
    found = document(made, capfd, code=3)
    assert ended(found) == {
        "collect": ("done", 0),
        "evaluate": ("failed", 3),
        **dict.fromkeys(STEPS[2:], ("not_run", None)),
    }
    assert made.langfuse.seen == []
    made.judge.instead = lambda body: None
    document(made, capfd)
    assert made.application.asked == {row["question"]: 1 for row in made.gold}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"to": '["csv", "langfues"]'}, "langfuse"),
        ({"gate": "[gate.metrics.faithfullness]\nmin_mean = 0.5"}, "faithfulness"),
        ({"collect": 'anwser = "text"'}, "answer"),
        ({"top": 'steps = ["collect", "evaluate", "exprot"]'}, "export"),
    ],
)
def test_a_mistake_in_any_step_ends_with_2_before_anything_is_asked(made, capfd, changed, told):
    made.write(**changed)
    assert made.run() == 2
    assert told in capfd.readouterr().err
    assert made.requests() == type(made.requests())(0, 0, 0)
    assert not made.work.exists() or not [*made.work.glob("*/scores.jsonl")]


@pytest.mark.parametrize("missing", ["LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"])
def test_a_key_of_the_last_step_that_is_not_set_ends_with_2_before_anything_is_asked(made, capfd, missing):
    left = {name: value for name, value in made.environ.items() if name != missing}
    assert made.run(environ=left) == 2
    assert missing in capfd.readouterr().err
    assert made.requests() == type(made.requests())(0, 0, 0)


def test_no_key_stands_in_any_file(made, capfd):
    document(made, capfd)
    keys = [value for name, value in made.environ.items() if name.endswith("KEY") and "PUBLIC" not in name]
    written = b"".join(path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
    assert [key for key in keys if key.encode() in written] == []


def test_two_at_once_end_with_2_and_the_first_goes_on(made, capfd):
    codes = []

    def second(_: str) -> None:
        if not codes:
            process = made.start("")
            _, err = process.communicate(timeout=120)
            codes.append((process.returncode, b"work" in err))

    made.application.before = second
    assert made.run("--quiet") == 0
    assert codes == [(2, True)]
    assert made.application.asked == {row["question"]: 1 for row in made.gold}


def test_a_dry_run_sends_and_writes_nothing(made, capfd):
    assert made.run("--dry-run") == 0
    assert "collect" in capfd.readouterr().out
    assert made.requests() == type(made.requests())(0, 0, 0)
    assert not made.work.exists()


def test_a_baseline_by_tag_is_kept_until_the_tag_moves(made, capfd):
    made.write(top='baseline = "released"', to='["csv"]')
    document(made, capfd)
    from ragstone.cli.app import run

    assert run(["runs", str(made.work), "--tag", "released"], "en", {}) == 0
    for prompt in (" Please call us.", " Please write to us."):
        made.application.prompt = prompt
        assert document(made, capfd, "--from", "collect")["baseline"] == "released"
    assert len(made.runs()) == 3
