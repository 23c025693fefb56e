"""A question to ask over HTTP, and clients that note their waits instead of sleeping."""

from typing import Any

from ragstone.embed.http import HttpEmbedder
from ragstone.judge.http import HttpJudge
from ragstone.questions.base import Kind, Question, Reading, ask

KEY = "sk-9Qx7LmZr2TbWk4Vd"
SCHEMA = {"type": "object", "properties": {"claims": {"type": "array", "items": {"type": "string"}}}}
KIND = Kind("split_claims", 1, SCHEMA, lambda _user, _raw: Reading())
PROMPT = "task: split_claims/1\nSplit. 拆分。"


def question(text: str = "一天 has 24 hours", kind: Kind = KIND) -> Question:
    return ask(kind, "en", 0, PROMPT, {"text": text})


class Waits(list[float]):
    """Stands for asyncio.sleep and keeps the seconds asked for."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def judge(url: str, api_key: str | None = KEY, **options: Any) -> HttpJudge:
    return HttpJudge("m-1", url, api_key, **{"sleep": Waits(), "lang": "en", **options})


def embedder(url: str, api_key: str | None = KEY, **options: Any) -> HttpEmbedder:
    return HttpEmbedder("e-1", url, api_key, **{"sleep": Waits(), "lang": "en", **options})
