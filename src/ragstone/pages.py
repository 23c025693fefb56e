"""The page of a metric: its text from the catalogue, its facts from the code, its example computed from the bundled gold set."""

import asyncio
import inspect
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import orjson

from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.scripted import ScriptedJudge
from ragstone.metrics import available
from ragstone.metrics.base import Metric
from ragstone.plans import separate
from ragstone.plans.base import Case
from ragstone.questions.base import Question
from ragstone.reading.clipping import clip
from ragstone.resources import read_text
from ragstone.run import Driver
from ragstone.text import say
from ragstone.types import Language, Sample, Score, Verdict

EXAMPLES: dict[str, dict[Language, str]] = {
    "faithfulness": {"zh": "zh-contact-1", "en": "en-contact-1"},
    "answer_relevancy": {"zh": "zh-returns-1", "en": "en-returns-1"},
    "context_precision": {"zh": "zh-list-1", "en": "en-returns-1"},
    "context_recall": {"zh": "zh-emergency-1", "en": "en-emergency-1"},
    "answer_correctness": {"zh": "zh-contact-1", "en": "en-contact-1"},
    "keyword_recall": {"zh": "zh-emergency-1", "en": "en-emergency-1"},
}
"""The bundled sample that shows each metric at work, by language."""

TOP_K = {"keyword_recall": 1}
"""Examples that look at the first chunks only: with all of them the bundled samples show nothing but 0 and 1."""

_FIRST = ("collect", "missing")
CASES = {
    "faithfulness": ("contexts_missing", "no_claims", "no_context_claims", "reply"),
    "answer_relevancy": (
        "empty_answer",
        "expected_refusal",
        "expected_clarification",
        "all_noncommittal",
        "no_questions",
        "unreadable",
        "embedding",
    ),
    "context_precision": ("contexts_missing", "no_context", "none_useful", "alternatives", "reply"),
    "context_recall": ("contexts_missing", "no_reference_claims", "no_context_claims", "alternatives", "reply"),
    "answer_correctness": ("empty_answer", "no_reference_claims", "answer_without_claims", "alternatives", "reply", "embedding"),
    "keyword_recall": ("contexts_missing", "no_keywords", "no_context"),
}
"""The policies of each metric beyond those all share, in the order they are met."""

GOOD = frozenset({"supported", "useful", "covered", "committal", "found"})


def page(name: str, lang: Language) -> str:
    """Return the page of a metric in Markdown. Metrics of other packages show their docstring and facts."""
    cls = available()[name]
    side = say(f"metrics.side_{cls.side}", lang)
    needs = _joined((_column(column, lang) for column in needed(cls)), lang)
    if name not in CASES:
        doc = inspect.cleandoc(cls.__doc__ or "")
        return say("metrics.page_other", lang, name=name, doc=doc, side=side, needs=needs, version=cls.version).lstrip()
    return say(
        "metrics.page",
        lang,
        name=name,
        title=say(f"metrics.name_{name}", lang),
        line=say(f"metrics.line_{name}", lang),
        formula=say(f"metrics.formula_{name}", lang),
        side=side,
        needs=needs,
        parameters=say(f"metrics.parameters_{name}", lang, **cls().parameters),
        version=cls.version,
        steps=say(f"metrics.steps_{name}", lang).strip(),
        cases="\n".join(
            f"| {say(f'metrics.case_{case}', lang)} |" for case in (*_FIRST, *CASES[name], *(("transport",) if cls.judged else ()))
        ),
        example=example(name, lang),
        trap=say(f"metrics.trap_{name}", lang).strip(),
        ragas=say(f"metrics.ragas_{name}", lang),
        source=say(f"metrics.source_{name}", lang),
    ).lstrip()


def _column(column: str, lang: Language) -> str:
    known = ("question", "answer", "contexts", "reference", "reference_contexts", "yardstick")
    return say(f"metrics.column_{column}", lang) if column in known else column


def needed(cls: type[Metric]) -> tuple[str, ...]:
    """Return what a metric needs, its yardstick included."""
    return (*cls.needs, "yardstick") if "against" in cls.run_level else cls.needs


def example(name: str, lang: Language) -> str:
    """Return the worked example: one bundled sample, scored by its truth table, every verdict shown."""
    wanted = EXAMPLES[name][lang]
    rows = map(orjson.loads, read_text("gold", "samples.jsonl").splitlines())
    sample = clip(_sample(next(row for row in rows if row["id"] == wanted), lang), top_k=TOP_K.get(name))[0]
    metric = available()[name]()
    score = asyncio.run(_score(metric, sample))
    return "\n".join(
        [
            _told(name, sample, lang) + "\n",
            *_texts(sample, needed(type(metric)), score, lang),
            *_lines(score, lang),
            "",
            say("metrics.example_value", lang, value=f"{score.value:.3f}", working=working(score, lang)),
        ]
    )


def _told(name: str, sample: Sample, lang: Language) -> str:
    """Which sample it is, and where its verdicts come from."""
    if name in TOP_K:
        return say("metrics.example_top_k", lang, id=sample.id, k=TOP_K[name])
    return say("metrics.example", lang, id=sample.id)


def _texts(sample: Sample, columns: tuple[str, ...], score: Score, lang: Language) -> Iterator[str]:
    """The texts the metric looked at; chunks that stand among the verdicts are not shown twice."""
    shown = {"reference", "question", "answer"} & {*columns, "question", *(("reference",) if "yardstick" in columns else ())}
    for name in ("question", "answer", "reference"):
        if name in shown:
            yield f"- {say(f'metrics.example_{name}', lang)}{say('metrics.colon', lang)}{getattr(sample, name)}"
    if "contexts" in columns and not any(verdict.kind == "context" for verdict in score.verdicts):
        yield from (f"- c{rank} {context.text}" for rank, context in enumerate(sample.contexts or (), 1))


def _lines(score: Score, lang: Language) -> Iterator[str]:
    """Every verdict line, those of a kind under their heading."""
    for kind, verdicts in groupby(score.verdicts, key=lambda verdict: verdict.kind):
        yield f"\n{say(f'metrics.lines_{kind}', lang)}\n"
        yield from (_line(verdict, lang) for verdict in verdicts)


def _line(verdict: Verdict, lang: Language) -> str:
    """One verdict in words; of a generated question the cosine says more than that it is committal."""
    if verdict.cosine is not None:
        return f"- {verdict.id} {verdict.cosine:.2f} {verdict.text}"
    mark = "✓" if verdict.verdict in GOOD else "✗"
    evidence = f" ({', '.join(verdict.evidence)})" if verdict.evidence else ""
    return f"- {verdict.id} {mark} {say(f'show.verdict_{verdict.verdict}', lang)}{evidence}{say('metrics.colon', lang)}{verdict.text}"


def _sample(row: dict[str, Any], lang: Language) -> Sample:
    return Sample.model_validate({**{k: v for k, v in row.items() if k in Sample.model_fields}, "language": lang})


async def _score(metric: Metric, sample: Sample) -> Score:
    truth = orjson.loads(read_text("gold", "truth.json"))
    kept = _Kept()
    driver = Driver(separate, ScriptedJudge.from_dict(truth), ScriptedEmbedder.from_dict(truth), kept)
    await driver.run([(Case(sample, sample.language), [metric], {})], workers=1, total=1)
    return kept.scores[0]


class _Kept:
    """Records of a single score that is not written anywhere."""

    def __init__(self) -> None:
        self.scores: list[Score] = []

    def held(self, question: Question) -> None:
        return None

    def keep_reply(self, question: Question, line: dict[str, Any]) -> None:
        """The example needs no replies."""

    def keep_score(self, score: Score) -> None:
        self.scores.append(score)


def working(score: Score, lang: Language) -> str:
    """Return in one line how the value came about."""
    d, verdicts = score.detail, score.verdicts
    if "cosines" in d:
        return say("metrics.working_relevancy", lang, cosines=_joined((f"{c:.2f}" for c in d["cosines"]), lang))
    if "tp" in d:
        w1, w2 = d["weights"]
        sizes = {
            "answer": d["tp"] + d["fp"],
            "covered": len(verdicts) - d["tp"] - d["fp"] - d["fn"],
            "reference": len(verdicts) - d["tp"] - d["fp"],
        }
        return say("metrics.working_correctness", lang, w1=w1, w2=w2, f1=d["f1"], cosine=d["cosine"], tp=d["tp"], **sizes)
    if "against" in d:
        ranks = [i for i, v in enumerate(verdicts, 1) if v.verdict == "useful"]
        terms = " + ".join(f"{found}/{rank}" for found, rank in enumerate(ranks, 1))
        return say("metrics.working_precision", lang, ranks=_joined(map(str, ranks), lang), terms=terms, hits=len(ranks))
    kind = "keywords" if verdicts[0].kind == "keyword" else "claims"
    return say(f"metrics.working_{kind}", lang, hits=sum(v.verdict in GOOD for v in verdicts), total=len(verdicts))


def _joined(words: Iterable[str], lang: Language) -> str:
    return say("metrics.comma", lang).join(words)
