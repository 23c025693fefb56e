"""Start a mock judge as a process of its own, tell it how to behave, and read what it counted."""

import json
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from given import Given
from made import free_port

START_S = 20
FAULTS = {"r429": 0.10, "r500": 0.05, "rbad": 0.03}
NO_FAULTS = dict.fromkeys(("r429", "r500", "rbad", "rhang"), 0.0)


class MockError(Exception):
    """The mock judge did not start."""


@dataclass(frozen=True)
class Mock:
    """A running mock judge."""

    url: str

    @property
    def base_url(self) -> str:
        """What clients are given."""
        return self.url + "/v1"

    def behave(self, latency_ms: float, *, faults: bool) -> None:
        """Set latency and faults; counts and memory of earlier requests start anew."""
        config = {"latency": f"fixed:{latency_ms:g}", **NO_FAULTS, **(FAULTS if faults else {})}
        self._call("/_config", json.dumps(config).encode())

    def stats(self) -> dict[str, Any]:
        """Return the counts since `behave`."""
        counts: dict[str, Any] = json.loads(self._call("/_stats"))
        return counts

    def _call(self, path: str, data: bytes | None = None) -> bytes:
        with urllib.request.urlopen(urllib.request.Request(self.url + path, data=data), timeout=30) as reply:
            return bytes(reply.read())


@contextmanager
def serve(given: Given) -> Iterator[Mock]:
    """Serve the mock judge until the block ends.

    Raises:
        MockError: it ended at once, or does not answer within START_S seconds.
    """
    port = free_port()
    command = [given.mock_python, str(given.mock), "--port", str(port), "--latency", "fixed:0"]
    command += ["--plugin", str(given.plugin)] if given.plugin else []
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        mock = Mock(f"http://127.0.0.1:{port}")
        try:
            _await(process, mock, command)
            yield mock
        finally:
            process.terminate()


def _await(process: subprocess.Popen[bytes], mock: Mock, command: list[str]) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise MockError(f"{' '.join(command)} ended with exit code {process.returncode}")
        try:
            mock.stats()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise MockError(f"{' '.join(command)} did not answer within {START_S} s")
