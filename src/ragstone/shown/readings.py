"""Readings in words: what the numbers of a run mean, most important first.

The catalogue (`text/readings/*.toml`) holds the words and names the rule of each entry; the rules stand in
`ragstone.analysis.readings`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

from ragstone.analysis.quadrants import QUADRANTS
from ragstone.analysis.readings import RULES, Fired
from ragstone.figures import metric_name
from ragstone.resources import read_toml
from ragstone.shown.blocks import Heading, Items
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.facts import Facts, Weak
    from ragstone.shown.blocks import Block
    from ragstone.types import Language

FILES = ("pairs", "run", "causes", "metrics")
KINDS = (
    *("warning", "pair", "quadrant", "pattern", "decision", "slice", "trap", "cause", "what_to_do", "symptom", "reaction"),
    *("environment", "level", "worked", "scenario", "closing"),
)
"""Kinds of entries, most important first."""
TOLD = frozenset(KINDS) - {"worked"}
"""Worked examples teach; they say nothing of a run."""
TOP = 8
"""So many readings fit on a screen before nobody reads them."""
ASIDE = frozenset({"symptom", "reaction", "level", "scenario", "closing"})
"""Kinds that a page about a run leaves to the documentation."""
GENERAL = "what_to_do"
"""Steps against a metric that is not high; left out where a decision or a cause says more of it."""
REPEATS = {"faithful_but_badly_fed": "context_recall_low_faithfulness_high"}
"""Rule -> the rule that says the same and more, if it fires as well."""
FEW = {"quadrant": 1, "decision": 3}
"""Most readings of a kind among these; 2 of the others."""


@dataclass(frozen=True, slots=True)
class Words:
    """An entry in one language."""

    looks: str
    """What it looks like."""
    means: str
    do: tuple[str, ...]
    """What to do, in this order."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One reading of the catalogue."""

    id: str
    kind: str
    source: str
    """Section of the introductions the catalogue carries over; `own` for what ragstone adds."""
    metrics: tuple[str, ...]
    """Metrics it concerns; () = all."""
    rule: str
    """Name of the rule that fires it."""
    certainty: str
    """seen = the numbers show it; possible = one of several causes that look alike."""
    fault: bool
    """False for readings that praise, explain or remind."""
    words: Mapping[str, Words]
    """By language."""


@cache
def catalogue() -> dict[str, Entry]:
    """Return every entry by its id, in the order of the files."""
    return {id: _entry(id, data) for name in FILES for id, data in read_toml("text", "readings", f"{name}.toml").items()}


def _entry(id: str, data: Mapping[str, Any]) -> Entry:
    words = {lang: Words(data[lang]["looks"], data[lang]["means"], tuple(data[lang]["do"])) for lang in ("en", "zh")}
    plain = (data["kind"], data["source"], tuple(data["metrics"]), data["rule"], data["certainty"], data.get("fault", True))
    return Entry(id, *plain, words)


def fired(facts: Facts) -> list[tuple[Entry, Fired]]:
    """Return the entries whose rule fires, most important first.

    Faults come before praise and reminders; then the kinds in the order of KINDS, what is seen before what is possible, and
    what concerns more of the run before what concerns less.
    """
    results = {name: rule(facts) for name, rule in RULES.items()}
    found = [(entry, result) for entry in catalogue().values() if entry.kind in TOLD and (result := results[entry.rule])]
    return sorted(found, key=_rank)


def _rank(item: tuple[Entry, Fired]) -> tuple[bool, int, bool, float]:
    entry, result = item
    return not entry.fault, KINDS.index(entry.kind), entry.certainty != "seen", -result.weight


def top(found: Iterable[tuple[Entry, Fired]], most: int = TOP) -> list[tuple[Entry, Fired]]:
    """Return the first readings: of those that rest on the same rule only one, a few of each kind, nothing that others have said."""
    rules, kinds, kept, told = set[str](), Counter[str](), list[tuple[Entry, Fired]](), set[str]()
    for entry, result in found:
        said = entry.rule in rules or REPEATS.get(entry.rule) in rules or (entry.kind == GENERAL and told.issuperset(entry.metrics))
        if not said and kinds[entry.kind] < FEW.get(entry.kind, 2):
            rules.add(entry.rule)
            kinds[entry.kind] += 1
            kept.append((entry, result))
            told.update(entry.metrics if entry.kind in ("decision", "cause") else ())
    return kept[:most]


def readings(facts: Facts, lang: Language | None = None) -> list[dict[str, Any]]:
    """Return what the numbers mean, most important first: the `readings` of `diagnose --json`.

    Args:
        facts: what the run shows.
        lang: language of the texts; unset = that of the screen.

    Returns:
        Objects with metrics (one or two names), pattern, text, and beside them id, kind, rule, certainty, fault, looks, means, do
        and the count of samples that show it (null where the means alone do).
    """
    spoken = lang or screen_language()
    return [_document(entry, result, facts, spoken) for entry, result in fired(facts)]


def blocks(facts: Facts, lang: Language, most: int = TOP) -> list[Block]:
    """Return the most important readings as a part of a page; [] where there is nothing to say."""
    found = ((entry, result) for entry, result in fired(facts) if entry.kind not in ASIDE)
    told = tuple(text(entry, result, facts, lang) for entry, result in top(found, most))
    return [Heading(say("reading.heading", lang)), Items(told)] if told else []


def _document(entry: Entry, result: Fired, facts: Facts, lang: Language) -> dict[str, Any]:
    looks, means, do = words(entry, result, lang)
    return {
        "metrics": list(result.metrics),
        "pattern": result.pattern,
        "text": text(entry, result, facts, lang),
        "id": entry.id,
        "kind": entry.kind,
        "rule": entry.rule,
        "certainty": entry.certainty,
        "fault": entry.fault,
        "looks": looks,
        "means": means,
        "do": list(do),
        "samples": None if result.tally is None else {"count": result.tally.count, "of": result.tally.of},
    }


def words(entry: Entry, result: Fired, lang: Language) -> tuple[str, str, tuple[str, ...]]:
    """Return how an entry looks, what it means and what to do, with the numbers of the run filled in."""
    said, values = entry.words[lang], _values(result.values, lang)
    looks, means, *do = (part.format(**values) if values else part for part in (said.looks, said.means, *said.do))
    return looks, means, tuple(do)


def text(entry: Entry, result: Fired, facts: Facts, lang: Language) -> str:
    """Return a reading as a short paragraph: the numbers, what they mean, what to do first."""
    looks, means, do = words(entry, result, lang)
    if entry.kind == "level":
        looks = say("reading.level", lang, level=looks)
    looks = looks if looks.endswith((".", "。", "”")) else looks + say("reading.stop", lang)
    if entry.kind == "pair" and "middle" in result.pattern:
        looks = say("reading.in_part", lang, looks=looks)
    if entry.certainty == "possible" and entry.kind == "cause":
        means = say("reading.possible", lang) + means
    numbers = say("reading.joined", lang).join(_numbers(result, facts, lang))
    told = say("reading.told_plainly", lang, looks=looks, means=means)
    if numbers:
        told = say("reading.told", lang, numbers=numbers, looks=looks, means=means)
    return told + (say("reading.first", lang, steps=steps(do, lang)) if do else "")


def steps(do: tuple[str, ...], lang: Language) -> str:
    """Return what to do on one line, numbered where there is an order."""
    if len(do) == 1:
        return do[0]
    numbered = [say("reading.step", lang, number=number, step=step) for number, step in enumerate(do, 1)]
    return reduce(lambda before, step: say("reading.and_step", lang, before=before, step=step), numbered)


def _numbers(result: Fired, facts: Facts, lang: Language) -> Iterable[str]:
    means: Sequence[float | None] = result.together.means if result.together else [facts.mean(name) for name in result.metrics]
    if result.pattern in QUADRANTS:  # a quadrant counts samples; the means of a run say nothing of those in it
        means = [None] * len(result.metrics)
    for name, mean in zip(result.metrics, means, strict=True):
        if mean is not None:
            yield say("reading.told_mean", lang, metric=metric_name(name, lang), mean=f"{mean:.2f}")
    if result.together and not result.together.all:
        yield say("reading.told_together", lang, n=result.together.n)
    if result.tally is not None:
        word = "all" if result.tally.count == result.tally.of > 1 else "count"
        whole = result.tally.of == facts.samples or result.pattern == "failed"
        key = f"reading.told_{word}" if whole else f"reading.told_{word}_of_some"
        yield say(key, lang, count=result.tally.count, of=result.tally.of)


def _values(values: Mapping[str, Any], lang: Language) -> dict[str, Any]:
    groups: Iterable[Weak] = values.get("groups", ())
    told = [say("reading.group", lang, key=weak.key, value=weak.value, mean=f"{weak.mean:.2f}", n=weak.n) for weak in groups]
    return {**values, "groups": say("reading.groups_joined", lang).join(told)} if told else dict(values)
