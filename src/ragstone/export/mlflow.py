"""MLflow: one MLflow run for a run, with means as metrics, what they depend on as parameters and tags, and the files.

MLFLOW_TRACKING_URI says where; MLFLOW_EXPERIMENT_ID or MLFLOW_EXPERIMENT_NAME into which experiment (else `ragstone`). The MLflow run
is found again by its tag `ragstone.key`: a second export logs only what is missing or has changed.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ragstone.errors import AuthError, ConfigError, EndpointError, RagstoneError, StoppedError
from ragstone.export.base import FileExporter, Order, Sink
from ragstone.export.content import Content
from ragstone.export.identity import MILLISECOND, began
from ragstone.export.mlflow_run import KEY, digest_of, is_unmade, key_of, metrics_of, params_of, tags_of
from ragstone.export.receipt import Receipt, Rejected
from ragstone.extras import library
from ragstone.text import say, screen_language
from ragstone.transport.endpoint import Endpoint, Key, Role, shown_url

URI, EXPERIMENT, EXPERIMENT_ID = "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"
FILES = ("json", "csv", "md")
"""Exporters whose files are kept with the MLflow run."""
LONGEST = 500
"""Characters of what MLflow says that are kept."""
PATIENCE = 10.0
_NO_RIGHTS = ("PERMISSION_DENIED", "UNAUTHENTICATED")
_SECRETS = ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD")


class MlflowSink(Sink):
    """Sends a run to an MLflow tracking server, or into a store that MLflow keeps itself."""

    name = "mlflow"
    extra = "mlflow"

    def check(self, order: Order) -> None:
        """Raise ConfigError if MLflow is not installed, or nothing says where it keeps its runs."""
        super().check(order)
        _uri(order)

    async def send(self, content: Content, order: Order) -> Receipt:
        """Log what is not there yet. See `Sink.send`."""
        uri = _uri(order)
        _reachable(uri)
        return await asyncio.to_thread(_Logging(uri, content, order).run)


class _Logging:
    """One export on its way. MLflow's client waits for every answer, so all of it happens in a thread of its own."""

    def __init__(self, uri: str, content: Content, order: Order) -> None:
        self._mlflow = _library()
        self._uri, self._content, self._order = uri, content, order
        self._client: Any = None
        if not (order.dry_run and is_unmade(uri)):
            with self._telling(ConfigError):
                self._client = self._mlflow.MlflowClient(tracking_uri=uri)
        self._due, self._taken, self._kept = Counter[str](), Counter[str](), Counter[str]()
        self._rejected: list[Rejected] = []
        self._requests = 0

    def run(self) -> Receipt:
        """Log everything and return what became of it."""
        with self._telling():
            experiment = self._experiment()
            found = self._found(experiment)
        params, tags, metrics = params_of(self._content), tags_of(self._content), metrics_of(self._content)
        with tempfile.TemporaryDirectory() as folder:
            files = dict(self._files(Path(folder)))
            there: Any = found.data if found else None
            if not found and not self._order.dry_run:
                with self._telling():
                    found = self._created(experiment, tags)
            self._compare("tag", tags, there.tags if there else {}, self._log_tags(found))
            self._compare("param", params, there.params if there else {}, self._log_params(found))
            self._compare("metric", metrics, there.metrics if there else {}, self._log_metrics(found))
            self._log_files(files, found)
            if found and not self._order.dry_run:
                with self._telling():
                    self._asked(self._client.update_run, found.info.run_id, status="FINISHED")
        return self._receipt(experiment, found)

    # ------------------------------------------------------------------ where it goes
    def _experiment(self) -> str | None:
        """The id of the experiment; None if it is still to be made and this is a dry run."""
        environ = self._order.environ
        if self._client is None:
            return None
        if given := environ.get(EXPERIMENT_ID, "").strip():
            return given
        name = environ.get(EXPERIMENT, "").strip() or "ragstone"
        found = self._asked(self._client.get_experiment_by_name, name)
        if found is not None:
            return str(found.experiment_id)
        return None if self._order.dry_run else str(self._asked(self._client.create_experiment, name))

    def _found(self, experiment: str | None) -> Any:
        if experiment is None:
            return None
        runs = self._asked(self._client.search_runs, [experiment], filter_string=f"tags.`{KEY}` = '{key_of(self._content)}'", max_results=1)
        return runs[0] if runs else None

    def _created(self, experiment: str | None, tags: Mapping[str, str]) -> Any:
        content, at = self._content, began(self._content) // MILLISECOND
        name = content.facts.run_id or (content.run.path.name if content.run.path else None)
        own = {KEY: tags[KEY]}
        return self._asked(self._client.create_run, experiment, start_time=at or None, tags=own, run_name=name)

    # ------------------------------------------------------------------ what is logged
    def _compare(self, kind: str, wanted: Mapping[str, Any], there: Mapping[str, Any], log: Callable[[dict[str, Any]], None]) -> None:
        """Log what is missing or different, in one request."""
        missing = {name: value for name, value in wanted.items() if there.get(name) != value}
        self._due[kind] += len(wanted)
        self._kept[kind] += len(wanted) - len(missing)
        if not missing or self._order.dry_run:
            return
        with self._refusals(kind, list(missing)):
            log(missing)
            self._taken[kind] += len(missing)

    def _log_tags(self, found: Any) -> Callable[[dict[str, Any]], None]:
        entity = self._mlflow.entities.RunTag
        return lambda held: self._batch(found, tags=[entity(name, value) for name, value in held.items()])

    def _log_params(self, found: Any) -> Callable[[dict[str, Any]], None]:
        entity = self._mlflow.entities.Param
        return lambda held: self._batch(found, params=[entity(name, value) for name, value in held.items()])

    def _log_metrics(self, found: Any) -> Callable[[dict[str, Any]], None]:
        """A value that has changed goes into a step of its own: of several in one step MLflow shows the largest."""
        entity, at = self._mlflow.entities.Metric, began(self._content) // MILLISECOND

        def log(held: dict[str, Any]) -> None:
            known = found.data.metrics
            steps = {name: self._last_step(found, name) + 1 if name in known else 0 for name in held}
            self._batch(found, metrics=[entity(name, value, at, steps[name]) for name, value in held.items()])

        return log

    def _last_step(self, found: Any, name: str) -> int:
        return max((one.step for one in self._asked(self._client.get_metric_history, found.info.run_id, name)), default=-1)

    def _batch(self, found: Any, **entities: Any) -> None:
        self._asked(self._client.log_batch, found.info.run_id, **entities)

    def _files(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Write the files, so that a run that cannot be read is refused before anything is logged."""
        from ragstone.export.registry import exporter

        for name in FILES:
            found = exporter(name)
            if isinstance(found, FileExporter):
                path = folder / f"ragstone{found.suffix}"
                with path.open("w+b") as file:
                    found.write(self._content, file, self._order)
                yield path.name, path

    def _log_files(self, files: Mapping[str, Path], found: Any) -> None:
        """Upload the files whose content is not there yet; a tag holds the digest of each."""
        for name, path in files.items():
            tag, digest = f"ragstone.file.{name}", digest_of(path)
            self._due["artifact"] += 1
            if found and found.data.tags.get(tag) == digest:
                self._kept["artifact"] += 1
            elif not self._order.dry_run:
                with self._refusals("artifact", [name]):
                    self._asked(self._client.log_artifact, found.info.run_id, str(path))
                    self._asked(self._client.set_tag, found.info.run_id, tag, digest)
                    self._taken["artifact"] += 1

    # ------------------------------------------------------------------ what MLflow says
    def _asked(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        self._requests += 1
        return call(*given, **named)

    @contextmanager
    def _telling(self, kind: type[ConfigError] | type[EndpointError] = EndpointError) -> Iterator[None]:
        """Turn what MLflow raises into errors that say what to do: of the address itself (ConfigError), or of what is there."""
        try:
            yield
        except RagstoneError:
            raise
        except ImportError as bad:  # the driver of a database
            raise ConfigError(self._words("mlflow_address", bad)) from bad
        except self._mlflow.exceptions.MlflowException as bad:
            raise (self._stop(bad) if kind is EndpointError else kind(self._words("mlflow_address", bad))) from bad
        except _unusable() as bad:
            raise EndpointError(self._words("mlflow_failed", bad)) from bad

    @contextmanager
    def _refusals(self, kind: str, names: list[str]) -> Iterator[None]:
        """Take in what MLflow does not take, and go on; a wrong key ends it."""
        try:
            yield
        except self._mlflow.exceptions.MlflowException as bad:
            stop = self._stop(bad)
            if isinstance(stop, AuthError):
                raise stop from bad
            self._rejected += [Rejected(kind, name, self._scrubbed(bad)) for name in names]
        except _unusable() as bad:
            self._rejected += [Rejected(kind, name, self._scrubbed(bad)) for name in names]

    def _stop(self, bad: Exception) -> StoppedError:
        text = str(bad)
        status = getattr(bad, "get_http_status_code", lambda: 0)()
        if status in (401, 403) or getattr(bad, "error_code", None) in _NO_RIGHTS or re.search(r"error code 40[13]\b", text):
            return AuthError(self._words("mlflow_key", bad))
        return EndpointError(self._words("mlflow_failed", bad))

    def _words(self, name: str, bad: Exception) -> str:
        url, message = shown_url(self._uri), self._scrubbed(bad)
        return say(f"export.{name}", screen_language(), url=url, message=message, setting=URI)

    def _scrubbed(self, bad: Exception) -> str:
        """The beginning of what was said, without secrets."""
        keys = [Key(self._order.environ.get(name), name) for name in _SECRETS]
        keys.append(Key(unquote(urlsplit(self._uri).password or ""), URI))
        text = str(bad).replace(self._uri, shown_url(self._uri))
        for key in keys:
            text = key.scrub_echoes(text)
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"

    def _receipt(self, experiment: str | None, found: Any) -> Receipt:
        content = self._content
        url = shown_url(self._uri).rstrip("/")
        links = (f"{url}/#/experiments/{experiment}/runs/{found.info.run_id}",) if found and url.startswith("http") else ()
        return Receipt(
            to=MlflowSink.name,
            target=url,
            due=dict(self._due),
            accepted=dict(self._taken),
            kept=dict(self._kept),
            rejected=tuple(self._rejected),
            requests=self._requests,
            unmeasured=content.unmeasured,
            dry_run=self._order.dry_run,
            signature=content.facts.signature,
            notice=content.facts.notice,
            links=links,
        )


# ------------------------------------------------------------------ the library
def _library() -> Any:
    """Return MLflow. It would report its use to its makers, which is decided when it is imported: not in an export."""
    if "mlflow" in sys.modules or "MLFLOW_DISABLE_TELEMETRY" in os.environ:
        return library("mlflow", "mlflow", "--to mlflow")
    os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
    try:
        return library("mlflow", "mlflow", "--to mlflow")
    finally:
        del os.environ["MLFLOW_DISABLE_TELEMETRY"]


def _uri(order: Order) -> str:
    uri = order.environ.get(URI, "").strip()
    if not uri:
        raise ConfigError(say("export.mlflow_no_uri", screen_language(), name=URI))
    return uri


def _unusable() -> tuple[type[Exception], ...]:
    """What MLflow lets through when a store cannot be used: of the system, and of the library of databases where that is in use."""
    used = sys.modules.get("sqlalchemy.exc")
    return (OSError, used.SQLAlchemyError) if used else (OSError,)


def _reachable(uri: str) -> None:
    """Raise EndpointError if nobody listens at a server's address: MLflow itself would go on trying for minutes."""
    parts = urlsplit(uri)
    if parts.scheme not in ("http", "https"):
        return
    endpoint = Endpoint(shown_url(uri).replace("…@", ""), "mlflow", Key(None, _SECRETS[0]), Role(_SECRETS[0], URI, URI, URI), whole=True)
    if endpoint.proxy() is not None:
        return
    try:
        socket.create_connection((endpoint.host, parts.port or (443 if parts.scheme == "https" else 80)), PATIENCE).close()
    except OSError as bad:
        told = {"url": endpoint.url, "message": bad.strerror or str(bad), "setting": URI}
        raise EndpointError(say("export.mlflow_failed", screen_language(), **told)) from bad
