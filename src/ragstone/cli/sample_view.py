"""One sample opened up: its texts, its contexts in rank order, and every score down to claims, verdicts and raw replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragstone.analysis.pooled import base_name
from ragstone.analysis.slices import expected_behavior
from ragstone.cli.arguments import run_hint
from ragstone.cli.numbers import metric_label, number
from ragstone.cli.plain import folded, one_line
from ragstone.cli.tables import COLUMNS, verdict_word, why
from ragstone.cli.width import width
from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.results import Run
    from ragstone.types import Language

Row = dict[str, Any]

_PARTS = ("tp", "fp", "fn", "f1", "cosine", "weights")
_FLAGS = ("flags", "merged", "duplicates", "inconsistent", "clipped", "in_parts", "unsplit", "behaviour", "best", "against")
_RULE = "─" * COLUMNS
HEAD_COLUMNS = COLUMNS - 16
"""What stands before the text of a verdict line, at its widest; a longer one has lines of its own."""


def sample_page(run: Run, sample_id: str, lang: Language, *, raw: bool = False) -> str:
    """Return everything a run holds of one sample, in lines of at most 80 columns; `raw` adds the judge's replies as they came.

    Raises:
        ConfigError: the run does not hold the sample; the text names the nearest ids.
    """
    sample, rows = run.sample(sample_id), run.rows_of(sample_id)
    if sample is None and not rows:
        near = say("show.comma", lang).join(one_line(found) for found in run.nearest_ids(sample_id))
        raise ConfigError(say("show.unknown_sample", lang, sample_id=one_line(sample_id), near=near) + run_hint(sample_id, run.path, lang))
    notice = folded(say("show.notice", lang, text=say("judges.smoke_test", lang)), COLUMNS) if run.smoke_test else []
    lines = [*notice, *folded(say("show.sample", lang, sample_id=one_line(sample_id)), COLUMNS)]
    lines += _texts(sample, rows, lang) if sample else folded(say("show.no_samples_file", lang), COLUMNS)
    told = set[str]()
    for row in rows:
        lines += ["", *_score(row, told, lang)]
    if raw:
        lines += _replies(run, rows, lang)
    return "\n".join([*lines, "", *folded(run.signature or say("show.signature_unknown", lang), 10**6), *notice])


def sample_document(run: Run, sample_id: str) -> Row | None:
    """Return the sample and its score rows as they are stored, for `--json`; None for an unknown id."""
    sample, rows = run.sample(sample_id), run.rows_of(sample_id)
    return {"sample": sample, "scores": rows} if sample or rows else None


def _texts(sample: Row, rows: list[Row], lang: Language) -> list[str]:
    lines: list[str] = []
    behaviour = expected_behavior(sample)
    if behaviour != "answer":
        lines += ["", *folded(say(f"show.expects_{behaviour}", lang), COLUMNS)]
    if sample.get("error"):
        lines += ["", *folded(sample["error"], COLUMNS, say("show.error", lang))]
    for name in ("question", "answer", *(("reference",) if sample.get("reference") or not sample.get("reference_points") else ())):
        lines += ["", say(f"show.text_{name}", lang), *_text(sample.get(name), lang)]
    for name in ("reference_points", "reference_alternatives"):
        if points := sample.get(name):
            lines += ["", say(f"show.text_{name}", lang)]
            for i, point in enumerate(points if isinstance(points, list | tuple) else [points], 1):
                lines += folded(point, COLUMNS, f"  {i}. ")
    return [*lines, "", *_contexts(sample.get("contexts"), _usefulness(rows), lang)]


def _text(text: Any, lang: Language) -> list[str]:
    if text is None:
        return ["  " + say("show.text_missing", lang)]
    return folded(text, COLUMNS, "  ") if str(text).strip() else ["  " + say("show.text_blank", lang)]


def _contexts(contexts: Any, useful: dict[str, str], lang: Language) -> Iterator[str]:
    if not isinstance(contexts, list):
        yield say("show.contexts_not_exposed", lang)
        return
    yield say("show.contexts", lang, count=len(contexts))
    for rank, context in enumerate(contexts, 1):
        held = context if isinstance(context, dict) else {"text": context}
        facts = [f"c{rank}", *([verdict_word(useful[f"c{rank}"], lang)] if f"c{rank}" in useful else [])]
        facts += [f"{name} {one_line(held[name])}" for name in ("id", "score", "source") if held.get(name) is not None]
        yield from folded(" · ".join(facts), COLUMNS, "  ")
        yield from folded(held.get("text") or "", COLUMNS, "     ")


def _usefulness(rows: list[Row]) -> dict[str, str]:
    lines = (line for row in rows if base_name(str(row["metric"])) == "context_precision" for line in row.get("verdicts") or ())
    return {str(line["id"]): line["verdict"] for line in lines if isinstance(line, dict) and "id" in line and "verdict" in line}


def _score(row: Row, told: set[str], lang: Language) -> Iterator[str]:
    head = [metric_label(str(row["metric"]), lang)]
    head += [say("show.repeat", lang, number=row["repeat"])] if row.get("repeat") else []
    status = number(row["value"]) if row["status"] == "ok" else say(f"show.status_{row['status']}", lang)
    reason = one_line(row.get("reason") or "")
    head += [status, *([reason + why(reason, told, lang)] if reason else [])]
    yield _RULE
    yield from folded(" · ".join(head), COLUMNS)
    detail = row.get("detail")
    detail = detail if isinstance(detail, dict) else {}
    if facts := [f"{say(f'show.part_{name}', lang)} {_value(detail[name])}" for name in _PARTS if detail.get(name) is not None]:
        yield from folded(" · ".join(facts), COLUMNS, "  ")
    if flags := [say(f"show.flag_{name}", lang, value=_flag(name, detail[name], lang)) for name in _FLAGS if detail.get(name)]:
        yield from folded(" · ".join(flags), COLUMNS, "  ")
    for line in row.get("verdicts") or ():
        if isinstance(line, dict):
            yield from _verdict(line, lang)


def _flag(name: str, value: Any, lang: Language) -> str:
    """A yardstick in the reader's words; any other value as it is."""
    known = name == "against" and value in ("reference", "answer")
    return say(f"show.yardstick_{value}", lang) if known else _value(value)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{key}={_value(held)}" for key, held in value.items())
    return f"{value:.6g}" if isinstance(value, float) else one_line(value)


def _verdict(line: Row, lang: Language) -> Iterator[str]:
    held = line.get("evidence") or ()
    evidence = ", ".join(map(one_line, held if isinstance(held, list | tuple) else [held]))
    cosine = f" {line['cosine']:.3f}" if isinstance(line.get("cosine"), int | float) else ""
    text, sure = line.get("text") or "", line.get("confidence")
    sure = say("show.confidence", lang, value=f"{sure:.2f}") if isinstance(sure, int | float) else ""
    head = f"{verdict_word(line.get('verdict'), lang)}{cosine}{sure}" + (f" ({evidence})" if evidence else "")
    head = f"  {one_line(line.get('id', '?')):<3} {head}" + (say("show.colon", lang) if text else "")
    if width(head) <= HEAD_COLUMNS:
        yield from folded(text, COLUMNS, head, indent=" " * 8)
    else:  # a text of its own would have a column of a few letters
        yield from folded(head, COLUMNS, indent=" " * 8)
        yield from folded(text, COLUMNS, " " * 8) if text else ()
    for name in ("reason", "quote", "anchor"):
        if line.get(name):
            mark = say("show.unverified", lang) if name == "quote" and line.get("unverified") else ""
            yield from folded(f"{line[name]}{mark}", COLUMNS, f"        {say(f'show.{name}', lang)}")


def _replies(run: Run, rows: list[Row], lang: Language) -> Iterator[str]:
    keys = question_keys(rows)
    found = run.replies(set(keys))
    yield from ("", _RULE)
    if not keys or not found:
        yield from folded(say("show.no_replies", lang), COLUMNS)
    for key in keys:
        if reply := found.get(key):
            yield from folded(f"{one_line(reply.get('kind', '?'))} · {one_line(key)}", COLUMNS)
            yield from folded(reply_text(reply, lang), COLUMNS, "  ")


def question_keys(rows: Iterable[Row]) -> list[str]:
    """Return the keys of the questions some score rows come from, each once; a hand-made row may hold anything there."""
    lists = (row.get("questions") for row in rows)
    return list(dict.fromkeys(str(key) for keys in lists if isinstance(keys, list | tuple) for key in keys))


def reply_text(reply: Row, lang: Language) -> str:
    """Return what came back for a question: the raw reply, else its error in a word and the endpoint's own, else what was read."""
    if not reply.get("raw") and reply.get("error") and reply.get("message"):
        return f"{reply['error']}: {reply['message']}"
    for name in ("raw", "error", "parsed"):
        if reply.get(name):
            return str(reply[name])
    return say("show.text_blank", lang)
