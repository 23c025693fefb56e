"""What holds for every test: no network but the loopback, and nothing of the developer's own environment."""

import ipaddress
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

FOREIGN = ("RAGSTONE_", "OPENAI_", "LANGFUSE_", "LC_")
FOREIGN_NAMES = {"LANGUAGE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
FOREIGN_NAMES |= {"FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "NO_COLOR", "GITHUB_ACTIONS", "TERMINAL_WIDTH"}

# A shell starts background jobs with SIGINT ignored, and what is ignored here stays ignored in every process a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Deadlines measure the machine, not the code; a CI that draws other examples each time cannot be bisected.
hypothesis.settings.register_profile("ragstone", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("ragstone")


class OutsideNetworkError(BaseException):
    """A test tried to leave the loopback. No Exception, so that no error handling under test can swallow it."""


def _is_local(host: Any) -> bool:
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


def _refuse_outside(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if not _is_local(host):
        raise OutsideNetworkError(f"{event} to {host!r}: tests use 127.0.0.1 only")


# An audit hook sees every way to a socket, C extensions and event loops included, and costs nothing per test.
sys.addaudithook(_refuse_outside)


@pytest.fixture(scope="session")
def _fresh_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("caches")
    return (base / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_environment(_fresh_folders: Iterator[Path]) -> Iterator[None]:
    """Hide settings, keys, proxies and locale of the developer, and give each test a reply cache of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(FOREIGN) or name.upper() in FOREIGN_NAMES:
                patch.delenv(name)
        patch.setenv("LANG", "C.UTF-8")
        patch.setenv("XDG_CACHE_HOME", str(next(_fresh_folders)))
        patch.setenv("COLUMNS", "120")
        yield
