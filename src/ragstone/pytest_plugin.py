"""A pytest fixture that evaluates a file of samples, for tests that hold a RAG application to a number.

    def test_answers_rest_on_the_contexts(ragstone_evaluate):
        result = ragstone_evaluate("samples.jsonl", metrics="faithfulness", judge="deepseek-chat")
        assert result.mean("faithfulness") >= 0.8

The file is looked for beside the test, then in the folder pytest runs in. Judge and all other settings come from the call,
else from RAGSTONE_ variables and `ragstone.toml`, as on the command line. Equal calls of one session are evaluated once, as long
as file and variables stay as they are; run folders stand under pytest's temporary folder. pytest loads this module at every
start, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragstone.errors import RagstoneError
    from ragstone.results import Run
    from ragstone.shown.tested import Tested

    Evaluate = Callable[..., Tested]

_RUNS = pytest.StashKey[dict[str, "tuple[Run, dict[str, Any]]"]]()
"""Runs of this session by what they came from, each with the settings of its call: an object that is held lends its name to no other."""


@pytest.fixture
def ragstone_evaluate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """Evaluate samples: `ragstone_evaluate(samples, **settings)` takes what `ragstone.evaluate` takes.

    The result has `mean(metric)`, a number that explains itself where an assertion on it fails; `gate(rules, baseline)`,
    which fails the test unless the rules of `ragstone gate` are kept; and `run`, the `ragstone.Run`.
    """
    return partial(_evaluate, request, tmp_path_factory)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Tell what stands behind a mean where an assertion on it fails."""
    for side in (left, right):
        # of the class: a mock has every attribute it is asked for, and a proxy may raise
        explain = getattr(type(side), "ragstone_explanation", None)
        if explain is not None:
            return [f"{_plain(left)} {op} {_plain(right)}", *explain(side)]
    return None


def _evaluate(request: pytest.FixtureRequest, folders: pytest.TempPathFactory, samples: Any, **settings: Any) -> Tested:
    from ragstone import evaluate
    from ragstone.errors import RagstoneError
    from ragstone.shown.tested import Tested

    __tracebackhide__ = True
    samples = _found(samples, request)
    known = request.config.stash.setdefault(_RUNS, {})
    key, given = _key(samples, settings), dict(settings)
    if key is not None and key in known:
        return Tested(known[key][0])
    settings.setdefault("out", folders.mktemp("ragstone") / "run")
    settings.setdefault("on_notice", partial(print, file=sys.stderr))  # pytest shows it with a test that fails
    try:
        run = evaluate(samples, **settings)
    except RagstoneError as error:
        raise _told(error) from None
    if key is not None:
        known[key] = run, given
    return Tested(run)


def _told(error: RagstoneError) -> RagstoneError:
    """Return an error without the frames of ragstone, and with advice for a test where it is about the command line."""
    from ragstone.errors import ConfigError
    from ragstone.text import say, screen_language

    lang = screen_language()
    if str(error) == say("http.no_judge", lang):
        return ConfigError(say("tested.no_judge", lang))
    return error.with_traceback(None)


def _key(samples: Any, settings: dict[str, Any]) -> str | None:
    """What tells this call from others; None for samples that are in no file."""
    if not isinstance(samples, Path) or not samples.is_file():
        return None
    found = samples.stat()
    said = sorted(item for item in os.environ.items() if item[0].startswith(("RAGSTONE_", "OPENAI_")))
    return repr((samples, found.st_mtime_ns, found.st_size, os.getcwd(), hash(tuple(said)), sorted(settings.items())))


def _found(samples: Any, request: pytest.FixtureRequest) -> Any:
    """A file's name means the one beside the test, if there is one."""
    if not isinstance(samples, str | Path):
        return samples
    beside = request.path.parent / samples
    return beside if beside.exists() else Path(samples).absolute()


def _plain(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else repr(value)
