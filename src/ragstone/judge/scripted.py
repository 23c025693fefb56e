"""A judge that answers from a truth table: for tests and for examples whose scores are known beforehand."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from ragstone.errors import ScriptError
from ragstone.judge.base import NO_TOKENS, RawReply
from ragstone.judge.truth import FromTable, ScriptedClaim, Section, Sides, TruthTable, pick
from ragstone.questions.base import Question
from ragstone.text import say, screen_language
from ragstone.types import Language

QUOTE = 30
"""Most characters of a quote."""


class ScriptedJudge(FromTable):
    """Answers every kind of question from a truth table, as JSON text in the wire format, without a network.

    A claim is supported if any of the contexts listed for it is in the request, else contradicted likewise, else
    not_found; so a request that holds a part of the contexts or claims is answered for that part. Keys it does not know
    in the user JSON (those of a re-ask) are ignored. Equal questions always get equal replies.

    Raises:
        ScriptError: from `complete`, when the table does not hold a text it is asked about.
    """

    def __init__(self, table: TruthTable, source: str = "truth table") -> None:
        super().__init__(table, source)
        self._claims = Section("claims", table.claims, source)
        self._checks = Section("checks", table.checks, source)
        self._useful = Section("useful", table.useful, source)
        self._matches = Section("matches", table.matches, source)
        self._questions = Section("questions", table.questions, source)

    async def complete(self, question: Question) -> RawReply:
        """Return the reply the table holds; raises ScriptError if it holds none."""
        answers: dict[str, Callable[[dict[str, Any], Language], dict[str, Any]]] = {
            "split_claims": self._split_claims,
            "split_both": self._split_both,
            "check_claims": self._check_claims,
            "rate_contexts": self._rate_contexts,
            "check_all": self._check_all,
            "match_claims": self._match_claims,
            "invert_answer": self._invert_answer,
        }
        answer = answers.get(question.kind.name)
        if answer is None:
            raise ScriptError(say("judges.script_kind", screen_language(), source=self._source, kind=question.kind.name))
        return RawReply(text=orjson.dumps(answer(question.input, question.language)).decode(), usage=dict(NO_TOKENS), attempts=0)

    async def close(self) -> None:
        """Nothing is held open."""

    # ------------------------------------------------------------------ kinds
    def _split_claims(self, asked: dict[str, Any], _: Language) -> dict[str, Any]:
        return {"claims": self._split(asked["text"], "split_claims")}

    def _split_both(self, asked: dict[str, Any], _: Language) -> dict[str, Any]:
        return {
            "answer_claims": self._split(asked["answer"], "split_both"),
            "reference_claims": self._split(asked["reference"], "split_both"),
        }

    def _check_claims(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        return {"verdicts": self._check(asked, lang, "check_claims")}

    def _rate_contexts(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        return {"verdicts": self._rate(asked, lang, "rate_contexts")}

    def _check_all(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        return {"claims": self._check(asked, lang, "check_all"), "contexts": self._rate(asked, lang, "check_all")}

    def _match_claims(self, asked: dict[str, Any], lang: Language) -> dict[str, Any]:
        answer, covered = [], set()
        for claim in asked["answer_claims"]:
            verdict, ids = self._side(self._matches.find(claim["text"], "match_claims"), asked["reference_claims"])
            answer.append({"id": claim["id"], "matches": ids, "reason": say(f"judges.script_{verdict}", lang), "verdict": verdict})
            covered |= set(ids) if verdict == "supported" else set()
        reference = [{"id": r["id"], "verdict": "covered" if r["id"] in covered else "missing"} for r in asked["reference_claims"]]
        return {"answer": answer, "reference": reference}

    def _invert_answer(self, asked: dict[str, Any], _: Language) -> dict[str, Any]:
        questions = self._questions.find(asked["answer"], "invert_answer")
        return {"questions": [q.model_dump() for q in questions[: asked["count"]]]}

    # ------------------------------------------------------------------ parts
    def _split(self, text: str, kind: str) -> list[dict[str, Any]]:
        claims: Sequence[ScriptedClaim] = self._claims.find(text, kind)
        return [claim.model_dump(exclude_none=True) for claim in claims]

    def _check(self, asked: dict[str, Any], lang: Language, kind: str) -> list[dict[str, Any]]:
        texts = {context["id"]: context["text"] for context in asked["contexts"]}
        verdicts = []
        for claim in asked["claims"]:
            verdict, ids = self._side(self._checks.find(claim["text"], kind), asked["contexts"])
            line = {"id": claim["id"], "evidence": ids, "quote": texts[min(ids)][:QUOTE] if ids else ""}
            verdicts.append({**line, "reason": say(f"judges.script_{verdict}", lang), "verdict": verdict})
        return verdicts

    def _rate(self, asked: dict[str, Any], lang: Language, kind: str) -> list[dict[str, Any]]:
        useful = pick(self._useful.find(asked.get("question") or "", kind), asked["contexts"], self._source)
        words = {True: "useful", False: "not_useful"}
        rated = [(context["id"], context["id"] in useful) for context in asked["contexts"]]
        return [{"id": id, "reason": say(f"judges.script_{words[good]}", lang), "verdict": int(good)} for id, good in rated]

    def _side(self, sides: Sides, items: Sequence[Mapping[str, Any]]) -> tuple[str, list[int]]:
        for verdict, listed in (("supported", sides.supported), ("contradicted", sides.contradicted)):
            if ids := pick(listed, items, self._source):
                return verdict, ids
        return "not_found", []
