"""Rows of every sort, drawn from a seed, with a truth table: what two ways of judging must agree on.

Contexts 0 to 15, blank and repeated ones among them; claims 0 to 26 a text, equal ones in both texts; Chinese and English;
points, behaviour points, alternatives, refusals, empty answers, missing columns, failed rows.
"""

import random
from typing import Any

Row = dict[str, Any]

TEXTS = {
    "en": {
        "context": "Page {n} of file {row} tells that matter {m} was settled in spring, after a long talk.",
        "claim": "Matter {m} of file {row} was settled in stage {n}",
        "answer": "Answer to file {row} in edition {n}: see what follows.",
        "question": "What became of file {row}?",
        "reverse": "Was stage {n} of file {row} meant?",
        "behaviour": "[behaviour] ",
    },
    "zh": {
        "context": "第{row}号卷宗第{n}页写明，第{m}项事务已经在春季办结，经过了长时间的讨论。",
        "claim": "第{row}号卷宗第{m}项事务在第{n}阶段办结",
        "answer": "第{row}号卷宗的答复第{n}版：内容如下。",
        "question": "第{row}号卷宗后来怎么样了？",
        "reverse": "问的是第{row}号卷宗第{n}阶段吗？",
        "behaviour": "【行为】",
    },
}


def made(count: int, seed: int) -> tuple[list[Row], Row]:
    """Return `count` rows and the truth about all of them."""
    truth: Row = {"claims": {}, "checks": {}, "useful": {}, "matches": {}, "questions": {}}
    return [_Maker(random.Random(f"{seed}/{number}"), number, truth).row() for number in range(count)], truth


class _Maker:
    def __init__(self, draw: random.Random, number: int, truth: Row) -> None:
        self.draw, self.number, self.truth = draw, number, truth
        self.texts = TEXTS["zh" if number % 2 else "en"]

    def row(self) -> Row:
        draw = self.draw
        contexts = self.contexts()
        question = self.say("question")
        answer_claims, reference_claims = self.claims(0), self.claims(100)
        if draw.random() < 0.3:
            reference_claims += [claim + "。" for claim in draw.sample(answer_claims, min(2, len(answer_claims)))]
        reference, answer = self.split(1, reference_claims), self.split(0, answer_claims)
        row = {"id": f"s{self.number}", "question": question, "answer": answer, "contexts": contexts, "reference": reference}
        self.vary(row)
        self.judge(row, answer_claims)
        return row

    def vary(self, row: Row) -> None:
        """Make some rows special; more than one of these may meet in a row."""
        draw = self.draw
        for column in ("reference", "answer", "contexts", "question"):
            if draw.random() < 0.05:
                del row[column]
        if draw.random() < 0.08:
            row["reference_points"] = self.claims(200)
        if draw.random() < 0.08:
            row["reference_alternatives"] = [self.split(2 + n, self.claims(300 + 100 * n)) for n in range(2)]
        if "answer" in row and draw.random() < 0.06:
            row["answer"] = draw.choice(["", "  "])
        if draw.random() < 0.1:
            row["expected_behavior"] = draw.choice(["refuse", "clarify"])
        if draw.random() < 0.03:
            row["error"] = "timeout"

    def judge(self, row: Row, answer_claims: list[str]) -> None:
        draw, truth = self.draw, self.truth
        contexts = [text for text in row.get("contexts") or () if text.strip()]
        truth["useful"][self.say("question")] = [text for text in contexts if draw.random() < 0.4]
        unlike = list(dict.fromkeys(contexts))
        for claim in self.told:
            found = draw.sample(unlike, min(len(unlike), draw.choice([0, 1, 2, 3])))
            turn = draw.randint(0, len(found))
            truth["checks"].setdefault(claim.rstrip("。."), {"supported": found[:turn], "contradicted": found[turn:]})
        references = list(dict.fromkeys(claim.rstrip("。.") for claim in self.told if claim not in answer_claims))
        for claim in answer_claims:
            picked = draw.sample(references, min(len(references), draw.choice([0, 1, 1, 2])))
            truth["matches"].setdefault(claim.rstrip("。."), {draw.choice(["supported", "contradicted"]): picked})
        if (answer := row.get("answer") or "").strip():
            flag = not answer_claims
            truth["questions"][answer] = [
                {"question": self.say("reverse", n), "noncommittal": flag or draw.random() < 0.1} for n in range(3)
            ]

    # ------------------------------------------------------------------ parts
    told: list[str]

    def claims(self, first: int) -> list[str]:
        """Return the claims of a text: mostly a few, sometimes none, equal ones or more than fit into one request."""
        size = self.draw.choice([0, 1, 2, 2, 3, 3, 4, 5, 8, self.draw.choice([4, 12, 21, 26])])
        found = [self.say("claim", n, first + n) for n in range(size)]
        found = [self.texts["behaviour"] + claim if self.draw.random() < 0.1 else claim for claim in found]
        found += [found[0] + "."] if found and self.draw.random() < 0.1 else []
        self.told = [*getattr(self, "told", []), *found]
        return found

    def split(self, edition: int, claims: list[str]) -> str:
        text = self.say("answer", edition)
        self.truth["claims"][text] = [{"text": claim, "anchor": text[:8]} for claim in claims]
        return text

    def contexts(self) -> list[str]:
        size = self.draw.choice([0, 1, 2, 3, 4, 5, 5, 5, 12, 13, 15])
        found = [self.say("context", n, 7 * n) for n in range(1, size + 1)]
        for place in range(size):
            chance = self.draw.random()
            found[place] = " " if chance < 0.06 else self.draw.choice(found) if chance < 0.15 else found[place]
        return found

    def say(self, text: str, n: int = 0, m: int = 0) -> str:
        return self.texts[text].format(row=self.number, n=n, m=m)
