"""Two runs compared: what `ragstone.compare` returns, as a document, as Markdown, as HTML and as blocks for the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.analysis.cells import Notice
from ragstone.analysis.comparison import ComparedRuns, ComparedSlice, compare_runs
from ragstone.analysis.contrast import Rules
from ragstone.analysis.differing import differing
from ragstone.analysis.pairs import PairFacts, Pairs, Side, pair
from ragstone.analysis.parts import ComparedCells
from ragstone.errors import ConfigError, RunFolderError
from ragstone.figures import metric_name, metric_named, percent
from ragstone.results import Run, load
from ragstone.shown.blocks import to_html, to_markdown
from ragstone.shown.verdicts import verdict_text
from ragstone.terms import check_cluster, is_number, terms_of, unknown_key
from ragstone.text import say, screen_language

if TYPE_CHECKING:
    from ragstone.analysis.contrast import Contrast
    from ragstone.analysis.intervals import Method
    from ragstone.analysis.summary import RunFacts
    from ragstone.shown.blocks import Block
    from ragstone.types import Language

CLAIMS_SHOWN = 10
"""Claims of a kind that a page lists unless told otherwise."""


class Comparison(ComparedRuns):
    """Two runs compared; a notebook shows it as a page. `to_dict` is the document of `compare --json`."""

    __slots__ = ()

    @classmethod
    def of(cls, found: ComparedRuns) -> Comparison:
        """Return the same comparison as one that shows itself."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the document of `compare --json`; numbers unrounded, None = cannot be computed.

        Args:
            lang: language of the texts; None = the screen's.
        """
        lang = lang or screen_language()
        return {
            "base": self.base.to_dict(),
            "new": self.new.to_dict(),
            "pairs": self.pairs.to_dict(),
            "family": list(self.family),
            "alpha": self.rules.alpha,
            "seed": self.rules.seed,
            "resamples": self.resamples,
            "metrics": [self._metric(m, len(self.family), lang) for m in self.metrics],
            "slices": [self._slice(part, lang) for part in self.slices],
            "claims": self.claims.to_dict(),
            "warnings": [{"code": warning.code, "text": warning_text(warning, lang)} for warning in self.warnings],
        }

    def _metric(self, found: Contrast, family: int, lang: Language) -> dict[str, Any]:
        text = verdict_text(found, lang, family=family, alone=self.alone, apart=self.pairs.apart)
        return {**found.to_dict(), "text": text}

    def _slice(self, part: ComparedSlice, lang: Language) -> dict[str, Any]:
        tested = sum(m.p_adjusted is not None for other in self.slices for m in other.metrics)
        metrics = [self._metric(m, tested, lang) for m in part.metrics]
        return {"key": part.key, "value": part.value, "small": part.small, "metrics": metrics}

    def blocks(self, lang: Language | None = None, claims: int = CLAIMS_SHOWN) -> list[Block]:
        """Return the page as blocks: verdicts, table, what was left out, slices, claims, warnings.

        Args:
            lang: language of the page; None = the screen's.
            claims: how many claims of a kind to list.
        """
        from ragstone.shown.comparison_page import comparison_blocks

        return list(comparison_blocks(self, lang or screen_language(), claims))

    def to_markdown(self, lang: Language | None = None) -> str:
        """Return the page as Markdown; no text out of the data can become a link, a heading or HTML."""
        return to_markdown(self.blocks(lang))

    def _repr_html_(self) -> str:
        """Return the page for a notebook, in the language of the screen."""
        return to_html(self.blocks(), screen_language())

    def __repr__(self) -> str:
        """One line: how many pairs, and a verdict a metric."""
        verdicts = (f"{m.metric}={m.verdict}" for m in self.metrics if m.verdict)
        return f"Comparison({', '.join((f'pairs={len(self.pairs)}', *verdicts))})"


def compare(
    a: Run | str | Path,
    b: Run | str | Path,
    metrics: str | Iterable[str] | None = None,
    by: str | None = None,
    cluster: str | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
    ci: Method | None = None,
    seed: int = 0,
) -> Comparison:
    """Compare a new run with a base run, pair by pair: the same sample id, question and reference.

    Args:
        a: the base run, or its folder.
        b: the new run, or its folder; differences are new - base.
        metrics: which metrics to compare, a list or `a,b`; None = all that both runs have.
        by: key of the samples' `meta` (or `language`, `expected_behavior`) to slice by.
        cluster: key of the samples' `meta`; samples that share its value belong together and are not independent.
        margin: a difference within +-margin counts as none; then a verdict `equivalent` is possible.
        alpha: chance, over all metrics together, to call a difference real that is none; intervals have the level 1 - alpha.
        ci: method of the intervals: t, bounded, bca, bootstrap_t or cluster_t; None = by the data.
        seed: of everything random; the same seed gives the same numbers.

    Raises:
        ConfigError: an unknown metric or cluster key, or an option out of range.
        RunFolderError: a run cannot be read, or the runs have nothing to compare.
    """
    rules = _rules(margin, alpha, ci, cluster, seed)
    base, new = (given if isinstance(given, Run) else load(given) for given in (a, b))
    notices: list[Notice] = []
    left, right = (_side(run, name, by, cluster, notices) for run, name in ((base, "base"), (new, "new")))
    _require_keys(left, right, by, cluster, notices)
    pairs = pair(left, right)
    if not len(pairs):
        raise RunFolderError(_no_pairs(pairs))
    chosen = _chosen(left.cells, right.cells, metrics, notices)
    if base.smoke_test or new.smoke_test:
        notices.insert(0, Notice("smoke_test"))
    facts = (base.facts(), new.facts())
    if same_run(*facts):
        notices.append(Notice("same_run"))
    elif _date(facts[0]) > _date(facts[1]) > "":
        notices.append(Notice("base_is_newer", (("base", facts[0].created_at), ("new", facts[1].created_at))))
    notices += differing(base.manifest, new.manifest, chosen)
    with base.fetching() as old, new.fetching() as now:
        return Comparison.of(compare_runs(left, right, pairs, chosen, rules, facts=facts, fetch=(old, now), notices=notices))


def _rules(margin: float | None, alpha: float, ci: str | None, cluster: str | None, seed: int) -> Rules:
    lang = screen_language()
    if not is_number(alpha) or not 0 < alpha < 1 or not 0 < 1 - alpha < 1:  # 1 - 1e-17 is 1
        raise ConfigError(say("compare.alpha_range", lang, value=alpha))
    if margin is not None and not (is_number(margin) and 0 < margin <= 1):
        raise ConfigError(say("compare.margin_range", lang, value=margin))
    terms = terms_of(ci, cluster, seed=seed)
    return Rules(float(alpha), None if margin is None else float(margin), terms.ci, terms.seed)


def same_run(base: RunFacts, new: RunFacts) -> bool:
    """True if two names stand for one run: the same folder or the same id."""
    return any(old is not None and old == now for old, now in ((base.path, new.path), (base.run_id, new.run_id)))


def _date(run: RunFacts) -> str:
    """When a run was made, in a form whose order is that of time (ragstone writes UTC); "" where it does not tell, or otherwise."""
    said = run.created_at or ""
    return said if re.match(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$", said) else ""


def _side(run: Run, name: str, by: str | None, cluster: str | None, notices: list[Notice]) -> Side:
    own: list[Notice] = []
    cells, facts = ComparedCells(), PairFacts(by, cluster)
    run.cells(facts, own, cells)
    if cells.doubled:
        own.append(Notice("cells_doubled", (("count", cells.doubled),)))
    notices += [Notice(n.code, (*n.values, ("side", name))) for n in own if n.code not in ("key_unknown", "keys_missing")]
    return Side(cells, facts)


def _require_keys(left: Side, right: Side, by: str | None, cluster: str | None, notices: list[Notice]) -> None:
    """Clusters that are not there would quietly make the numbers too sure; a slice that is not there is only told."""
    if cluster is not None and not (left.facts.together or right.facts.together):
        check_cluster(left.facts if left.facts.keys else right.facts)
    keys = dict.fromkeys([*left.facts.keys, *right.facts.keys])
    if by is not None and by not in keys:
        notices.append(unknown_key(by, keys))


def _no_pairs(pairs: Pairs) -> str:
    lang = screen_language()
    total = max(pairs.base_samples, pairs.new_samples)
    key = "compare.all_changed" if pairs.changed else "compare.no_common_id"
    hint = say("compare.renamed_hint", lang, count=len(pairs.renamed)) if pairs.renamed else ""
    return say(key, lang, count=pairs.matching, total=total) + hint


def _chosen(base: ComparedCells, new: ComparedCells, metrics: str | Iterable[str] | None, notices: list[Notice]) -> list[str]:
    """Return the metrics to compare, in the order of the base run; one only one run has is told."""
    lang = screen_language()
    known = list(dict.fromkeys([*base.columns, *new.columns]))
    wanted = known if metrics is None else [metric_named(name) for name in _names(metrics)]
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0) or known[:1]
            raise ConfigError(say("compare.unknown_metric", lang, name=name, near=near[0], known=", ".join(known)))
    for code, columns, other in (("metrics_only_base", base.columns, new.columns), ("metrics_only_new", new.columns, base.columns)):
        if names := [name for name in wanted if name in columns and name not in other]:
            notices.append(Notice(code, (("names", ", ".join(names)),)))
    found = [name for name in base.columns if name in wanted and name in new.columns]
    if not found:
        raise RunFolderError(say("compare.no_common_metric", lang, base=", ".join(base.columns), new=", ".join(new.columns)))
    return found


def _names(metrics: str | Iterable[str]) -> list[str]:
    """Names separated by commas, except those within the brackets of a name's parameters."""
    if not isinstance(metrics, str):
        return list(metrics)
    names, depth, name = [], 0, ""
    for letter in metrics + ",":
        depth += (letter in "(（") - (letter in ")）")
        if letter in ",，、" and depth <= 0:
            names.append(name.strip())
            name = ""
        else:
            name += letter
    return [name for name in names if name]


def warning_text(warning: Notice, lang: Language) -> str:
    """Return a warning in words."""
    values: dict[str, Any] = dict(warning.values)
    side = values.pop("side", None)
    if side is not None:
        return say(f"compare.of_{side}", lang, text=say(f"show.warning_{warning.code}", lang, **values))
    if warning.code in ("key_unknown", "keys_missing", "cluster_missing", "cluster_unused", "repeats_unclustered"):
        return say(f"show.warning_{warning.code}", lang, **values)
    if warning.code == "smoke_test":
        return say("judges.smoke_test", lang)
    if warning.code == "gold_differs" and "n" in values:
        return say("compare.warning_questions_differ", lang, **values)
    if values.pop("unseen", False):
        return say("compare.warning_gold_unseen", lang, **values)
    if warning.code == "coverage_low" and values["metric"] is None:
        return say("compare.warning_few_pairs", lang, **values)
    values |= {name: say("compare.not_set", lang) for name in ("base", "new") if values.get(name) == "-"}
    if "metric" in values:
        values["metric"] = metric_name(values["metric"], lang)
    if warning.code == "coverage_low" and "base" in values:
        values |= {name: percent(values[name]) for name in ("base", "new")}
        return say("compare.warning_coverage_differs", lang, **values)
    return say(f"compare.warning_{warning.code}", lang, **values)
