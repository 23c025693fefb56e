"""The plan `joint`: four requests for all five metrics; the contexts of a sample are sent once.

`split_both` splits answer and reference, `check_all` checks the claims of both and rates the contexts; `match_claims` and
`invert_answer` are those of `separate`. The two joint requests are always asked in full, whichever metrics run, so scores do
not depend on the choice of metrics.

What is asked by the separate kinds instead (`asked_jointly` decides, row by row):

- rows with reference points or alternatives, and rows without question, answer, reference, or a context with text;
- the rating of contexts against the answer (`precision_against` = "answer").

More than 12 contexts are cut into groups, each rated in the `check_all` that carries it; of more than 20 claims the first
20 go with it, the others into `check_claims`. Over groups of contexts supported wins over contradicted, that over not_found.

When a joint request fails:

- for what it holds (truncated, too_long, blocked, empty_reply, bad_reply): its two halves are asked by the separate kinds,
  which cut them further by their own rules. One text that cannot be split then costs only the cells that need its claims.
- for reasons of the endpoint (a timeout, a connection, …): the cells that rest on it fail with that word, after the same
  retries as any request. Contexts are still rated when no text could be split.
- with verdicts missing to the end: only the cells whose claims or contexts miss one fail.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from ragstone.language import fold
from ragstone.metrics.base import empty_answer, has, no_context, until_failed
from ragstone.metrics.needs import Checked, CheckedClaims, Claim, ClaimList, Claims, Need, Rated, RatedContexts
from ragstone.plans import separate
from ragstone.plans.base import Case, Resolving, finding, ranked, sent_contexts, shuffled, split_list
from ragstone.questions import check_all, check_claims, rate_contexts, split_both
from ragstone.questions.base import MAX_CLAIMS, MAX_CONTEXTS, TOO_MUCH, Failed, Kind, Slot
from ragstone.questions.exchange import Gathered, Items, Talk, complete, together
from ragstone.types import Sample

name = "joint"
kinds: tuple[Kind, ...] = (*separate.kinds, split_both.KIND, check_all.KIND)

OF_ENDPOINT = frozenset({"timeout", "rate_limited", "server_error", "bad_gateway", "connection", "budget", "interrupted"})
"""Failure words that say nothing about a request: asking for less would meet the same trouble."""

Item = tuple[int, str]


# ------------------------------------------------------------------ needs of this plan's own
@dataclass(frozen=True, slots=True)
class Both:
    """The claims of answer and reference, from one request."""


@dataclass(frozen=True, slots=True)
class BothLists:
    """Answer to Both."""

    answer: ClaimList
    reference: ClaimList


@dataclass(frozen=True, slots=True)
class Everything:
    """Every claim of both texts checked, and every context rated."""


@dataclass(frozen=True, slots=True)
class Part:
    """Verdicts in wire shape under ("claims", n) and ("contexts", rank); `lost` = why some of the missing ones never came."""

    items: Items
    lost: dict[Slot, Failed]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Answer to Everything. Equal claims of both texts have one number."""

    numbers: dict[str, int]
    part: Part

    def slots(self, claims: ClaimList) -> list[Slot]:
        """Return the places of a text's claims, in claim order."""
        return [("claims", self.numbers[_folded(claim)]) for claim in claims.claims]

    def lacking(self, slots: Sequence[Slot]) -> Failed | None:
        """Return why a cell that needs these places cannot be had, None if all are there."""
        lost = (self.part.lost[slot] for slot in slots if slot in self.part.lost)
        return next(lost, None) or complete(sum(slot in self.part.items for slot in slots), len(slots))


# ------------------------------------------------------------------ needs to questions
def asked_jointly(need: Need, sample: Sample) -> bool:
    """True if a need of this row is met by the joint kinds; else by those of `separate`."""
    if not isinstance(need, Claims | Checked | Rated) or (isinstance(need, Rated) and need.against != "reference"):
        return False
    if sample.reference_points or sample.reference_alternatives or no_context(sample) or empty_answer(sample):
        return False
    return has(sample, "question") and has(sample, "reference")


def resolve(need: Need | Both | Everything, case: Case) -> Resolving:
    """Turn one need into questions: the joint ones are asked once a case, whoever needs a part of their answers."""
    if isinstance(need, Both):
        return _both(case)
    if isinstance(need, Everything):
        return _everything(case)
    if not asked_jointly(need, case.sample):
        return separate.resolve(need, case)
    if isinstance(need, Claims):
        return _claims(need, case)
    return until_failed(_checked(need, case) if isinstance(need, Checked) else _rated(case))


def _both(case: Case) -> Resolving:
    sample = case.sample
    said = yield from split_both.ask(
        sample.question, sample.answer or "", sample.reference or "", language=case.language, repeat=case.repeat
    )
    return said if isinstance(said, Failed) else BothLists(split_list("answer", said.answer), split_list("reference", said.reference))


def _claims(need: Claims, case: Case) -> Resolving:
    both: BothLists | Failed
    (both,) = yield [Both()]
    if not isinstance(both, Failed):
        return both.answer if need.of == "answer" else both.reference
    return both if both.reason in OF_ENDPOINT else (yield from separate.resolve(need, case))


def _checked(need: Checked, case: Case) -> Resolving:
    claims: ClaimList
    (claims,) = yield [Claims(need.of)]
    contexts = sent_contexts(case.sample)
    if not claims.claims:
        return CheckedClaims(claims, (), contexts.duplicates)
    verdicts: Verdicts
    (verdicts,) = yield [Everything()]
    slots = verdicts.slots(claims)
    if (failed := verdicts.lacking(slots)) is not None:
        return failed
    said = [check_claims.verified(verdicts.part.items[slot], contexts.sent) for slot in slots]
    return CheckedClaims(claims, tuple(map(finding, claims.claims, said)), contexts.duplicates)


def _rated(case: Case) -> Resolving:
    verdicts: Verdicts
    (verdicts,) = yield [Everything()]
    contexts = sent_contexts(case.sample)
    if (failed := verdicts.lacking([("contexts", rank) for rank, _ in contexts.sent])) is not None:
        return failed
    said = {rank: rate_contexts.rating(verdicts.part.items["contexts", rank]) for rank, _ in contexts.sent}
    return RatedContexts(ranked(case.sample, contexts, said), contexts.duplicates)


# ------------------------------------------------------------------ checks and ratings together
def _everything(case: Case) -> Resolving:
    """Check the claims that could be had; a text that could not be split takes no verdict of the other with it."""
    texts: list[ClaimList | Failed] = yield [Claims("answer"), Claims("reference")]
    claims = [claim for text in texts if not isinstance(text, Failed) for claim in text.claims]
    unique = {_folded(claim): claim.text for claim in reversed(claims)}  # of equal claims the answer's wording is sent
    numbers = {folded: number for number, folded in enumerate(dict.fromkeys(map(_folded, claims)), 1)}
    wire = [(number, unique[folded]) for folded, number in numbers.items()]
    sent = sent_contexts(case.sample).sent
    groups = [sent[start : start + MAX_CONTEXTS] for start in range(0, len(sent), MAX_CONTEXTS)]
    parts = yield from _at_once([_group(case, group, wire) for group in groups])
    return Verdicts(numbers, merged(parts))


def _folded(claim: Claim) -> str:
    return fold(claim.text) or claim.text


def merged(parts: Sequence[Part]) -> Part:
    """Join groups of contexts: each claim was checked in every group, each context rated in one."""
    claims = check_claims.merged([{slot: line for slot, line in part.items.items() if slot[0] == "claims"} for part in parts])
    rated = {slot: line for part in parts for slot, line in part.items.items() if slot[0] == "contexts"}
    return Part({**claims, **rated}, _beside(parts).lost)


def _group(case: Case, contexts: Sequence[Item], claims: Sequence[Item]) -> Talk[Part]:
    """One group of contexts, in rank order: rated with the first claims, the other claims checked on their own."""
    talks = [_jointly(case, contexts, claims[:MAX_CLAIMS])]
    talks += [_checked_alone(case, contexts, claims[MAX_CLAIMS:])] if claims[MAX_CLAIMS:] else []
    return _beside((yield from _at_once(talks)))


def _jointly(case: Case, contexts: Sequence[Item], claims: Sequence[Item]) -> Talk[Part]:
    if not claims:
        return (yield from _rated_alone(case, contexts))
    # shuffled, because ratings must not lean on rank order, while a claim is held against all contexts in whatever order
    listed, sample = shuffled(case.sample, contexts), case.sample
    said = yield from check_all.ask(listed, claims, sample.question, sample.reference, language=case.language, repeat=case.repeat)
    trouble = said if isinstance(said, Failed) else said.trouble
    if trouble and (trouble.reason in TOO_MUCH or (isinstance(said, Failed) and trouble.reason not in OF_ENDPOINT)):
        return _beside((yield from _at_once([_checked_alone(case, contexts, claims), _rated_alone(case, contexts)])))
    got = Gathered({}, said) if isinstance(said, Failed) else said
    slots: list[Slot] = [*(("claims", id) for id, _ in claims), *(("contexts", id) for id, _ in contexts)]
    return Part(got.items, {slot: got.trouble for slot in slots if got.trouble and slot not in got.items})


def _checked_alone(case: Case, contexts: Sequence[Item], claims: Sequence[Item]) -> Talk[Part]:
    said = yield from check_claims.verdict_lines(contexts, claims, language=case.language, repeat=case.repeat)
    return _part("claims", claims, said)


def _rated_alone(case: Case, contexts: Sequence[Item]) -> Talk[Part]:
    sample, listed = case.sample, shuffled(case.sample, contexts)
    said = yield from rate_contexts.verdict_lines(listed, sample.question, sample.reference, language=case.language, repeat=case.repeat)
    return _part("contexts", contexts, said)


def _part(list: Literal["claims", "contexts"], asked: Sequence[Item], said: Items | Failed) -> Part:
    if isinstance(said, Failed):
        return Part({}, {(list, id): said for id, _ in asked})
    return Part({(list, id): line for (_, id), line in said.items()}, {})


def _beside(parts: Iterable[Part]) -> Part:
    """Join parts that hold different places."""
    held = list(parts)
    return Part({s: i for part in held for s, i in part.items.items()}, {s: f for part in held for s, f in part.lost.items()})


def _at_once(talks: Sequence[Talk[Part]]) -> Talk[list[Part]]:
    """Hold several talks at once; none of them ends the others, because what is lost stands in its part."""
    return cast(list[Part], (yield from together(talks)))
