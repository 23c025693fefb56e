"""A run in MLflow: one MLflow run however often it is exported, nothing numeric for what has no value, and what is said in trouble."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from support import hand_made
from support.rag_server import RagServer, fail, page, tell

from ragstone import Run, load
from ragstone.errors import AuthError, ConfigError, EndpointError
from ragstone.export.base import Order
from ragstone.export.content import Content
from ragstone.export.mlflow import FILES, MlflowSink
from ragstone.export.mlflow_run import KEY, is_unmade, metrics_of, params_of

QUIET = """
import os, threading
from ragstone.export.mlflow import _library
mlflow = _library()
from mlflow.telemetry.client import get_telemetry_client
assert get_telemetry_client() is None
assert threading.active_count() == 1, threading.enumerate()
assert "MLFLOW_DISABLE_TELEMETRY" not in os.environ
"""


@pytest.fixture(autouse=True)
def _no_reports(monkeypatch):
    """MLflow reports its use where it is imported without this."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")


@pytest.fixture
def folder(tmp_path):
    return hand_made.write_run(tmp_path / "run")


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store in a folder, which MLflow keeps by itself."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return (tmp_path / "mlruns").as_uri()


def send(folder, uri, *, dry_run=False, **environ):
    return MlflowSink().send(Content(load(folder)), Order(environ={"MLFLOW_TRACKING_URI": uri, **environ}, dry_run=dry_run))


def runs(uri, experiment="ragstone"):
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    found = client.get_experiment_by_name(experiment)
    return client.search_runs([found.experiment_id]) if found else []


async def test_one_run_holds_means_parameters_tags_and_files(folder, store):
    receipt = await send(folder, store)
    (run,) = runs(store)
    assert (receipt.missing, receipt.exit_code, run.info.status) == (0, 0, "FINISHED")
    summary = load(folder).summary()
    for metric in summary.metrics:
        assert run.data.metrics.get(metric.metric) == metric.mean
        assert run.data.metrics[f"{metric.metric}.n"] == metric.n
        assert run.data.metrics[f"{metric.metric}.total"] == metric.total
    assert run.data.params["judge"] == "local"
    assert run.data.tags["ragstone.signature"] == summary.run.signature
    assert run.data.tags["ragstone.notice"] == summary.run.notice
    assert {one.suffix for one in _files(run)} == {f".{name}" for name in FILES}
    assert receipt.unmeasured


def _files(run):
    from pathlib import Path
    from urllib.parse import urlsplit

    return list(Path(urlsplit(run.info.artifact_uri).path).iterdir())


async def test_a_second_export_adds_nothing(folder, store):
    first, second = await send(folder, store), await send(folder, store)
    assert len(runs(store)) == 1
    assert (second.accepted, second.kept, second.due) == ({}, first.due, first.due)


async def test_an_export_that_was_killed_goes_on_in_the_same_run(folder, store, monkeypatch):
    import mlflow

    whole = mlflow.MlflowClient.log_batch
    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        await send(folder, store)
    (begun,) = runs(store)
    assert begun.data.tags[KEY]
    assert begun.data.metrics == {}
    monkeypatch.setattr(mlflow.MlflowClient, "log_batch", whole)
    receipt = await send(folder, store)
    (run,) = runs(store)
    assert (run.info.run_id, receipt.missing, bool(run.data.metrics)) == (begun.info.run_id, 0, True)


async def test_a_value_that_has_changed_is_shown_and_a_parameter_that_has_is_told(folder, store):
    await send(folder, store)
    path = folder / "scores.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["value"] = 0.0 if row["status"] == "ok" else None
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    manifest["signature"] = manifest["signature"].replace("judge local", "judge other")
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    receipt = await send(folder, store)
    (run,) = runs(store)
    assert run.data.metrics["context_precision"] == 0.0
    assert [(one.kind, one.id) for one in receipt.rejected] == [("param", "judge")]
    assert (receipt.missing, receipt.exit_code) == (1, 1)


async def test_a_dry_run_makes_nothing(folder, store, tmp_path):
    receipt = await send(folder, store, dry_run=True)
    assert not (tmp_path / "mlruns").exists()
    assert runs(store) == []
    real = await send(folder, store)
    assert (receipt.due, receipt.accepted, receipt.exit_code) == (real.due, {}, 0)
    assert (await send(folder, store, dry_run=True)).kept == real.due


@pytest.mark.parametrize("name", ["sqlite:///{}/a%20b.db?timeout=3", "{}/mlruns", "file://{}/mlruns", "file:{}/a%20b"])
def test_a_store_that_is_not_there_yet_is_known(tmp_path, monkeypatch, name):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: module)
    uri = name.format(tmp_path)
    assert is_unmade(uri)
    for there in ("a%20b.db", "mlruns", "a b"):
        (tmp_path / there).touch()
    assert not is_unmade(uri)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:9", "databricks", "databricks://profile", "postgresql://host/db", "sqlite://"])
def test_a_store_elsewhere_is_asked(monkeypatch, uri):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: module)
    assert not is_unmade(uri)


async def test_the_experiment_is_named_by_its_variable(folder, store):
    await send(folder, store, MLFLOW_EXPERIMENT_NAME="客服")
    assert len(runs(store, "客服")) == 1


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("", ConfigError),
        ("http://127.0.0.1:9", EndpointError),
        ("http://user:pa55word@127.0.0.1:9", EndpointError),
        ("nowhere://user:pa55word@host", ConfigError),
        ("postgresql://user:pa55word@127.0.0.1:9/db", ConfigError),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_server_that_is_not_there_is_told_at_once(folder, monkeypatch, uri, kind, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(kind, match="MLFLOW_TRACKING_URI") as told:
        await send(folder, uri)
    assert "pa55word" not in str(told.value)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (fail(401, "You are not authenticated."), AuthError),
        (fail(403, "Permission denied"), AuthError),
        (fail(403, {"error_code": "PERMISSION_DENIED", "message": "no"}), AuthError),
        (fail(400), EndpointError),
        (page(status=404), EndpointError),
    ],
)
async def test_a_server_that_refuses_stops_the_export(folder, reply, kind):
    async with RagServer(reply) as server:
        with pytest.raises(kind) as told:
            await send(folder, server.url)
    assert server.url in str(told.value)


async def test_a_server_is_asked_in_its_own_words(folder):
    """The experiment is looked up, and the run by its tag, before anything is made."""
    script = {
        "/api/2.0/mlflow/experiments/get-by-name": tell({"experiment": {"experiment_id": "7", "name": "ragstone"}}),
        "/api/2.0/mlflow/runs/search": tell({"runs": []}),
        "/api/2.0/mlflow/runs/create": fail(403, "Permission denied"),
    }
    async with RagServer(script) as server:
        with pytest.raises(AuthError):
            await send(folder, server.url)
    assert KEY in server.asked("/api/2.0/mlflow/runs/search")[0].body["filter"]
    assert len(server.asked("/api/2.0/mlflow/runs/create")) == 1


def test_nothing_numeric_stands_for_a_metric_without_a_value():
    rows = [{"sample_id": "s", "metric": "faithfulness", "value": None, "status": "failed", "reason": "timeout"}]
    held = metrics_of(Content(Run.from_scores(rows)))
    assert held == {"faithfulness.n": 0.0, "faithfulness.total": 1.0, "faithfulness.coverage": 0.0}


def test_names_hold_what_mlflow_takes():
    rows = [{"sample_id": "s", "metric": "答案相关性(strictness=1)", "value": 1.0, "status": "ok"}]
    assert "答案相关性_strictness_1_" in metrics_of(Content(Run.from_scores(rows)))


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (None, {}),
        ("", {}),
        ("ragstone 1.0", {"ragstone": "1.0"}),
        ("ragstone 1.0 | a v1, b v2 | judge m@h", {"ragstone": "1.0", "metrics": "a v1, b v2", "judge": "m@h"}),
        ("ragstone 1.0 | a v1 | judge m | judge n", {"ragstone": "1.0", "metrics": "a v1", "judge": "m | n"}),
        ("ragstone 1.0 | a v1 | top_k=3", {"ragstone": "1.0", "metrics": "a v1", "top_k_3": "top_k_3"}),
    ],
)
def test_parameters_are_the_parts_of_the_signature(signature, expected):
    rows = [{"sample_id": "s", "metric": "a", "value": 1.0, "status": "ok"}]
    assert params_of(Content(Run.from_scores(rows, None, {"signature": signature}))) == expected


def test_a_long_parameter_is_cut_and_says_so():
    rows = [{"sample_id": "s", "metric": "a", "value": 1.0, "status": "ok"}]
    held = params_of(Content(Run.from_scores(rows, None, {"signature": "ragstone 1 | " + "长" * 900})))
    assert (len(held["metrics"]), held["metrics"][-1]) == (500, "…")


def test_mlflow_reports_nothing_of_an_export_to_its_makers():
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "PYTEST_", "CI", "GITHUB_"))}
    done = subprocess.run([sys.executable, "-c", QUIET], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("uri", ["", "  "])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_store_that_nobody_names_is_refused_before_a_run_is_read(monkeypatch, uri, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    with pytest.raises(ConfigError, match="MLFLOW_TRACKING_URI"):
        MlflowSink().check(Order(environ={"MLFLOW_TRACKING_URI": uri}))


class Refused(Exception):
    """What a database says."""


@pytest.mark.parametrize(
    ("raised", "kind", "word"),
    [
        (ModuleNotFoundError("No module named 'psycopg'"), ConfigError, "psycopg"),
        (Refused("no such table"), EndpointError, "no such table"),
        (PermissionError(13, "Permission denied"), EndpointError, "Permission denied"),
    ],
)
async def test_what_the_library_of_databases_raises_is_told(folder, store, monkeypatch, raised, kind, word):
    import mlflow

    def broken(*given, **named):
        raise raised

    monkeypatch.setitem(sys.modules, "sqlalchemy.exc", SimpleNamespace(SQLAlchemyError=Refused))
    monkeypatch.setattr(mlflow, "MlflowClient", broken)
    with pytest.raises(kind, match=word):
        await send(folder, store)
