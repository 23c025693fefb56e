"""The set as a whole: groups that are far larger or too small, variants of one question, and how many rows are enough."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from statistics import median

from ragstone.analysis.planning import Formula
from ragstone.analysis.slices import QUESTION
from ragstone.checks.base import Finding, Gold, Row, Said, Value

ENOUGH_ROWS = 20
"""Smaller sets are not told to be out of balance: there `too_few` says what matters."""
SMALL = 5
"""A group of fewer rows says nothing by itself."""
FAR = 5
"""A group is far larger than the others from so many times their median."""
MOST_GROUPS = 20
USUAL_SD = 0.25
"""Standard deviation of paired differences of a metric, as it often is."""
FEW = 30
GAPS = (0.05, 0.03)
VARIANT_OF = "variant_of"


# ------------------------------------------------------------------ groups
def balance(gold: Gold) -> Iterator[Finding]:
    """Yield imbalance."""
    if len(gold.rows) < ENOUGH_ROWS:
        return
    for key in sorted({key for row in gold.rows for key in row.sample.meta} - {VARIANT_OF, QUESTION, gold.cluster}):
        groups = _groups(gold, key)
        if _categorical(groups, len(gold.rows)):
            yield from _uneven(key, f"meta.{key}", groups)
    for key in ("language", "expected_behavior"):
        groups = defaultdict(list)
        for row in gold.rows:
            groups[str(getattr(row.sample, key))].append(row)
        yield from _small(key, key, groups) if len(groups) > 1 else ()


def _groups(gold: Gold, key: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in gold.rows:
        value = row.sample.meta.get(key)
        if isinstance(value, str | bool | int) and str(value).strip():
            found[str(value).strip()].append(row)
    return found


def _categorical(groups: dict[str, list[Row]], rows: int) -> bool:
    """Few values that most rows share: a category, no remark and no number."""
    held = sum(map(len, groups.values()))
    shared = sum(len(group) for group in groups.values() if len(group) > 1)
    return 2 <= len(groups) <= min(MOST_GROUPS, held // 4) and 2 * held > rows and 10 * shared >= 9 * held


def _uneven(key: str, column: str, groups: dict[str, list[Row]]) -> Iterator[Finding]:
    sizes = Counter({name: len(group) for name, group in groups.items()})
    largest, count = sorted(sizes.items(), key=lambda size: (-size[1], size[0]))[0]
    others = [size for name, size in sizes.items() if name != largest]
    if count >= FAR * median(others) and 2 * count >= sizes.total():
        said = Said("check.far_larger", {"name": largest, "count": count, "rows": sizes.total()})
        yield Finding("imbalance", "note", _first(groups), column=column, values={"key": key, "which": said})
    else:
        yield from _small(key, column, groups)


def _small(key: str, column: str, groups: Mapping[str, list[Row]]) -> Iterator[Finding]:
    if small := sorted((len(group), name) for name, group in groups.items() if len(group) < SMALL):
        named = tuple(f"{name} ({size})" for size, name in small)
        said = Said("check.small_groups", {"count": len(small), "least": SMALL, "named": named})
        yield Finding("imbalance", "note", _first(groups), column=column, values={"key": key, "which": said})


def _first(groups: Mapping[str, list[Row]]) -> int:
    return min(group[0].number for group in groups.values())


# ------------------------------------------------------------------ variants
def variants(gold: Gold) -> Iterator[Finding]:
    """Yield variants_unclustered."""
    ids = {row.sample.id for row in gold.rows}
    held = [(row, label) for row in gold.rows if (label := _label(row, VARIANT_OF)) is not None]
    named = Counter(label for _, label in held)
    for row, label in held:
        if label not in ids and named[label] == 1:
            yield row.found("variants_unclustered", "warning", f"meta.{VARIANT_OF}", which=Said("check.variant_of_nothing", {"of": label}))
    if held and gold.cluster is None:
        lone = sum(row.sample.id in named and VARIANT_OF not in row.sample.meta for row in gold.rows)
        values: dict[str, Value] = {"variants": len(held), "questions": len(named)}
        extra = Said("check.originals", {"count": lone}) if lone else Said("check.no_originals")
        said = Said("check.variants_held", values | {"originals": extra})
        yield Finding("variants_unclustered", "note", held[0][0].number, column=f"meta.{VARIANT_OF}", values={"which": said})


def _label(row: Row, key: str) -> str | None:
    value = row.sample.meta.get(key)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() else None


# ------------------------------------------------------------------ size
def size(gold: Gold) -> Iterator[Finding]:
    """Yield too_few."""
    key = gold.cluster or next((key for key in (VARIANT_OF, QUESTION) if any(_label(row, key) for row in gold.rows)), VARIANT_OF)
    count = len({_label(row, key) or _label(row, QUESTION) or row.sample.id for row in gold.rows})
    formula = Formula(USUAL_SD)
    needed = [formula.needed(gap) for gap in GAPS]
    if not gold.rows or count >= max(needed):
        return
    counted: dict[str, Value] = {"count": count}
    once = count < len(gold.rows)
    said = Said("check.counted_once", counted | {"rows": len(gold.rows), "key": key}) if once else Said("check.counted", counted)
    gap = min(1.0, formula.detectable(max(2, count)))
    values: dict[str, Value] = {"counted": said, "gap": f"{gap:.2f}", "sd": USUAL_SD, "first": needed[0], "second": needed[1]}
    yield Finding("too_few", "warning" if count < FEW else "note", gold.rows[0].number, values=values)
