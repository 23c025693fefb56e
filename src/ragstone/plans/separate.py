"""The plan `separate`: one request a step, seven for all five metrics."""

from ragstone.metrics.base import reference_text, until_failed
from ragstone.metrics.needs import (
    Checked,
    CheckedClaims,
    ClaimList,
    Claims,
    Cosine,
    Cosines,
    Finding,
    Inverted,
    Matched,
    MatchedClaims,
    Need,
    Rated,
    RatedContexts,
    ReverseQuestion,
    ReverseQuestions,
    Side,
)
from ragstone.plans.base import Case, Resolving, claim_list, finding, numbered, ranked, sent_contexts, shuffled, split_list
from ragstone.questions import check_claims, cosine, invert_answer, match_claims, rate_contexts, split_claims
from ragstone.questions.base import MAX_CONTEXTS, Failed, Kind, ask
from ragstone.types import Sample

name = "separate"
kinds: tuple[Kind, ...] = (split_claims.KIND, check_claims.KIND, rate_contexts.KIND, match_claims.KIND, invert_answer.KIND)


def resolve(need: Need, case: Case) -> Resolving:
    """Turn one need into questions of its own kind; needs it rests on are asked first and shared."""
    match need:
        case Claims():
            return _claims(need, case)
        case Checked():
            return until_failed(_checked(need, case))
        case Rated():
            return rated(need, case)
        case Matched():
            return until_failed(_matched(need, case))
        case Inverted():
            return _inverted(need, case)
        case Cosine():
            return _cosine(need, case)


def _text(sample: Sample, of: Side, alternative: int) -> str:
    return (sample.answer or "") if of == "answer" else reference_text(sample, alternative)


def _claims(need: Claims, case: Case) -> Resolving:
    sample = case.sample
    if need.of == "reference" and need.alternative == 0 and sample.reference_points:
        points = ((p, None, split_claims.is_behaviour(p)) for p in sample.reference_points)
        return claim_list("reference", points, unsplit=True)
    text = _text(sample, need.of, need.alternative)
    found = yield from split_claims.ask(need.of, sample.question, text, language=case.language, repeat=case.repeat)
    return found if isinstance(found, Failed) else split_list(need.of, found)


def _checked(need: Checked, case: Case) -> Resolving:
    claims: ClaimList
    (claims,) = yield [Claims(need.of, need.alternative)]
    contexts = sent_contexts(case.sample)
    if not claims.claims or not contexts.sent:
        unfound = tuple(Finding(c.id, "not_found") for c in claims.claims)
        return CheckedClaims(claims, unfound, contexts.duplicates)
    asked = numbered(claims)
    said = yield from check_claims.ask(contexts.sent, asked, language=case.language, repeat=case.repeat)
    if isinstance(said, Failed):
        return said
    findings = tuple([finding(claim, said[number]) for claim, (number, _) in zip(claims.claims, asked, strict=True)])
    return CheckedClaims(claims, findings, contexts.duplicates)


def rated(need: Rated, case: Case, at_once: int = MAX_CONTEXTS) -> Resolving:
    """Rate the contexts, at most `at_once` in a request."""
    sample, contexts = case.sample, sent_contexts(case.sample)
    yardstick = _text(sample, need.against, need.alternative)
    said = yield from rate_contexts.ask(
        shuffled(sample, contexts.sent), sample.question, yardstick, language=case.language, repeat=case.repeat, at_once=at_once
    )
    return said if isinstance(said, Failed) else RatedContexts(ranked(sample, contexts, said), contexts.duplicates)


def _matched(need: Matched, case: Case) -> Resolving:
    answer: ClaimList
    reference: ClaimList
    answer, reference = yield [Claims("answer"), Claims("reference", need.alternative)]
    said = yield from match_claims.ask(
        case.sample.question, numbered(answer), numbered(reference), language=case.language, repeat=case.repeat
    )
    return said if isinstance(said, Failed) else _both_sides(answer, reference, said)


def _both_sides(answer: ClaimList, reference: ClaimList, said: match_claims.Matches) -> MatchedClaims:
    """A reference claim is covered if the reply says so or an answer claim is supported by it; where the two differ it is noted."""
    hit = {r for m in said.answer.values() if m.verdict == "supported" for r in m.matches}
    answers = [
        Finding(f"a{n}", m.verdict, tuple([f"r{r}" for r in m.matches]), m.reason, confidence=m.confidence) for n, m in said.answer.items()
    ]
    references, inconsistent = [], []
    for number, stated in said.reference.items():
        covered = stated or number in hit
        # what is covered against the word of its own side has no probability
        sure = said.confidence.get(number) if covered == stated else None
        references.append(Finding(f"r{number}", "covered" if covered else "missing", confidence=sure))
        if stated != (number in hit):
            inconsistent.append(f"r{number}")
    return MatchedClaims(answer, reference, tuple(answers), tuple(references), tuple(inconsistent))


def _inverted(need: Inverted, case: Case) -> Resolving:
    found = yield from invert_answer.ask(case.sample.answer or "", need.count, language=case.language, repeat=case.repeat)
    if isinstance(found, Failed):
        return found
    return ReverseQuestions(tuple([ReverseQuestion(*question) for question in found]))


def _cosine(need: Cosine, case: Case) -> Resolving:
    (reply,) = yield [ask(cosine.KIND, case.language, case.repeat, "", {"text": need.text, "others": list(need.others)})]
    return Failed(reply.error) if reply.error else Cosines(tuple(reply.reading.parsed["cosines"]))
