"""The step `export`: files with names of their own, nothing twice, and what stops it."""

import json
from pathlib import Path

import pytest
from support.langfuse_server import ThreadedLangfuseServer
from support.rag_server import ThreadedRagServer, fail
from support.rounds import ALL, BAD, Rounds, statuses

from ragstone.results import load

STEPS = [*ALL, "export"]


@pytest.fixture
def rounds(tmp_path):
    with Rounds(tmp_path) as found:
        yield found


def test_files_stand_in_the_run_folder_and_are_made_again_only_if_something_changed(rounds):
    rounds.write(steps=STEPS, export={"to": ["csv", "json"]})
    first = rounds.run()
    assert (statuses(first)["export"], first.exit_code) == ("done", 0)
    folder = Path(first.folder) / "exports"
    assert {path.name for path in folder.iterdir()} == {f"{first.run}.csv", f"{first.run}.json"}
    assert load(folder / f"{first.run}.json").summary().samples == 8
    assert statuses(rounds.run())["export"] == "skipped"
    rounds.write(steps=STEPS, export={"to": ["csv", "json", "jsonl"]})
    assert statuses(rounds.run()) == dict.fromkeys(STEPS, "skipped") | {"export": "done"}
    (folder / f"{first.run}.csv").unlink()
    assert statuses(rounds.run())["export"] == "done"
    assert (folder / f"{first.run}.csv").is_file()


def test_the_levels_of_the_file_are_those_of_what_is_exported(rounds):
    rounds.answers["How long is warranty 3?"] = BAD
    for levels, word in ({}, "high"), ({"high": 0.95, "middle": 0.9}, "low"):
        rounds.write(steps=STEPS, levels=levels, export={"to": ["md"]})
        found = rounds.run()
        (path,) = (Path(found.folder) / "exports").iterdir()
        row = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| faithfulness | 0.875"))
        assert word in row


def test_in_a_folder_of_ones_own_every_run_has_its_files(rounds):
    rounds.write(steps=STEPS, export={"to": ["csv"], "folder": "out/files"})
    first = rounds.run()
    rounds.write(steps=STEPS, export={"to": ["csv"], "folder": "out/files"}, seed=1)
    second = rounds.run()
    assert {path.name for path in (rounds.folder / "out" / "files").iterdir()} == {f"{one.run}.csv" for one in (first, second)}


def test_without_exporters_there_is_nothing_to_do(rounds):
    rounds.write(steps=STEPS)
    found = rounds.run()
    assert (statuses(found)["export"], found.exit_code) == ("skipped", 0)


def test_a_server_that_takes_nothing_stops_after_the_files_were_written(rounds):
    with ThreadedRagServer([fail(401)]) as server:
        keys = {"LANGFUSE_HOST": server.url, "LANGFUSE_PUBLIC_KEY": "pk-lf-1", "LANGFUSE_SECRET_KEY": "sk-lf-2"}
        rounds.write(steps=STEPS, export={"to": ["langfuse", "csv"]}, no_cache=True)
        found = rounds.run(environ=keys)
        assert (statuses(found)["export"], found.exit_code) == ("failed 3", 3)
        assert [path.suffix for path in (Path(found.folder) / "exports").iterdir() if path.suffix == ".csv"] == [".csv"]
        assert "sk-lf-2" not in json.dumps(found.to_dict())
        assert statuses(rounds.run(environ=keys)) == dict.fromkeys(STEPS, "skipped") | {"export": "failed 3"}


def test_scores_arrive_once_and_an_unchanged_round_asks_no_server(rounds):
    with ThreadedLangfuseServer("v5") as server:
        rounds.write(steps=STEPS, export={"to": ["langfuse"]}, cache="cache")
        first = rounds.run(environ=server.environ)
        assert (statuses(first)["export"], first.exit_code) == ("done", 0)
        scores = server.langfuse.scores()
        assert {score["value"] for score in scores} == {1.0}
        asked = len(server.seen)
        second = rounds.run(environ=server.environ)
        assert set(statuses(second).values()) == {"skipped"}
        assert (len(server.seen), rounds.asked) == (asked, 8)
        rounds.run("export", environ=server.environ)
        assert server.langfuse.scores() == scores
        assert server.url in second.step("export").text


def test_a_suspended_server_stops_and_gets_the_rest_once_it_takes_things(rounds):
    with ThreadedLangfuseServer("v5", "suspended") as server:
        rounds.write(steps=STEPS, export={"to": ["langfuse"]}, cache="cache")
        assert statuses(rounds.run(environ=server.environ))["export"] == "failed 3"
        server.langfuse.play("v5")
        assert statuses(rounds.run(environ=server.environ)) == dict.fromkeys(STEPS, "skipped") | {"export": "done"}


OTEL = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME")
MLFLOW = ("MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID", "MLFLOW_TRACKING_URI")


@pytest.mark.parametrize("name", [*OTEL, *MLFLOW])
def test_another_place_in_the_environment_is_sent_to_again(rounds, name):
    rounds.write(steps=STEPS, export={"to": ["csv"]})
    assert statuses(rounds.run(environ={name: "one"}))["export"] == "done"
    assert statuses(rounds.run(environ={name: "one"}))["export"] == "skipped"
    assert statuses(rounds.run(environ={name: "two"})) == dict.fromkeys(STEPS, "skipped") | {"export": "done"}


def test_what_a_killed_round_left_half_written_goes_with_the_next_and_nothing_else(rounds):
    rounds.write(steps=STEPS, export={"to": ["csv"], "folder": "out"})
    found = rounds.run()
    out = rounds.folder / "out"
    kept = out / ".other.csv.abcdefgh.part"
    left = out / f".{found.run}.csv.abcd_fg1.part"
    for folder in (kept, left):
        folder.mkdir()
        (folder / "new").write_text("half", encoding="utf-8")
    rounds.run("export")
    assert sorted(path.name for path in out.iterdir()) == [kept.name, f"{found.run}.csv"]


def test_a_file_named_from_elsewhere_is_the_same_pipeline(rounds, monkeypatch):
    rounds.write(steps=STEPS, export={"to": ["csv"], "folder": "out"})
    rounds.run()
    rounds.count_anew()
    for place, name in ((rounds.folder, rounds.file.name), (rounds.folder.parent, f"{rounds.folder.name}/{rounds.file.name}")):
        monkeypatch.chdir(place)
        monkeypatch.setattr(rounds, "file", Path(name))
        assert statuses(rounds.run()) == dict.fromkeys(STEPS, "skipped")
    assert rounds.asked == 0
