"""The page of `ragstone diagnose`: what is wrong first, then where to look, then what else to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragstone.figures import NONE, percent
from ragstone.shown.blocks import Block, Code, Heading, Items, Table, Text
from ragstone.shown.causes import cause_meaning, cause_name, remedies
from ragstone.shown.readings import blocks as readings
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.analysis.causes import LostClaim
    from ragstone.analysis.cells import Notice
    from ragstone.analysis.diagnosis import Diagnosed, DiagnosedSample, Example
    from ragstone.analysis.remarks import Note
    from ragstone.analysis.sums import CauseSum, Sums
    from ragstone.types import Language

DETAILED = 5
"""So many causes are shown with examples and remedies."""
READ = 5
"""So many readings of the numbers are told."""
NAMED = 5
"""So many sample ids are named in a sentence."""
FIRST = "fewer_contexts"
"""A note that may explain the causes away stands before them."""
SHORT = 100
"""Sample text in a sentence is cut to so many characters."""


def page(found: Diagnosed, lang: Language) -> Iterator[Block]:
    """Yield the page of a run's diagnosis."""
    yield from _head(found, lang)
    yield from causes(found, lang)
    yield from _quadrants(found, lang)
    yield from _slices(found, lang)
    yield from _notes(found, lang)
    yield from readings(found.facts, lang, READ)
    signature = found.run.signature
    yield Code(signature) if signature else Text(say("show.signature_unknown", lang))


def causes(found: Diagnosed, lang: Language, detailed: int = DETAILED) -> Iterator[Block]:
    """Yield the causes by the points they cost, the first `detailed` with examples and remedies; nothing where nothing was lost."""
    if found.sums.lost.total:
        yield _causes_table(found, lang)
        yield Text(_points_meaning(found.sums, lang))
    if refused := found.sums.expected:
        yield Text(say("diagnose.expected_refusals", lang, samples=refused.samples, points=points(refused.points.total)))
    for rank, one in enumerate(found.sums.faults[:detailed], 1):
        yield from _cause(found, rank, one, lang)
    if rest := found.sums.faults[detailed:]:
        named = say("diagnose.comma", lang).join(f"{cause_name(one.cause, lang)} {points(one.points.total)}" for one in rest)
        yield Text(say("diagnose.more_causes", lang, causes=named))


def sample_page(found: Diagnosed, sample: DiagnosedSample, lang: Language) -> Iterator[Block]:
    """Yield the page of one sample: its lost claims, each with cause, points and chunks, and what to try."""
    if found.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    expected = any(claim.expected == "yes" for claim in sample.claims)
    cause = cause_name(sample.cause, lang, expected=expected) if sample.cause else say("diagnose.sample_clean", lang)
    yield Heading(say("diagnose.sample_title", lang, sample=sample.sample_id, cause=cause))
    if sample.cause:
        yield Text(cause_meaning(sample.cause, lang, expected=expected))
        yield Table(
            tuple(say(f"diagnose.column_{name}", lang) for name in ("claim", "cause", "points", "evidence", "text")),
            tuple(_claim_row(claim, lang) for claim in sample.claims),
            "llrll",
        )
        yield Text(say("diagnose.try", lang))
        yield Items(tuple(remedies(sample.cause, lang, expected=expected)))
    quadrant, look = (say(f"diagnose.{name}_{sample.quadrant}", lang) for name in ("quadrant", "look"))
    yield Text(say("diagnose.sample_quadrant", lang, quadrant=quadrant, look=look))
    signature = found.run.signature
    yield Code(signature) if signature else Text(say("show.signature_unknown", lang))


def points(value: float) -> str:
    """Return points with two decimals; 0.00 only for what is nothing."""
    return f"{max(value, 0.01):.2f}" if value > 1e-9 else "0"


def note_text(note: Note, lang: Language) -> str:
    """Return a note as a sentence."""
    values = {name: short(value) if isinstance(value, str) else value for name, value in note.values}
    return say(f"diagnose.note_{note.code}", lang, **values)


def notice_text(notice: Notice, lang: Language) -> str:
    """Return what had to be left out while reading, as a sentence."""
    return say(f"show.warning_{notice.code}", lang, **dict(notice.values))


def short(text: str) -> str:
    """Return a text on one line, cut with … where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= SHORT else line[: SHORT - 1].rstrip() + "…"


# ------------------------------------------------------------------ parts of the page
def _head(found: Diagnosed, lang: Language) -> Iterator[Block]:
    if found.run.notice:
        yield Text(say("judges.smoke_test", lang), warning=True)
    name = found.run.path or found.run.run_id
    yield Heading(say("diagnose.title", lang, run=name) if name else say("diagnose.title_plain", lang))
    yield Text(lead(found, lang))
    if found.skipped and found.diagnosed:
        named = [f"{sample_id} ({reason})" for sample_id, reason in found.skipped[:NAMED]]
        named += ["…"] if len(found.skipped) > NAMED else []
        yield Text(say("diagnose.skipped", lang, count=len(found.skipped), ids=say("diagnose.comma", lang).join(named)), warning=True)
    yield from (Text(notice_text(notice, lang), warning=True) for notice in found.notices)
    yield from (Text(_note_item(note, lang), warning=True) for note in found.notes if note.code == FIRST)


def lead(found: Diagnosed, lang: Language) -> str:
    """Return in a sentence how many samples lost points, and to what first."""
    faults, total = found.sums.faults, found.samples_total
    if not found.diagnosed:
        reasons = Counter(reason for _, reason in found.skipped).most_common(NAMED)
        named = say("diagnose.comma", lang).join(f"{reason} {count}" for reason, count in reasons)
        return say("diagnose.lead_nothing", lang, total=total, reasons=named)
    if faults:
        faulty = len({sample_id for one in faults for sample_id in one.sample_ids})
        share = _share(faults[0].points.total, found.sums)
        return say("diagnose.lead_faults", lang, faulty=faulty, total=total, cause=cause_name(faults[0].cause, lang), share=share)
    if not found.measured:
        return say("diagnose.lead_no_points_metrics", lang)
    looked_at = any(found.facts.sign(name).of for name in ("unsupported", "directive"))  # claims of answers, of references
    if not looked_at and any(note.code == "no_verdicts" for note in found.notes):
        return say("diagnose.lead_no_claims", lang)
    return say("diagnose.lead_clean", lang, diagnosed=found.diagnosed, total=total)


def _causes_table(found: Diagnosed, lang: Language) -> Table:
    sums = found.sums
    rows = [
        (cause_name(one.cause, lang), points(one.points.total), _share(one.points.total, sums), str(one.samples), str(one.claims))
        for one in sums.faults
    ]
    rest = sums.unattributed.total
    if rest > 1e-9:
        wording = sums.unattributed.faithfulness < 1e-9 and all(note.code != "no_verdicts" for note in found.notes)
        rows.append(
            (say("diagnose.row_wording" if wording else "diagnose.row_unattributed", lang), points(rest), _share(rest, sums), NONE, NONE)
        )
    heads = tuple(say(f"diagnose.column_{name}", lang) for name in ("cause", "points", "share", "samples", "claims"))
    return Table(heads, tuple(rows), "lrrrr")


def _points_meaning(sums: Sums, lang: Language) -> str:
    lost = {name: points(getattr(sums.lost, name)) for name in ("faithfulness", "answer_correctness")}
    return say("diagnose.points_meaning", lang, lost=points(sums.lost.total), **lost)


def _share(value: float, sums: Sums) -> str:
    """A share of the points lost; one that is whole but for rounding is shown as whole."""
    return percent(min(1.0, round(value / sums.counted, 9))) if sums.counted > 1e-9 else NONE


def _cause(found: Diagnosed, rank: int, one: CauseSum, lang: Language) -> Iterator[Block]:
    values = {"number": rank, "cause": cause_name(one.cause, lang), "points": points(one.points.total), "samples": one.samples}
    yield Heading(say("diagnose.cause_heading", lang, **values))
    unknown = one.cause == "refused" and not found.sums.refusals.get("no")
    yield Text(say("diagnose.what_refused_unknown", lang) if unknown else cause_meaning(one.cause, lang))
    yield Items(tuple(_example(example, lang) for example in found.examples.get((one.cause, False), ())))
    yield Text(say("diagnose.try", lang))
    yield Items(tuple(remedies(one.cause, lang)))


def _example(example: Example, lang: Language) -> str:
    claim = example.claim
    values = {"sample": example.sample_id, "claim": claim.claim, "text": short(claim.text) or say("diagnose.no_text", lang)}
    if example.chunk is None and claim.evidence:
        return say("diagnose.example_chunks", lang, **values, chunks=say("diagnose.comma", lang).join(claim.evidence))
    if example.chunk is None:
        return say("diagnose.example", lang, **values)
    chunk, text = example.chunk
    return say("diagnose.example_chunk", lang, **values, chunk=chunk, chunk_text=short(text))


def _quadrants(found: Diagnosed, lang: Language) -> Iterator[Block]:
    if found.quadrants["unknown"] == found.samples_total:
        return
    yield Heading(say("diagnose.quadrants_title", lang))
    heads = tuple(say(f"diagnose.column_{name}", lang) for name in ("quadrant", "samples", "look"))
    rows = tuple(
        (say(f"diagnose.quadrant_{word}", lang), str(count), say(f"diagnose.look_{word}", lang))
        for word, count in found.quadrants.items()
        if count or word != "unknown"
    )
    yield Table(heads, rows, "lrl")
    yield Text(say("diagnose.quadrants_meaning", lang, high=f"{found.high:g}"))


def _slices(found: Diagnosed, lang: Language) -> Iterator[Block]:
    if not found.slices:
        return
    yield Heading(say("diagnose.slices_title", lang, name=found.slices[0].key))
    heads = tuple(say(f"diagnose.column_{name}", lang) for name in ("samples", "points", "main_cause"))
    rows = []
    for part in found.slices:
        label = say("diagnose.no_value", lang) if part.value is None else str(part.value)
        first = part.sums.faults[0] if part.sums.faults else None
        main = f"{cause_name(first.cause, lang)} {_share(first.points.total, part.sums)}" if first else NONE
        rows.append((label + (" *" if part.small else ""), str(part.sums.samples), points(part.sums.counted), main))
    yield Table((found.slices[0].key, *heads), tuple(rows), "lrrl")
    if any(part.small for part in found.slices):
        yield Text(say("diagnose.small_slices", lang))


def _notes(found: Diagnosed, lang: Language) -> Iterator[Block]:
    if notes := [note for note in found.notes if note.code != FIRST]:
        yield Heading(say("diagnose.notes_title", lang))
        yield Items(tuple(_note_item(note, lang) for note in notes))


def _note_item(note: Note, lang: Language) -> str:
    named = say("diagnose.comma", lang).join([*note.sample_ids[:NAMED], *(["…"] if len(note.sample_ids) > NAMED else [])])
    return f"{note_text(note, lang)} [{named}]"


def _claim_row(claim: LostClaim, lang: Language) -> tuple[str, ...]:
    text = short(claim.text) or say("diagnose.no_text", lang)
    return claim.claim, cause_name(claim.cause, lang), points(claim.points.total), ", ".join(claim.evidence) or NONE, text
