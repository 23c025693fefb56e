"""The history of the gold claims, read from the runs of a folder."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from ragstone.analysis.cells import Notice, RowProblem, checked
from ragstone.analysis.history import ANSWERED, RETRIEVED, SIDES, WORST_FIRST, ClaimBook, ClaimHistory, History, RunDate, counted
from ragstone.analysis.pooled import base_name
from ragstone.errors import ConfigError, RunFolderError
from ragstone.figures import metric_named
from ragstone.language import Folded
from ragstone.lines import FileLines
from ragstone.run_files import SCORES
from ragstone.run_folders import DatedRun, runs_in
from ragstone.shown.history import ALL, ShownHistory
from ragstone.text import say, screen_language

Row = dict[str, Any]

UNKNOWN = "unknown"
"""Names the runs that do not tell their gold set."""
_NAMED = 5


def history(
    directory: str | Path = "runs",
    *,
    gold: str | None = None,
    last: int | None = None,
    sample: str | None = None,
    only: str | Sequence[str] | None = None,
    metric: str | None = None,
) -> ShownHistory:
    """Return every gold claim as a test over the runs of a folder, oldest run first.

    Args:
        directory: the folder that holds the run folders.
        gold: start of a gold fingerprint; unset = that of the newest run; "all" = every run (claims of the newest gold set only),
            "unknown" = the runs that do not tell theirs.
        last: the newest so many runs of that gold set; unset = all.
        sample: only the claims of this sample.
        only: only claims of these kinds: lost, flaky, fail, fixed, unknown, pass.
        metric: answer_correctness or context_recall; unset = the first, if any run holds it.

    Raises:
        ConfigError: there is no such gold set, sample, kind or metric.
        RunFolderError: there is no such folder, no run in it that can be read, or none that tells of claims.
    """
    kinds = _kinds(only)
    metric = None if metric is None else metric_named(metric)
    _refuse(metric, last)
    found, warnings = _runs(Path(directory))
    chosen = _of_gold(found, gold, Path(directory), warnings)
    runs = chosen[-last:] if last else chosen
    book = ClaimBook(Folded().__getitem__)
    told = [book.add(_score_rows(run, warnings)) for run in runs]
    side = metric or (ANSWERED if any(ANSWERED in sides for sides in told) else RETRIEVED)
    claims = book.claims(side)
    if not claims:
        raise RunFolderError(say("history.no_claims", screen_language(), path=directory, runs=len(runs)))
    claims = _of_sample(_still_asked(claims, runs), sample)
    warnings += _about(runs, told, side, chosen=metric is not None)
    kept = tuple(claim for claim in claims if not kinds or claim.course.status in kinds)
    fingerprint = ALL if gold == ALL else runs[-1].gold_fingerprint
    dates = tuple(map(_date, runs))
    return ShownHistory.of(History(str(directory), fingerprint, side, dates, kept, counted(claims), tuple(warnings)), kinds)


def _refuse(metric: str | None, last: int | None) -> None:
    lang = screen_language()
    if metric not in (None, *SIDES):
        raise ConfigError(say("history.no_such_metric", lang, metric=metric, known=", ".join(SIDES)))
    if last is not None and last < 1:
        raise ConfigError(say("history.last_too_small", lang))


# ------------------------------------------------------------------ which runs
def _runs(directory: Path) -> tuple[list[DatedRun], list[Notice]]:
    found, bad = runs_in(directory)
    if not found:
        lang = screen_language()
        problems = "\n".join(f"{path.name}: {problem}" for path, problem in bad)
        key = "history.none_readable" if bad else "history.no_runs"
        raise RunFolderError(say(key, lang, path=directory, **({"problems": problems} if bad else {})))
    return found, [Notice("folder_unreadable", (("path", path.name), ("problem", problem))) for path, problem in bad]


def _of_gold(runs: list[DatedRun], gold: str | None, directory: Path, warnings: list[Notice]) -> list[DatedRun]:
    if gold == ALL:
        return runs
    sets = Counter(_named(run) for run in runs)
    wanted = _named(runs[-1]) if gold is None else _matching(sets, gold, directory)
    others = [f"{name} × {count}" for name, count in sets.items() if name != wanted]
    if others and gold is None:
        warnings.append(Notice("gold_sets_several", (("others", _few(others)),)))
    chosen = [run for run in runs if _named(run) == wanted]
    if wanted == UNKNOWN and len(chosen) > 1:
        warnings.append(Notice("gold_unknown", (("names", _few([run.path.name for run in chosen])),)))
    return chosen


def _named(run: DatedRun) -> str:
    return run.gold_fingerprint or UNKNOWN


def _matching(sets: Iterable[str], gold: str, directory: Path) -> str:
    known, lang = list(sets), screen_language()
    near = [name for name in known if name == gold] or [name for name in known if name.startswith(gold)]
    if not near:
        raise ConfigError(say("history.no_such_gold", lang, path=directory, gold=gold, known=", ".join(known)))
    if len(near) > 1:
        raise ConfigError(say("history.gold_ambiguous", lang, gold=gold, known=", ".join(near)))
    return near[0]


def _score_rows(run: DatedRun, warnings: list[Notice]) -> Iterator[Row]:
    """The score rows that look for reference claims; of a doubled cell the last. A row that cannot be is left out and counted.

    Only places are held, and rows read again: the texts of 100,000 rows would fill the memory.
    """
    lines = FileLines(run.path / SCORES)
    found: dict[tuple[str, str, int], int] = {}
    notices: list[Notice] = []
    bad = 0
    for place, _, row in lines.read(notices):
        if base_name(str(row.get("metric"))) not in SIDES:
            continue
        try:
            found[checked(row)[:3]] = place
        except RowProblem:
            bad += 1
    if bad := bad + sum(notice.code == "line_skipped" for notice in notices):
        warnings.append(Notice("line_unreadable", (("path", run.path.name), ("count", bad))))
    with lines.fetching() as fetch:
        yield from map(fetch, found.values())


# ------------------------------------------------------------------ which claims
def _kinds(only: str | Sequence[str] | None) -> tuple[str, ...]:
    wanted = [part.strip() for part in only.split(",")] if isinstance(only, str) else list(only or ())
    for status in wanted:
        if status not in WORST_FIRST:
            raise ConfigError(say("history.no_such_status", screen_language(), status=status, known=", ".join(WORST_FIRST)))
    return tuple(wanted)


def _of_sample(claims: list[ClaimHistory], sample: str | None) -> list[ClaimHistory]:
    if sample is None:
        return claims
    kept = [claim for claim in claims if claim.sample_id == sample]
    if not kept:
        ids = list(dict.fromkeys(claim.sample_id for claim in claims))
        near = difflib.get_close_matches(sample, ids, n=3, cutoff=0.5) or ids[:3]
        raise ConfigError(say("history.no_such_sample", screen_language(), sample=sample, nearest=", ".join(near)))
    return kept


def _still_asked(claims: list[ClaimHistory], runs: list[DatedRun]) -> list[ClaimHistory]:
    """Return the claims that a run of the newest gold set knows: what it no longer asks for is no test any more."""
    now = [at for at, run in enumerate(runs) if _named(run) == _named(runs[-1])]
    return [claim for claim in claims if any(claim.states[at] or claim.retrieved[at] for at in now)]


# ------------------------------------------------------------------ what to know
def _about(runs: list[DatedRun], told: list[set[str]], side: str, *, chosen: bool) -> Iterator[Notice]:
    """Everything that could change a claim's state, or leave it unknown, besides the application."""
    if len(runs) == 1:
        yield Notice("one_run")
    if side == RETRIEVED and not chosen:
        yield Notice("retrieval_alone")
    judges = list(dict.fromkeys(name for run in runs if (name := _judge(run))))
    if len(judges) > 1:
        yield Notice("judge_differs", (("judges", _few(judges)),))
    if _differ(run.run.manifest.get("prompts") for run in runs):
        yield Notice("prompts_differ")
    if _differ(_version(run, side) for run in runs):
        yield Notice("metric_version_differs", (("metric", side),))
    lists = {
        "smoke_test": [run for run in runs if run.run.smoke_test],
        "dated_by_file": [run for run in runs if not run.in_manifest],
        "silent": [run for run, sides in zip(runs, told, strict=True) if side not in sides],
    }
    for code, named in lists.items():
        if named:
            metric = (("metric", side),) if code == "silent" else ()
            yield Notice(code, (("names", _few([run.path.name for run in named])), *metric))


def _judge(run: DatedRun) -> str | None:
    judge = run.run.manifest.get("judge")
    if not isinstance(judge, dict):
        return str(judge) if judge else None
    return "@".join(str(judge[name]) for name in ("model", "endpoint") if judge.get(name)) or None


def _version(run: DatedRun, side: str) -> Any:
    metrics = run.run.manifest.get("metrics")
    return metrics.get(side) if isinstance(metrics, dict) else None


def _differ(values: Iterable[Any]) -> bool:
    """True if two runs that tell it tell different things."""
    return len({orjson.dumps(value, option=orjson.OPT_SORT_KEYS) for value in values if value}) > 1


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f", … ({len(names)})" if len(names) > _NAMED else "")


def _date(run: DatedRun) -> RunDate:
    run_id = run.run.manifest.get("run_id")
    at = run.at.isoformat(timespec="seconds")
    return RunDate(str(run.path), None if run_id is None else str(run_id), at, "manifest" if run.in_manifest else "file")
