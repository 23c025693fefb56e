"""ragstone (RAG + touchstone, 试金石): measures retrieval-augmented generation and says how far each number can be trusted.

Names are loaded at first use: `import ragstone` costs nothing, changes nothing and opens no connection.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ragstone.analysis.levels import Levels
    from ragstone.api import aevaluate, estimate, evaluate
    from ragstone.claim_history import history
    from ragstone.collect_api import acollect_samples, collect_samples
    from ragstone.collecting import Collected
    from ragstone.errors import ConfigError, DataError, RagstoneError, RunFolderError, StoppedError
    from ragstone.export.receipt import Receipt
    from ragstone.exporting import Written, aexport_run, export_run
    from ragstone.metrics.answer_correctness import AnswerCorrectness
    from ragstone.metrics.answer_relevancy import AnswerRelevancy
    from ragstone.metrics.context_precision import ContextPrecision
    from ragstone.metrics.context_recall import ContextRecall
    from ragstone.metrics.faithfulness import Faithfulness
    from ragstone.metrics.keyword_recall import KeywordRecall
    from ragstone.pipeline.result import PipelineResult
    from ragstone.pipeline.running import run_pipeline
    from ragstone.rehearsal import Estimate
    from ragstone.results import Run, load
    from ragstone.shown.check import Checked, check
    from ragstone.shown.comparison import Comparison, compare
    from ragstone.shown.diagnosis import Diagnosis, diagnose
    from ragstone.shown.gate import GateResult
    from ragstone.shown.gating import gate
    from ragstone.shown.plan import Plan, plan
    from ragstone.types import Context, Sample, Score, Verdict

_HOME = {
    "evaluate": "ragstone.api",
    "aevaluate": "ragstone.api",
    "estimate": "ragstone.api",
    "collect_samples": "ragstone.collect_api",
    "acollect_samples": "ragstone.collect_api",
    "Collected": "ragstone.collecting",
    "export_run": "ragstone.exporting",
    "aexport_run": "ragstone.exporting",
    "Written": "ragstone.exporting",
    "Receipt": "ragstone.export.receipt",
    "Estimate": "ragstone.rehearsal",
    "Levels": "ragstone.analysis.levels",
    "load": "ragstone.results",
    "history": "ragstone.claim_history",
    "Run": "ragstone.results",
    "gate": "ragstone.shown.gating",
    "GateResult": "ragstone.shown.gate",
    "plan": "ragstone.shown.plan",
    "Plan": "ragstone.shown.plan",
    "check": "ragstone.shown.check",
    "Checked": "ragstone.shown.check",
    "compare": "ragstone.shown.comparison",
    "Comparison": "ragstone.shown.comparison",
    "diagnose": "ragstone.shown.diagnosis",
    "Diagnosis": "ragstone.shown.diagnosis",
    "run_pipeline": "ragstone.pipeline.running",
    "PipelineResult": "ragstone.pipeline.result",
    "Sample": "ragstone.types",
    "Context": "ragstone.types",
    "Score": "ragstone.types",
    "Verdict": "ragstone.types",
    "Faithfulness": "ragstone.metrics.faithfulness",
    "AnswerRelevancy": "ragstone.metrics.answer_relevancy",
    "ContextPrecision": "ragstone.metrics.context_precision",
    "ContextRecall": "ragstone.metrics.context_recall",
    "AnswerCorrectness": "ragstone.metrics.answer_correctness",
    "KeywordRecall": "ragstone.metrics.keyword_recall",
    "RagstoneError": "ragstone.errors",
    "ConfigError": "ragstone.errors",
    "DataError": "ragstone.errors",
    "RunFolderError": "ragstone.errors",
    "StoppedError": "ragstone.errors",
}

__all__ = [
    "AnswerCorrectness",
    "AnswerRelevancy",
    "Checked",
    "Collected",
    "Comparison",
    "ConfigError",
    "Context",
    "ContextPrecision",
    "ContextRecall",
    "DataError",
    "Diagnosis",
    "Estimate",
    "Faithfulness",
    "GateResult",
    "KeywordRecall",
    "Levels",
    "PipelineResult",
    "Plan",
    "RagstoneError",
    "Receipt",
    "Run",
    "RunFolderError",
    "Sample",
    "Score",
    "StoppedError",
    "Verdict",
    "Written",
    "__version__",
    "acollect_samples",
    "aevaluate",
    "aexport_run",
    "check",
    "collect_samples",
    "compare",
    "diagnose",
    "estimate",
    "evaluate",
    "export_run",
    "gate",
    "history",
    "load",
    "plan",
    "run_pipeline",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name in _HOME:
        import importlib

        value = getattr(importlib.import_module(_HOME[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ragstone' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
