"""The bundled gold set and the worked examples, checked without the pipeline.

The truth tables are evaluated here a second time, in fractions, by code that shares nothing with `ragstone.metrics`: this
guards the values computed by hand in `expected.json` and the causes planted in `meta.cause`.
"""

import json
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from ragstone.language import asks_back, detect, fold
from ragstone.resources import read_text

HERE = Path(__file__).parent
WORKED = HERE.parent / "worked"
METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")
CATEGORIES = {"emergency", "lists", "contacts", "returns_warranty", "leave"}
CAUSES = ["refused", "should_not_answer", "judge_unsure", "contradicts_contexts", "ungrounded_correct", "made_up", "reference_doubtful"]
CAUSES += ["misled", "off_topic", "beyond_reference", "not_retrieved", "ranked_low", "not_used"]
PLANTED = {"refused", "should_not_answer", "contradicts_contexts", "ungrounded_correct", "made_up", "off_topic", "not_retrieved", None}

Row = dict[str, Any]
Cell = tuple[str, Fraction | None, str | None]


def lines(text: str) -> list[Row]:
    return [json.loads(line) for line in text.splitlines()]


GOLD = lines(read_text("gold", "samples.jsonl"))
TRUTH = json.loads(read_text("gold", "truth.json"))
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
WORKED_ROWS = [row for lang in ("zh", "en") for row in lines((WORKED / f"worked_{lang}.jsonl").read_text(encoding="utf-8"))]
WORKED_TRUTH = json.loads((WORKED / "truth.json").read_text(encoding="utf-8"))
WORKED_EXPECTED = json.loads((WORKED / "expected.json").read_text(encoding="utf-8"))
SETS = [pytest.param(GOLD, TRUTH, id="gold"), pytest.param(WORKED_ROWS, WORKED_TRUTH, id="worked")]


def exact(expression: str) -> Fraction:
    """The value of an expression such as "0.75*(4/5)+0.25*0.84", in fractions."""
    assert re.fullmatch(r"[0-9.+*/()]+", expression)
    value = eval(re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", expression), {"Fraction": Fraction})
    assert isinstance(value, Fraction)
    return value


def wording(entry: Any, key: str = "text") -> str:
    return entry if isinstance(entry, str) else entry[key]


# ------------------------------------------------------------------ reading the table
def claims(truth: Row, row: Row, side: str) -> list[str]:
    return [wording(c) for c in truth["claims"][row[side]]]


def hits(listed: list[str], texts: list[str]) -> list[int]:
    """1-based places of the texts that `listed` names, by exact text or by prefix before "…"."""
    return [i for i, text in enumerate(texts, 1) if any(text == x or (x.endswith("…") and text.startswith(x[:-1])) for x in listed)]


def verdict(sides: Row, texts: list[str]) -> tuple[str, list[int]]:
    for word in ("supported", "contradicted"):
        if found := hits(sides.get(word, []), texts):
            return word, found
    return "not_found", []


def checked(truth: Row, row: Row, side: str) -> list[tuple[str, list[int]]]:
    return [verdict(truth["checks"][c], row["contexts"]) for c in claims(truth, row, side)]


def useful(truth: Row, row: Row) -> list[int]:
    return hits(truth["useful"][row["question"]], row["contexts"])


def matched(truth: Row, row: Row) -> tuple[list[tuple[str, list[int]]], list[int]]:
    """Verdicts of the answer claims against the reference claims, and the places of the missing reference claims."""
    reference = claims(truth, row, "reference")
    answer = [verdict(truth["matches"][c], reference) for c in claims(truth, row, "answer")]
    covered = {i for word, found in answer if word == "supported" for i in found}
    return answer, [i for i in range(1, len(reference) + 1) if i not in covered]


# ------------------------------------------------------------------ the five formulas, in fractions
def ok(value: Fraction | int, reason: str | None = None) -> Cell:
    return "ok", Fraction(value), reason


def not_applicable(reason: str) -> Cell:
    return "not_applicable", None, reason


def share(verdicts: list[tuple[str, list[int]]], row: Row) -> Cell:
    return ok(Fraction(sum(v == "supported" for v, _ in verdicts), len(verdicts)), None if row["contexts"] else "no_context")


def faithfulness(truth: Row, row: Row) -> Cell:
    return share(checked(truth, row, "answer"), row) if claims(truth, row, "answer") else not_applicable("no_claims")


def context_recall(truth: Row, row: Row) -> Cell:
    return share(checked(truth, row, "reference"), row)


def context_precision(truth: Row, row: Row) -> Cell:
    ranks = useful(truth, row)
    value = sum((Fraction(n, k) for n, k in enumerate(ranks, 1)), Fraction(0)) / (len(ranks) or 1)
    return ok(value, None if row["contexts"] else "no_context")


def answer_relevancy(truth: Row, row: Row) -> Cell:
    reverse, behavior = truth["questions"][row["answer"]], row.get("expected_behavior", "answer")
    silent = all(isinstance(q, dict) and q["noncommittal"] for q in reverse)
    if behavior != "answer" and not claims(truth, row, "answer"):
        if behavior == "clarify" and asks_back(row["answer"]):
            return not_applicable("expected_clarification")
        if behavior == "refuse" and silent:
            return not_applicable("expected_refusal")
    cosines = [Fraction(str(truth["cosines"][row["question"]][wording(q, "question")])) for q in reverse]
    return ok(0 if silent else sum(cosines) / len(cosines))


def f1(truth: Row, row: Row) -> Fraction:
    answer, missing = matched(truth, row)
    tp, n, m = sum(v == "supported" for v, _ in answer), len(answer), len(claims(truth, row, "reference"))
    precision, recall = Fraction(tp, n or 1), Fraction(m - len(missing), m)
    return 2 * precision * recall / (precision + recall) if precision + recall else Fraction(0)


def answer_correctness(truth: Row, row: Row) -> Cell:
    return ok(Fraction(3, 4) * f1(truth, row) + Fraction(1, 4) * Fraction(str(truth["cosines"][row["answer"]][row["reference"]])))


FORMULAS = dict(zip(METRICS, (faithfulness, answer_relevancy, context_precision, context_recall, answer_correctness), strict=True))


@pytest.mark.parametrize("row", GOLD, ids=lambda r: r["id"])
@pytest.mark.parametrize("metric", METRICS)
def test_hand_computed_value_follows_from_the_truth_table(row: Row, metric: str) -> None:
    cell = EXPECTED[row["id"]][metric]
    value = None if cell["value"] is None else exact(cell["value"])
    assert (cell["status"], value, cell["reason"]) == FORMULAS[metric](TRUTH, row)
    assert cell["why"]


@pytest.mark.parametrize("case", WORKED_EXPECTED, ids=lambda c: c["sample_id"])
def test_worked_example_follows_from_its_truth_table(case: Row) -> None:
    row = next(r for r in WORKED_ROWS if r["id"] == case["sample_id"])
    assert FORMULAS[case["metric"]](WORKED_TRUTH, row) == ok(exact(case["value"]))


def test_worked_examples_are_those_of_the_design_in_both_languages() -> None:
    wanted = ["2/3", "1.57/3", "2.56/3", "2.08/3", "5/6", "1", "0.325", "5/6", "1/4", "2/3", "0.625", "0.725"]
    for lang in ("zh", "en"):
        values = [exact(c["value"]) for c in WORKED_EXPECTED if c["sample_id"].startswith(lang)]
        assert values == [exact(w) for w in wanted]


# ------------------------------------------------------------------ the decision table of causes
def cause_of_answer_claim(check: tuple[str, list[int]], match: str, good: list[int], relevancy: Fraction | None) -> str:
    word, chunks = check
    if word == "contradicted":
        return "contradicts_contexts"
    if word == "not_found":
        return "ungrounded_correct" if match == "supported" else "made_up"
    if match == "contradicted":
        return "reference_doubtful" if set(chunks) & set(good) else "misled"
    if relevancy is not None and relevancy < Fraction(1, 2):
        return "off_topic"
    return "beyond_reference" if set(chunks) & set(good) else "misled"


def cause_of_reference_claim(check: tuple[str, list[int]], row: Row, good: list[int], relevancy: Fraction | None) -> str:
    word, chunks = check
    if word != "supported":
        return "reference_doubtful" if word == "contradicted" else "not_retrieved"
    if relevancy is not None and relevancy < Fraction(1, 2):
        return "off_topic"
    k, best = len(row["contexts"]), min(chunks)
    noise_above = any(rank not in good for rank in range(1, best))
    return "ranked_low" if k >= 3 and best > (k + 1) // 2 and noise_above else "not_used"


def points(row: Row) -> Counter[str]:
    """Points lost by cause: 1 - faithfulness over unsupported claims, 3/4 * (1 - F) over FP and FN claims."""
    answer, missing = matched(TRUTH, row)
    checks, wrong = checked(TRUTH, row, "answer"), [i for i, (word, _) in enumerate(answer) if word != "supported"]
    unfaithful = [i for i, (word, _) in enumerate(checks) if word != "supported"]
    good, relevancy = useful(TRUTH, row), answer_relevancy(TRUTH, row)[1]
    whole = "refused" if not answer else "should_not_answer" if "expected_behavior" in row else None
    of_answer = [whole or cause_of_answer_claim(c, m[0], good, relevancy) for c, m in zip(checks, answer, strict=True)]
    blamed = {r: of_answer[i] for i in wrong for r in answer[i][1]}
    lost: Counter[str] = Counter()
    for i in unfaithful:
        lost[of_answer[i]] += Fraction(1, len(checks))
    each = Fraction(3, 4) * (1 - f1(TRUTH, row)) / (len(wrong) + len(missing) or 1)
    for i in wrong:
        lost[of_answer[i]] += each
    for r, check in enumerate(checked(TRUTH, row, "reference"), 1):
        if r in missing:
            lost[whole or blamed.get(r) or cause_of_reference_claim(check, row, good, relevancy)] += each
    return lost


@pytest.mark.parametrize("row", GOLD, ids=lambda r: r["id"])
def test_planted_cause_is_the_one_the_decision_table_gives(row: Row) -> None:
    lost = points(row)
    assert max(lost, key=lambda c: (lost[c], -CAUSES.index(c)), default=None) == row["meta"]["cause"]


# ------------------------------------------------------------------ the set as its users meet it
def test_twelve_rows_a_language_with_ids_that_say_so() -> None:
    assert len({row["id"] for row in GOLD}) == 24
    assert Counter(row["id"][:2] for row in GOLD) == {"zh": 12, "en": 12}
    assert all(detect(row["question"], row.get("reference")) == row["id"][:2] for row in GOLD + WORKED_ROWS)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_both_languages_hold_the_same_shapes(lang: str) -> None:
    rows = [row for row in GOLD if row["id"].startswith(lang)]
    assert {row["meta"]["category"] for row in rows} == CATEGORIES
    assert {row["meta"]["cause"] for row in rows} >= PLANTED
    assert Counter(row["answer"] for row in rows).most_common(1)[0][1] == 3  # the canned answer
    assert {row.get("expected_behavior", "answer") for row in rows} == {"answer", "refuse", "clarify"}
    assert [] in [row["contexts"] for row in rows]
    clean = [row["id"] for row in rows if row["meta"]["cause"] is None]
    assert len(clean) == 2
    assert all(EXPECTED[i][m]["value"] == "1" for i in clean for m in ("faithfulness", "context_recall"))


def test_every_row_is_complete() -> None:
    for row in GOLD:
        assert set(row["meta"]) == {"category", "cause", "note"}
        assert row["meta"]["cause"] in [*CAUSES, None]
        assert row["reference_contexts"]
        assert len(row["contexts"]) <= 5
    assert {(i, m) for i, cells in EXPECTED.items() for m in cells} == {(row["id"], m) for row in GOLD for m in METRICS}
    assert all(EXPECTED[row["id"]][m]["status"] == "ok" for row in GOLD for m in METRICS[2:])


@pytest.mark.parametrize(("rows", "truth"), SETS)
def test_table_holds_every_text_and_no_other(rows: list[Row], truth: Row) -> None:
    texts = {row[side] for row in rows for side in ("answer", "reference") if side in row}
    said = {c for row in rows if "answer" in row for c in claims(truth, row, "answer")}
    wanted = {c for row in rows if "reference" in row for c in claims(truth, row, "reference")}
    compared = {c for row in rows if "answer" in row and "reference" in row for c in claims(truth, row, "answer")}
    assert set(truth["claims"]) == texts
    assert set(truth["checks"]) == said | wanted
    assert set(truth["matches"]) == compared
    assert set(truth["useful"]) == {row["question"] for row in rows if "contexts" in row}
    assert set(truth["questions"]) == {row["answer"] for row in rows if "answer" in row}
    for section in truth.values():
        assert len({fold(text) for text in section}) == len(section)


@pytest.mark.parametrize(("rows", "truth"), SETS)
def test_evidence_stands_in_the_row_and_prefixes_are_unique(rows: list[Row], truth: Row) -> None:
    everywhere = {c for row in rows for c in row.get("contexts", [])}
    sides = [side for entry in truth["checks"].values() for side in entry.values()]
    for text in {x for listed in (*sides, *truth["useful"].values()) for x in listed}:
        assert len(text) > 12
        assert len([c for c in everywhere if fold(c).startswith(fold(text))]) == 1
    for row in rows:
        contexts, rated = row.get("contexts", []), truth["useful"].get(row["question"], [])
        for claim in (c for side in ("answer", "reference") if side in row for c in claims(truth, row, side)):
            assert all(hits([x], contexts) for listed in truth["checks"][claim].values() for x in listed)
        assert len(hits(rated, contexts)) == len(rated)


@pytest.mark.parametrize(("rows", "truth"), SETS)
def test_anchors_are_short_verbatim_pieces(rows: list[Row], truth: Row) -> None:
    for text, entries in truth["claims"].items():
        for entry in entries:
            assert entry["anchor"] in text
            assert len(entry["anchor"]) <= 20


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_readme_names_every_row_with_its_cause(name: str) -> None:
    page = read_text("gold", name)
    for row in GOLD:
        assert re.search(rf"^\| `{row['id']}` \|.*\| {row['meta']['cause'] or '—'} \|", page, re.MULTILINE), row["id"]
