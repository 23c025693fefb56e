"""Rows whose truth is known, told in one place: what a row says and what a good judge says of it.

    told("x", "Q?", "A. B.", ["c one", "c two"], "R.", claims={"A": 1, "B": 0}, points={"R": 1}, useful=[1], covers={"A": "R"})

Numbers are places of contexts from 1; 0 = found nowhere, a negative number = contradicted there.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from ragstone.judge.truth import TruthTable


@dataclass(frozen=True)
class Told:
    """A row and the truth table that goes with it."""

    row: dict[str, Any]
    truth: dict[str, Any]

    @property
    def id(self) -> str:
        return self.row["id"]

    def but(self, **columns: Any) -> Self:
        """The same truth with other columns in the row."""
        return replace(self, row={**self.row, **columns})


def told(
    id: str,
    question: str,
    answer: str,
    contexts: Sequence[str],
    reference: str,
    *,
    claims: Mapping[str, int],
    points: Mapping[str, int],
    useful: Sequence[int],
    covers: Mapping[str, str],
    asked_back: Sequence[Any] = (),
) -> Told:
    """Put a row and its truth together; without `asked_back` the reverse questions are the question itself."""
    row = {"id": id, "question": question, "answer": answer, "contexts": list(contexts), "reference": reference}
    checks = {text: _side(place, contexts) for text, place in {**claims, **points}.items()}
    truth = {
        "claims": {answer: list(claims), reference: list(points)},
        "checks": checks,
        "useful": {question: [contexts[place - 1] for place in useful]},
        "matches": {claim: ({"supported": [covers[claim]]} if claim in covers else {}) for claim in claims},
        "questions": {answer: list(asked_back) or [question] * 3},
    }
    return Told(row, truth)


def _side(place: int, contexts: Sequence[str]) -> dict[str, list[str]]:
    return {"supported" if place > 0 else "contradicted": [contexts[abs(place) - 1]]} if place else {}


def table(rows: Iterable[Told]) -> dict[str, Any]:
    """Return the truth table of all rows together."""
    return TruthTable.merge(*(row.truth for row in rows)).model_dump()


EN = told(
    "en-locker",
    "For how long can a locker at Pinebrook Pool be hired?",
    "A locker can be hired for 6 months. Keys go back to the front desk.",
    ["Lockers are hired out for 6 months at a time.", "Locker keys must be returned to the front desk.", "The sauna is heated on Fridays."],
    "6 months; keys go back to the front desk.",
    claims={"A locker can be hired for 6 months": 1, "Locker keys go back to the front desk": 2},
    points={"Lockers are hired for 6 months": 1, "Keys are returned at the front desk": 2},
    useful=[1, 2],
    covers={
        "A locker can be hired for 6 months": "Lockers are hired for 6 months",
        "Locker keys go back to the front desk": "Keys are returned at the front desk",
    },
)
"""Everything right: faithfulness, recall and correctness 1, precision 1 over [useful, useful, not]."""

ZH = told(
    "zh-借书",
    "栖云图书馆的图书可以借多久？",
    "图书可以借30天。到期前可续借一次！遗失图书的，按原价赔偿；",
    ["本馆图书借期为30天。", "读者可在到期之前续借一次。", "图书遗失，照原价赔偿。"],
    "可借30天，到期前可续借一次。",
    claims={"图书可以借30天": 1, "图书到期前可续借一次": 2, "遗失图书按原价赔偿": 3},
    points={"借期是30天": 1, "到期前能续借一次": 2},
    useful=[1, 2],
    covers={"图书可以借30天": "借期是30天", "图书到期前可续借一次": "到期前能续借一次"},
)
"""Three claims, all supported; faithfulness and recall 1."""

_DE = told(
    "de-parken",
    "Was kostet das Parken am Kurhaus Lindental?",
    "Parken kostet 3 Euro pro Tag, und Gäste zahlen nichts.",
    ["Die Tageskarte für den Parkplatz kostet 3 Euro.", "Für Übernachtungsgäste ist das Parken frei."],
    "3 Euro am Tag, für Gäste frei.",
    claims={"Parken kostet 3 Euro pro Tag": 1, "Gäste parken umsonst": 2},
    points={"Der Parkplatz kostet 3 Euro am Tag": 1, "Gäste parken frei": 2},
    useful=[1, 2],
    covers={"Parken kostet 3 Euro pro Tag": "Der Parkplatz kostet 3 Euro am Tag", "Gäste parken umsonst": "Gäste parken frei"},
)

_MIXED = told(
    "zh-en-vpn",
    "VPN token 丢了怎么办？",
    "请立即联系 IT 服务台（分机 4400）停用 token，再申请新的 token",
    ["VPN token 遗失时，应立即致电 IT 服务台停用。", "IT 服务台分机为 4400。", "新 token 在门户网站申请。"],
    "联系 IT 服务台停用并申请新的 token",
    claims={"VPN token 丢失应联系 IT 服务台停用": 1, "IT 服务台分机是 4400": 2, "停用后申请新的 token": 3},
    points={"联系 IT 服务台停用 token": 1, "申请新的 token": 3},
    useful=[1, 2, 3],
    covers={"VPN token 丢失应联系 IT 服务台停用": "联系 IT 服务台停用 token", "停用后申请新的 token": "申请新的 token"},
)

FOUR = (EN, ZH, _DE, _MIXED)
"""Right answers in English, Chinese, German and a mixture; faithfulness of each is 1."""


def shared_out(id: str, supported: int, claims: int, language: str = "en") -> Told:
    """Return a row whose faithfulness is `supported` / `claims`; its texts hold its id and nobody else's."""
    zh = language == "zh"
    texts = [f"编号{id}的第{n}条规定有效" if zh else f"Rule {n} of item {id} is in force" for n in range(1, claims + 1)]
    mark = "。" if zh else "."
    contexts = [f"公告：{text}{mark}" if zh else f"Notice: {text}{mark}" for text in texts[:supported]]
    contexts.append(f"编号{id}的其他事项另行通知。" if zh else f"Other matters of item {id} follow.")
    return told(
        id,
        f"编号{id}有哪些规定？" if zh else f"Which rules are there for item {id}?",
        (mark if zh else mark + " ").join(texts) + mark,
        contexts,
        f"见编号{id}的公告。" if zh else f"See the notice on item {id}.",
        claims={text: (n if n <= supported else 0) for n, text in enumerate(texts, 1)},
        points={f"编号{id}已有公告" if zh else f"There is a notice on item {id}": 1 if supported else 0},
        useful=list(range(1, supported + 1)),
        covers={},
    )
