"""Signs of one sample: yes-or-no facts its score rows show, such as "a useless chunk stands above a useful one"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from ragstone.analysis.causes import off_topic
from ragstone.analysis.claims import Claim
from ragstone.analysis.evidence import Evidence
from ragstone.analysis.intents import intent_right
from ragstone.analysis.levels import USUAL, Levels, reaches

FAITHFUL, RELEVANT, PRECISE, RECALLED, CORRECT = (
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "answer_correctness",
)
POOR = 0.5
"""Below it a retrieval score of a sample counts as poor."""
WIDE = 0.2
"""Cosines of one answer that lie so far apart belong to different questions."""
MANY_POINTS = 6
FEW_CHUNKS = 3
KEYWORD = 15
"""A gold passage of fewer characters is a keyword."""
LENT = 0.15
"""Least value that the likeness of two texts must lend to an answer without a right claim."""

Sign = Callable[[Evidence], bool | None]
"""True or False; None where the sample cannot show it."""


def ranking(found: Evidence) -> list[bool]:
    """Return whether each rated chunk is useful, in rank order; a chunk the repeats do not agree on is not."""
    return [bool(chunk.useful) for chunk in found.chunks]


def due(found: Evidence) -> bool:
    """Return True if the answer refuses or asks back where it is to: what it lacks is no fault."""
    return found.expected_behavior in ("refuse", "clarify") and (not found.has_claims or "refusal" in found.flags)


def _any(claims: Iterable[Claim], side: str, *words: str) -> bool | None:
    said = [word for claim in claims if (word := getattr(claim, side)) is not None]
    return any(word in words for word in said) if said else None


# ------------------------------------------------------------------ the ranking
def noise_first(found: Evidence) -> bool | None:
    """A useless chunk stands above a useful one; of samples with a useful chunk."""
    useful = ranking(found)
    return not all(useful[: sum(useful)]) if any(useful) else None


def noise_behind(found: Evidence) -> bool | None:
    """All useful chunks come first and at least as many useless ones follow; of samples with a useful chunk."""
    useful = ranking(found)
    return (all(useful[: sum(useful)]) and 2 * sum(useful) <= len(useful)) if any(useful) else None


def nothing_useful(found: Evidence) -> bool | None:
    """No chunk is useful; of samples whose chunks were rated."""
    return not any(ranking(found)) if found.chunks else None


def mostly_noise(found: Evidence) -> bool | None:
    """More than half of the chunks are useless; of samples whose chunks were rated."""
    return 2 * sum(ranking(found)) < len(found.chunks) if found.chunks else None


def useful_last(found: Evidence) -> bool | None:
    """The last chunk is useful; of samples that have two or more and still miss something: the next ones may hold it."""
    return ranking(found)[-1] if len(found.chunks) > 1 and found.values.get(RECALLED, 1.0) < 1 else None


def few_chunks(found: Evidence) -> bool | None:
    """Three chunks or fewer; of samples that miss something."""
    return len(found.chunks) <= FEW_CHUNKS if found.chunks and found.values.get(RECALLED, 1.0) < 1 else None


def no_context(found: Evidence) -> bool | None:
    """There was no chunk at all; of samples with a score."""
    return ("ok", "no_context") in found.states.values() if found.ok else None


def one_chunk(found: Evidence) -> bool | None:
    """A single chunk was rated."""
    return len(found.chunks) == 1 if found.chunks else None


# ------------------------------------------------------------------ chunks against claims
def unsupported(found: Evidence) -> bool | None:
    """The chunks do not support a claim of the answer; of samples with claims."""
    return _any(found.answer_claims, "grounding", "contradicted", "not_found")


def contradicted(found: Evidence) -> bool | None:
    """The chunks contradict a claim of the answer; of samples with claims."""
    return _any(found.answer_claims, "grounding", "contradicted")


def added(found: Evidence, high: float = USUAL.high) -> bool | None:
    """A claim stands in no chunk; of samples for which retrieval found what the reference needs: their recall reaches `high`."""
    return _any(found.answer_claims, "grounding", "not_found") if _fed(found, high) else None


def not_fed(found: Evidence, high: float = USUAL.high) -> bool | None:
    """A claim stands in no chunk; of samples for which retrieval missed what the reference needs: their recall lies below `high`."""
    return _any(found.answer_claims, "grounding", "not_found") if _fed(found, high) is False else None


def _fed(found: Evidence, high: float) -> bool | None:
    return reaches(found.values[RECALLED], high) if RECALLED in found.values else None


def nothing_covered(found: Evidence) -> bool | None:
    """No claim of the reference stands in the chunks."""
    return found.values[RECALLED] == 0 if RECALLED in found.values else None


def partly_covered(found: Evidence) -> bool | None:
    """Some claims of the reference stand in the chunks, others do not."""
    return 0 < found.values[RECALLED] < 1 if RECALLED in found.values else None


def point_missing(found: Evidence) -> bool | None:
    """The answer leaves out a point of the reference; of answers that state something where something was to be stated.

    A point that the answer gets wrong is not left out.
    """
    return _any(_not_wrong(found), "matching", "missing") if _stating(found) else None


def fed_but_missing(found: Evidence) -> bool | None:
    """The same, for points that the chunks hold, in answers to the question that was asked."""
    held = (claim for claim in _not_wrong(found) if claim.grounding == "supported")
    return _any(held, "matching", "missing") if _stating(found) and not off_topic(found) else None


def _not_wrong(found: Evidence) -> Iterator[Claim]:
    wrong = {name for claim in found.answer_claims if claim.matching == "contradicted" for name in claim.matches}
    yield from (claim for claim in found.reference_claims if claim.id not in wrong)


def _stating(found: Evidence) -> bool:
    return found.has_claims and found.expected_behavior not in ("refuse", "clarify")


def reference_doubtful(found: Evidence) -> bool | None:
    """The chunks support a claim that the reference contradicts."""
    return _any((c for c in found.answer_claims if c.grounding == "supported"), "matching", "contradicted")


# ------------------------------------------------------------------ the answer
def refused(found: Evidence) -> bool | None:
    """The answer states nothing; of samples that should be answered."""
    if found.expected_behavior in ("refuse", "clarify") or not {FAITHFUL, CORRECT} & found.states.keys():
        return None
    return found.states.get(FAITHFUL) == ("not_applicable", "no_claims") or "refusal" in found.flags


def silent(found: Evidence) -> bool | None:
    """Faithfulness does not apply, since the answer states nothing; of samples that should be answered and have the metric."""
    if found.expected_behavior in ("refuse", "clarify") or FAITHFUL not in found.states:
        return None
    return found.states[FAITHFUL] == ("not_applicable", "no_claims")


def should_not_answer(found: Evidence) -> bool | None:
    """The answer makes claims; of samples that should be refused or asked back."""
    return found.has_claims if found.expected_behavior in ("refuse", "clarify") else None


def off_question(found: Evidence) -> bool | None:
    """Relevancy lies below 0.5; of samples that have one, without refusals that are due."""
    return off_topic(found) if RELEVANT in found.values and not due(found) else None


def noncommittal(found: Evidence) -> bool | None:
    """Every question generated back from the answer is flagged noncommittal; of answers that are not due to refuse."""
    return all(question.committal is False for question in found.questions) if found.questions and not due(found) else None


def one_question(found: Evidence) -> bool | None:
    """Relevancy rests on a single generated question."""
    return len(found.questions) == 1 if found.questions else None


def wide_cosines(found: Evidence) -> bool | None:
    """One generated question is close to the question, another far from it; of answers off the question."""
    cosines = [question.cosine for question in found.questions if question.cosine is not None]
    return max(cosines) - min(cosines) >= WIDE if off_topic(found) and len(cosines) > 1 else None


def more_than_asked(found: Evidence) -> bool | None:
    """Most claims are not among the reference's; of answers off the question that commit to something."""
    words = [claim.matching for claim in found.answer_claims if claim.matching is not None]
    return 2 * words.count("not_found") > len(words) if off_topic(found) and words and not noncommittal(found) else None


def poorly_fed(found: Evidence) -> bool | None:
    """Retrieval is poor as well; of answers off the question."""
    scores = [found.values[name] for name in (PRECISE, RECALLED) if name in found.values]
    return min(scores) < POOR if off_topic(found) and scores else None


def intent_wrong(found: Evidence) -> bool | None:
    """The intent was recognised wrongly; of answers off the question for which a column `intent_top1` tells it.

    It may hold right or wrong (1 or 0, true or false), or the recognised intent beside a column `intent` with the right one.
    """
    right = intent_right(found)
    return not right if off_topic(found) and right is not None else None


def lent_points(found: Evidence) -> bool | None:
    """No claim is right, yet the likeness of the two texts alone gives points; of samples with a correctness."""
    return found.f1 == 0 and found.values[CORRECT] >= LENT if found.f1 is not None and CORRECT in found.values else None


# ------------------------------------------------------------------ the gold set and the measuring
def directive(found: Evidence) -> bool | None:
    """The reference holds a point about conduct: ask back, invent nothing."""
    return any(claim.behaviour for claim in found.reference_claims) if found.reference_claims else None


def many_points(found: Evidence) -> bool | None:
    """The reference falls into six claims or more; of samples that miss something."""
    missed = found.reference_claims and found.values.get(RECALLED, 1.0) < 1
    return len(found.reference_claims) >= MANY_POINTS if missed else None


def keywords_only(found: Evidence) -> bool | None:
    """The gold passages are keywords; of samples whose passages were looked up."""
    return all(len(keyword.text) < KEYWORD for keyword in found.keywords) if found.keywords else None


def keywords_unheard(found: Evidence) -> bool | None:
    """Most gold keywords stand in no chunk though one is useful: the documents use other words."""
    return 2 * sum(keyword.found for keyword in found.keywords) < len(found.keywords) if found.keywords and any(ranking(found)) else None


def cut_short(found: Evidence) -> bool | None:
    """Chunks or the answer were shortened or left out before they were judged."""
    return bool(found.clipped) if found.ok else None


def chunks_dropped(found: Evidence) -> bool | None:
    """Fewer chunks were judged than retrieved."""
    return judged_fewer(found) if found.ok else None


def judged_fewer(found: Evidence, top_k: int | None = None) -> bool:
    """Return True if contexts were left out before judging, or the row names more chunks than it holds, or than were rated.

    Args:
        found: the sample.
        top_k: so many contexts of a sample were judged, where the run limits them.
    """
    if found.clipped.get("contexts_dropped"):
        return True
    held = found.about.contexts if found.about is not None else None
    if found.about is None or held is None:
        return False
    judged = [limit for limit in (top_k, len(found.chunks) or None) if limit is not None]
    return (found.about.context_ids or 0) > held > 0 or any(limit < held for limit in judged)


def reply_cut(found: Evidence) -> bool:
    """A cell failed since the judge's reply was cut off, or the text was too long for the judge."""
    return any(reason in ("truncated", "too_long") for _, reason in found.states.values())


def embedding_lost(found: Evidence) -> bool:
    """A cell failed for want of an embedding."""
    return any(str(reason).startswith("embedding_") for _, reason in found.states.values())


SIGNS: dict[str, Sign] = {
    sign.__name__: sign
    for sign in (
        *(noise_first, noise_behind, nothing_useful, mostly_noise, useful_last, few_chunks, no_context, one_chunk),
        *(unsupported, contradicted, added, not_fed, nothing_covered, partly_covered, point_missing, fed_but_missing),
        *(reference_doubtful, refused, silent, should_not_answer, off_question, noncommittal, one_question, wide_cosines),
        *(more_than_asked, poorly_fed, intent_wrong, lent_points, directive, many_points, keywords_only),
        *(keywords_unheard, cut_short, chunks_dropped, reply_cut, embedding_lost),
    )
}
"""Every sign by its name."""


def signs_at(levels: Levels) -> Mapping[str, Sign]:
    """Return every sign by its name, with other limits than the usual ones."""
    return {**SIGNS, **{sign.__name__: partial(sign, high=levels.high) for sign in (added, not_fed)}}
