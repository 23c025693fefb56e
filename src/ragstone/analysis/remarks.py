"""What a diagnosis adds in notes: things that make its numbers mean less, or more, than they seem to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ragstone.analysis.canned import Canned
from ragstone.analysis.causes import SampleCauses, off_topic
from ragstone.analysis.evidence import Evidence
from ragstone.analysis.intents import intent_right, truth
from ragstone.analysis.signs import judged_fewer


@dataclass(frozen=True, slots=True)
class Note:
    """A remark: its code, the values of its text, the samples it is about."""

    code: str
    sample_ids: tuple[str, ...]
    values: tuple[tuple[str, object], ...] = ()


class Remarks:
    """Takes in samples one by one and gives back the notes the run calls for."""

    def __init__(self, top_k: int | None = None) -> None:
        """`top_k`: so many contexts of a sample were judged, where the run limits them."""
        self._top_k = top_k
        self._held: dict[str, list[str]] = {}
        self._intents = Counter[str]()
        self._off_with_intent: list[str] = []

    def add(self, found: Evidence, causes: SampleCauses) -> None:
        """Take in a sample."""
        for code in self._codes(found, causes):
            self._held.setdefault(code, []).append(found.sample_id)
        intent = found.about and found.about.intent_top1
        if intent not in (None, "") and off_topic(found) and truth(intent) is None and not intent_right(found):
            self._intents[str(intent)] += 1
            self._off_with_intent.append(found.sample_id)

    def notes(self, canned: Iterable[Canned] = ()) -> Iterator[Note]:
        """Yield the notes, those about the application first."""
        for one in canned:
            yield Note("canned_answer", tuple(one.sample_ids), (("count", len(one.sample_ids)), ("answer", one.answer)))
        if self._intents:
            intent, count = self._intents.most_common(1)[0]
            ids = tuple(self._off_with_intent)
            yield Note("intents", ids, (("count", len(ids)), ("intent", intent), ("most", count)))
        for code in ("empty_answers", "no_contexts", "fewer_contexts", "no_verdicts", "grounding_unknown", "retrieval_unknown"):
            if ids := tuple(self._held.get(code, ())):
                yield Note(code, ids, (("count", len(ids)),))

    def _codes(self, found: Evidence, causes: SampleCauses) -> Iterator[str]:
        if ("ok", "empty_answer") in found.states.values():
            yield "empty_answers"
        elif causes.lost.total and not (found.answer_claims or found.reference_claims):
            yield "no_verdicts"
        if ("ok", "no_context") in found.states.values() and found.expected_behavior not in ("refuse", "clarify"):
            yield "no_contexts"
        if judged_fewer(found, self._top_k):
            yield "fewer_contexts"
        lost = {claim.claim: claim.cause for claim in causes.claims}
        if any(c.grounding is None and lost.get(c.id) in ("made_up", "beyond_reference") for c in found.answer_claims):
            yield "grounding_unknown"
        if any(c.grounding is None and lost.get(c.id) == "not_used" for c in found.reference_claims):
            yield "retrieval_unknown"
