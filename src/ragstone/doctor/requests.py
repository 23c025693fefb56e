"""What the doctor asks a judge: the question of a run, small requests beside it, and the switches it tries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.doctor.signs import content_of, message_of, tokens_of, was_cut
from ragstone.questions.base import Question
from ragstone.questions.check_claims import KIND
from ragstone.questions.exchange import Asker
from ragstone.questions.schemas import record, words
from ragstone.resources import read_toml
from ragstone.types import Language

SHORT = 16
"""Tokens of the reply that is asked to be far longer."""
ROOM = 600
"""Tokens the small probes may take, so that a model that writes on and on does not hold up the rest."""
SEAL = "seal_kq7"
"""A key no model writes unless a schema makes it."""
SEALS = ("north-41", "south-59")
SEALED = {"type": "json_schema", "json_schema": {"name": "seal", "schema": record(**{SEAL: words(*SEALS)}), "strict": True}}
"""The reply format that demands it."""
RIGHT = ("supported", "contradicted")
"""The verdicts on the two claims of a question."""


def questions() -> dict[Language, Question]:
    """Return a question of a run in each language: one claim is supported, one contradicted."""
    found: dict[Language, Question] = {}
    for lang, texts in read_toml("doctor", "questions.toml").items():
        contexts, claims = ([{"id": i, "text": text} for i, text in enumerate(texts[name], 1)] for name in ("contexts", "claims"))
        language: Language = "zh" if lang == "zh" else "en"
        found[language] = Asker(KIND, language, 0).question({"contexts": contexts, "claims": claims})
    return found


@dataclass(frozen=True, slots=True)
class Small:
    """A small request beside those of a run."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The two messages."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


SKY = Small("Reply with one JSON object only.", "Which colour has a clear sky at noon? Reply in JSON, under the key colour.")
COUNT = Small("Reply with plain text only.", "Write the whole numbers from 1 to 300, with commas between them. Leave none out.")
SUM = Small("Reply with plain text only.", "What is 17 + 25? Reply with the number only.")


def switches(sign: str) -> list[dict[str, Any]]:
    """Return what may turn thinking off, likeliest first where a thought shows as `sign`."""
    rows: list[dict[str, Any]] = read_toml("doctor", "switches.toml")["switches"]
    likely = [row["body"] for row in rows if sign in row["signs"]]
    return likely + [row["body"] for row in rows if row["body"] not in likely]


def kept_to(data: dict[str, Any]) -> bool:
    """True if a reply was kept within SHORT tokens: it says so, its count does, or its text is short."""
    count = tokens_of(data)
    text = content_of(data)
    if was_cut(data) or (count is not None and count <= SHORT + 2):
        return True
    return count is None and len(text) <= 8 * SHORT and not message_of(data).get("reasoning_content")


def dotted(switch: Mapping[str, Any]) -> str:
    """A switch on one line: `thinking.type=disabled`."""
    inner = ((name, value.items() if isinstance(value, Mapping) else [("", value)]) for name, value in switch.items())
    return ", ".join(f"{name}{'.' if key else ''}{key}={str(value).lower()}" for name, rows in inner for key, value in rows)
