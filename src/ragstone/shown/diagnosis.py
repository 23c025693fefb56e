"""The diagnosis of a run as people and programs get it: a typed object, a page of blocks, the document of `diagnose --json`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ragstone.analysis.cells import Notice
from ragstone.analysis.diagnosis import Diagnosed
from ragstone.analysis.diagnosis import diagnose as diagnosed
from ragstone.analysis.slices import SampleFacts
from ragstone.figures import number
from ragstone.shown.blocks import to_html, to_markdown
from ragstone.shown.causes import cause_dict, claim_dict
from ragstone.shown.diagnosis_page import note_text, notice_text, page, sample_page
from ragstone.shown.readings import readings
from ragstone.text import screen_language

if TYPE_CHECKING:
    from ragstone.analysis.diagnosis import DiagnosedSample
    from ragstone.analysis.levels import Levels
    from ragstone.analysis.sums import Sums
    from ragstone.results import Run
    from ragstone.shown.blocks import Block
    from ragstone.types import Language


class Diagnosis(Diagnosed):
    """Why a run lost its points; a notebook shows it as a page."""

    __slots__ = ()

    @classmethod
    def of(cls, found: Diagnosed) -> Diagnosis:
        """Return the same diagnosis as one that shows itself."""
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def __repr__(self) -> str:
        """A line a cause with its points."""
        where = self.run.path or self.run.run_id
        lines = [f"Diagnosis({repr(where) + ', ' if where else ''}samples={self.samples_total}, diagnosed={self.diagnosed})"]
        for one in self.sums.causes:
            name = f"{one.cause}{' (expected)' if one.expected else ''}"
            lines.append(f"  {name:<20}  points={number(one.points.total)}  samples={one.samples}  claims={one.claims}")
        return "\n".join(lines)

    def blocks(self, lang: Language | None = None) -> list[Block]:
        """Return the page of `ragstone diagnose` as blocks; `lang`: language of its words, unset = that of the screen."""
        return list(page(self, lang or screen_language()))

    def to_markdown(self, lang: Language | None = None) -> str:
        """Return the page as Markdown, e.g. for a pull request; sample text in it is escaped."""
        return to_markdown(self.blocks(lang))

    def _repr_html_(self) -> str:
        """The page for a notebook, in the language of the screen."""
        lang = screen_language()
        return to_html(self.blocks(lang), lang)

    def sample(self, sample_id: str) -> DiagnosedSample | None:
        """Return one sample's diagnosis; None where the run has no score of it."""
        return next((one for one in self.samples if one.sample_id == sample_id), None)

    def sample_blocks(self, sample: DiagnosedSample, lang: Language | None = None) -> list[Block]:
        """Return the page of one sample."""
        return list(sample_page(self, sample, lang or screen_language()))

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the document of `diagnose --json`; `lang`: language of its sentences, unset = that of the screen."""
        lang = lang or screen_language()
        return {
            "run": self.run.to_dict(),
            "samples_total": self.samples_total,
            "diagnosed": self.diagnosed,
            "skipped": [{"sample_id": sample_id, "reason": reason} for sample_id, reason in self.skipped],
            "lost": _two(self.sums.lost.to_dict()),
            "unattributed": _two(self.sums.unattributed.to_dict()),
            "causes": _causes(self.sums, lang),
            "quadrants": {"retrieval_generation": dict(self.quadrants)},
            "notes": [{"code": note.code, "text": note_text(note, lang), "sample_ids": list(note.sample_ids)} for note in self.notes]
            + [{"code": notice.code, "text": notice_text(notice, lang), "sample_ids": []} for notice in self.notices],
            "readings": readings(self.facts, lang),
            "slices": [
                {
                    "key": part.key,
                    "value": part.value,
                    "small": part.small,
                    "samples": part.sums.samples,
                    "lost": _two(part.sums.lost.to_dict()),
                    "unattributed": _two(part.sums.unattributed.to_dict()),
                    "causes": _causes(part.sums, lang),
                }
                for part in self.slices
            ],
            "samples": [sample_dict(one) for one in self.samples],
        }


def diagnose(run: Run, by: str | None = None, levels: Levels | None = None) -> Diagnosis:
    """Return why a run lost its points: causes read off the verdicts that are there, without asking a judge again.

    Args:
        run: the run.
        by: key of the samples' `meta` (or `language`, `expected_behavior`) to break the causes down by.
        levels: limits of the levels; `high` decides where retrieval and generation are good. Unset = the run's, else 0.8.

    Raises:
        RunFolderError: a line holds what cannot be, or no line can be read.
    """
    notices: list[Notice] = []
    facts = SampleFacts(by)
    cells = run.cells(facts, notices)
    if cells.doubled:
        notices.append(Notice("cells_doubled", (("count", cells.doubled),)))
    with run.fetching() as fetch:
        found = diagnosed(
            cells,
            facts,
            fetch,
            lambda: run.sample_rows([]),
            run=run.facts(),
            levels=levels or run.levels,
            top_k=_top_k(run.manifest),
            notices=notices,
        )
    return Diagnosis.of(found)


def sample_dict(one: DiagnosedSample) -> dict[str, Any]:
    """Return the sample object of `diagnose --json`."""
    return {
        "sample_id": one.sample_id,
        "cause": one.cause,
        "quadrant": one.quadrant,
        "causes": [claim_dict(claim) for claim in one.claims],
    }


def _two(points: dict[str, float]) -> dict[str, float]:
    return {name: points[name] for name in ("faithfulness", "answer_correctness")}


def _causes(sums: Sums, lang: Language) -> list[dict[str, Any]]:
    return [cause_dict(one, lang, sums.refusals if one.cause == "refused" else None) for one in sums.merged]


def _top_k(manifest: dict[str, Any]) -> int | None:
    limits = manifest.get("limits")
    top_k = limits.get("top_k") if isinstance(limits, dict) else None
    return top_k if isinstance(top_k, int) and not isinstance(top_k, bool) and top_k > 0 else None
