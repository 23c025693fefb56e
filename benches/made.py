"""Samples made by rule, and the least number of tokens a judge must be shown for one."""

import json
import random
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Any

CONTEXTS = 5
CONTEXT_CHARS = 320  # a content floor of about 3,100 tokens a sample, for which the bars are set
LARGE_CONTEXTS, LARGE_CLAIMS = 12, 20  # what one request must hold

EN_SUBJECTS = ("The {d} team", "Section {k} of the handbook", "The {d} portal")
EN_RULES = (" answers within {m} working days. ", " keeps records for {m} months. ", " needs {m} signatures. ")
ZH_SUBJECTS = ("{d}部门", "员工手册第{k}节", "{d}平台")
ZH_RULES = ("须在{m}个工作日内答复。", "记录保存{m}个月。", "需要{m}人签字。")
DESKS = {"en": ("payroll", "travel", "legal", "training"), "zh": ("薪酬", "差旅", "法务", "培训")}
ONE_MORE = {"en": " Rule {n} was added last.", "zh": "第{n}号规定是最后补充的。"}


def sentence(draw: random.Random, lang: str) -> str:
    """Return a checkable statement with a number."""
    subjects, rules = (ZH_SUBJECTS, ZH_RULES) if lang == "zh" else (EN_SUBJECTS, EN_RULES)
    text = draw.choice(subjects) + draw.choice(rules)
    return text.format(d=draw.choice(DESKS[lang]), k=draw.randint(2, 999), m=draw.randint(2, 999))


def context(draw: random.Random, lang: str) -> str:
    """Return a chunk of about CONTEXT_CHARS characters."""
    text = ""
    while len(text) < CONTEXT_CHARS:
        text += sentence(draw, lang)
    return text.strip()


def sample(number: int) -> dict[str, Any]:
    """Return one row: Chinese and English by turns, an answer and a reference partly taken from the contexts."""
    draw, lang = random.Random(number), ("zh", "en")[number % 2]
    contexts = [context(draw, lang) for _ in range(CONTEXTS)]
    known = _statements(contexts, lang)
    return {
        "id": f"s{number:05}",
        "question": _question(number, lang),
        "answer": "".join([*draw.sample(known, draw.randint(2, 4)), *(sentence(draw, lang) for _ in range(draw.randint(1, 2)))]).strip(),
        "contexts": contexts,
        "reference": "".join([*draw.sample(known, draw.randint(1, 3)), sentence(draw, lang)]).strip(),
    }


def large_sample(number: int, claims: int = LARGE_CLAIMS) -> dict[str, Any]:
    """Return a row with LARGE_CONTEXTS contexts, and as many claims in the answer and in the reference as said."""
    draw, lang = random.Random(number), ("zh", "en")[number % 2]
    contexts = [context(draw, lang) for _ in range(LARGE_CONTEXTS)]
    known = list(dict.fromkeys(_statements(contexts, lang)))
    answer, reference = ("".join(draw.sample(known, claims)).strip() for _ in range(2))
    return {"id": f"l{number:05}", "question": _question(number, lang), "answer": answer, "contexts": contexts, "reference": reference}


def answered_anew(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return the row as an application with a new prompt would answer it: another answer, nothing else changed."""
    return {**row, "answer": row["answer"] + ONE_MORE["en" if row["answer"].isascii() else "zh"].format(n=number)}


def _question(number: int, lang: str) -> str:
    return f"第{number}号规定的具体要求是什么？" if lang == "zh" else f"What exactly does rule {number} say?"


def _statements(contexts: list[str], lang: str) -> list[str]:
    mark = "。" if lang == "zh" else ". "
    return [part.strip(" .") + mark for text in contexts for part in text.split(mark) if part.strip(" .")]


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write a JSONL file and return its path."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def tokens(text: str) -> int:
    """Count tokens as the mock does: one for a non-ASCII character, one for four ASCII ones."""
    ascii_chars = sum(char.isascii() for char in text)
    return len(text) - ascii_chars + (ascii_chars + 3) // 4


def floor(row: dict[str, Any]) -> int:
    """Return the tokens of the texts that seven requests must show a judge at the very least."""
    q, a, r = tokens(row["question"]), tokens(row["answer"]), tokens(row["reference"])
    c = sum(map(tokens, row["contexts"]))
    split_both, check_both, rate, invert, match = (q + a) + (q + r), (c + a) + (c + r), q + c + r, a, q + a + r
    return split_both + check_both + rate + invert + match


def free_port() -> int:
    """Return a port of 127.0.0.1 nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
