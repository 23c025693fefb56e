"""The page of a metric: its text from the catalogue, its facts from the code, its example computed from the bundled gold set."""

import asyncio
from typing import Any

import orjson

from ragstone.embed.scripted import ScriptedEmbedder
from ragstone.judge.scripted import ScriptedJudge
from ragstone.metrics import available
from ragstone.metrics.base import Metric
from ragstone.plans import separate
from ragstone.plans.base import Case
from ragstone.questions.base import Question
from ragstone.resources import read_text
from ragstone.run import Driver
from ragstone.text import say
from ragstone.types import Language, Sample, Score

EXAMPLES: dict[str, dict[Language, str]] = {
    "faithfulness": {"zh": "zh-contact-1", "en": "en-contact-1"},
    "answer_relevancy": {"zh": "zh-returns-1", "en": "en-returns-1"},
    "context_precision": {"zh": "zh-list-1", "en": "en-returns-1"},
    "context_recall": {"zh": "zh-emergency-1", "en": "en-emergency-1"},
    "answer_correctness": {"zh": "zh-contact-1", "en": "en-contact-1"},
}
"""The bundled sample that shows each metric at work, by language."""

RULES = {
    "faithfulness": ("collect", "contexts_missing", "missing", "no_claims", "no_context"),
    "answer_relevancy": ("collect", "missing", "empty_answer", "expected_refusal", "expected_clarification"),
    "context_precision": ("collect", "contexts_missing", "missing", "no_context"),
    "context_recall": ("collect", "contexts_missing", "missing", "no_reference_claims", "no_context"),
    "answer_correctness": ("collect", "missing", "empty_answer", "no_reference_claims"),
}
"""The policies that decide on each metric without a judge, most general first."""


def page(name: str, lang: Language) -> str:
    """Return the page of a metric in Markdown. Metrics of other packages show their docstring and facts."""
    cls = available()[name]
    if name not in RULES:
        return f"# `{name}`\n\n{cls.__doc__ or ''}\n"
    return say(
        "metrics.page",
        lang,
        name=name,
        title=say(f"metrics.name_{name}", lang),
        line=say(f"metrics.line_{name}", lang),
        formula=say(f"metrics.formula_{name}", lang),
        side=say(f"metrics.side_{cls.side}", lang),
        needs=", ".join(say(f"metrics.column_{column}", lang) for column in needed(cls)),
        parameters=_parameters(cls, lang),
        version=cls.version,
        rules="\n".join(f"- {say(f'metrics.na_{rule}', lang)}" for rule in RULES[name]),
        example=example(name, lang),
        trap=say(f"metrics.trap_{name}", lang),
        ragas=say(f"metrics.ragas_{name}", lang),
        source=say(f"metrics.source_{name}", lang),
    ).lstrip()


def needed(cls: type[Metric]) -> tuple[str, ...]:
    """Return what a metric needs, its yardstick included."""
    return (*cls.needs, "yardstick") if "against" in cls.run_level else cls.needs


def _parameters(cls: type[Metric], lang: Language) -> str:
    found = cls().parameters
    return ", ".join(f"`{k}` = {v}" for k, v in found.items()) or say("metrics.none", lang)


def example(name: str, lang: Language) -> str:
    """Return the worked example: one bundled sample, scored by its truth table, every verdict shown."""
    wanted = EXAMPLES[name][lang]
    rows = map(orjson.loads, read_text("gold", "samples.jsonl").splitlines())
    row = next(r for r in rows if r["id"] == wanted)
    sample = _sample(row, lang)
    score = asyncio.run(_score(available()[name](), sample))
    head = say("metrics.example", lang, id=sample.id, question=sample.question)
    lines = [f"- {v.id} {_mark(v.verdict)} {v.text}" + (f" ({v.cosine:g})" if v.cosine is not None else "") for v in score.verdicts]
    return "\n".join([head, "", *lines, "", say("metrics.example_value", lang, value=f"{score.value:.3f}", working=working(score, lang))])


def _sample(row: dict[str, Any], lang: Language) -> Sample:
    kept = {k: v for k, v in row.items() if k in Sample.model_fields and k != "contexts"}
    contexts = [{"text": c} if isinstance(c, str) else c for c in row["contexts"]]
    return Sample.model_validate({**kept, "contexts": contexts, "language": lang})


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


def _mark(verdict: str) -> str:
    return "✓" if verdict in ("supported", "useful", "covered", "committal") else "✗"


def working(score: Score, lang: Language) -> str:
    """Return in one line how the value came about."""
    d, verdicts = score.detail, score.verdicts
    if "cosines" in d:
        return say("metrics.working_relevancy", lang, cosines=", ".join(f"{c:g}" for c in d["cosines"]))
    if "tp" in d:
        w1, w2 = d["weights"]
        return say("metrics.working_correctness", lang, w1=w1, w2=w2, f1=d["f1"], cosine=d["cosine"], tp=d["tp"], fp=d["fp"], fn=d["fn"])
    if "against" in d:
        ranks = [i for i, v in enumerate(verdicts, 1) if v.verdict == "useful"]
        terms = " + ".join(f"{found}/{rank}" for found, rank in enumerate(ranks, 1))
        return say("metrics.working_precision", lang, ranks=", ".join(map(str, ranks)), terms=terms, hits=len(ranks))
    return say("metrics.working_claims", lang, hits=sum(v.verdict == "supported" for v in verdicts), total=len(verdicts))
