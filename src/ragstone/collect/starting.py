"""The settings file somebody starts with: a platform's table with its defaults in sight, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ragstone.collect.preset import CUSTOM, Preset, platforms, preset, unknown_platform
from ragstone.collect.preset_checks import app_of, needs_app
from ragstone.config.writing import toml
from ragstone.errors import ConfigError
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language

COLUMNS = 100
"""Width of a line of comment; a Chinese character is two wide."""
READ = (
    *("answer", "contexts", "context_id", "context_text", "context_score", "context_source"),
    *("error", "usage", "success", "strip", "strip_context", "fail_if"),
)
"""Fields that say how a response is read, in the order they are shown in."""
_OWN = Preset(
    name=CUSTOM,
    example_url="https://rag.example.com",
    fields={
        "method": "POST",
        "path": "/ask",
        "body": {"question": "$question"},
        "stream": "none",
        "before": {"method": "POST", "path": "/conversations"},
        "then": [{"per": "chunk", "path": "/chunks/$id", "text": "text"}],
        "answer": "answer",
        "contexts": "chunks",
        "context_id": "id",
        "context_text": "text",
        "context_score": "score",
        "context_source": "source",
        "error": "error",
        "usage": "usage",
        "success": "code == null || code == `0`",
        "strip": [r"\[doc\d+\]"],
        "strip_context": ["<[^<>]+>"],
        "fail_if": ["(?i)service is busy"],
    },
)
"""An application of one's own, as an example."""
_GIVEN = ("path", "body", "answer", "contexts")
"""What an application of one's own cannot do without, or hardly."""


def settings_file(platform: str, lang: Language) -> str:
    """Return a commented `ragstone.toml` for a platform, or for an application of one's own (`custom`).

    It loads as it is, and so does every setting that is commented out, such as an address that is not on this machine.

    Raises:
        ConfigError: there is no such platform.
    """
    if platform not in (*platforms(), CUSTOM):
        raise ConfigError(unknown_platform(platform, lang))
    known = _OWN if platform == CUSTOM else preset(platform)
    parts = (_head(known, lang), _collect(known, lang), _judge(lang))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def is_local(url: str) -> bool:
    """Return whether an address is on this machine."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def name_of(platform: str) -> str:
    """Return a platform's name as a part of a key of the catalogue."""
    return platform.replace("-", "_")


def key_variable(platform: str) -> str:
    """Return a name for the environment variable of a platform's key, for those who ask several."""
    return f"{name_of(platform).upper()}_API_KEY"


def _told(text: str, lang: Language) -> Iterator[str]:
    """A text as lines of comment; Chinese breaks between any two characters, but not before a mark, after a bracket, or in a slot."""
    pieces = re.findall(r"\S+\s*" if lang == "en" else r"[（「“]*(?:\$\w[\w.]*\s*|[!-~]+\s*|.)[，。；：、）」”…]*", text)
    line = ""
    for piece in pieces:
        if line and _width(line + piece.rstrip()) > COLUMNS:
            yield f"# {line.rstrip()}"
            line = ""
        line += piece
    yield f"# {line.rstrip()}"


def _width(text: str) -> int:
    return sum(1 if char.isascii() else 2 for char in text)


def _head(known: Preset, lang: Language) -> Iterator[str]:
    name = name_of(known.name)
    yield f"# {say(f'platforms.title_{name}', lang)}"
    yield "#"
    yield from _told(say("platforms.init_key", lang, where=say(f"platforms.key_{name}", lang)), lang)
    yield f"#     export RAGSTONE_COLLECT_API_KEY={known.key_example or '…'}"
    yield from _told(say("platforms.init_try", lang), lang)
    yield "#     ragstone collect gold.jsonl --try 3"
    yield from _told(say("platforms.init_collect", lang), lang)
    yield "#     ragstone collect gold.jsonl --to samples.jsonl"
    yield "#     ragstone evaluate samples.jsonl --out runs/first"
    yield "#"
    yield from _told(say("platforms.init_lines", lang), lang)


def _collect(known: Preset, lang: Language) -> Iterator[str]:
    name = name_of(known.name)
    yield "[collect]"
    yield f"platform = {toml(known.name)}"
    local, sentence = is_local(known.example_url), say("platforms.init_own_url" if known is _OWN else "platforms.init_url", lang)
    sentences = [sentence] if local else [sentence, say("platforms.init_url_off", lang)]
    yield from _told((" " if lang == "en" else "").join(sentences), lang)
    yield f"{'' if local else '#'}url = {toml(known.example_url)}"  # a key must not go to an example that was overlooked
    if needs_app(known):
        yield from _told(f"app: {app_of(known.name, lang)}", lang)
        yield 'app = ""'
    yield f"#api_key_env = {toml(key_variable(known.name))}"
    yield ""
    yield from _told(say(f"platforms.chunks_{name}", lang), lang)
    yield from _told(say(f"platforms.note_{name}", lang), lang)
    yield ""
    yield from _told(say("platforms.init_own_sent" if known is _OWN else "platforms.init_sent", lang), lang)
    yield from _sent(known)
    yield '#headers = { X-Tenant = "$env.MY_TENANT" }'
    yield ""
    yield from _told(say("platforms.init_read", lang), lang)
    yield from (_line(known, field) for field in READ if field in known.fields)
    yield ""
    yield from _told(say("platforms.init_pace", lang), lang)
    yield from ("#timeout = 120.0", "#retries = 5", "#concurrency = 4", "#repeat = 1")


def _sent(known: Preset) -> Iterator[str]:
    if known.streaming is not None:
        yield f"#stream = {toml(known.streaming['stream'])}"
    elif known.streams:
        yield '#stream = "none"'
    if known is _OWN:
        yield _line(known, "method")
    yield _line(known, "path")
    yield from (f"#path = {toml(path)}" for path in known.other_paths)
    yield _line(known, "body")
    yield from (_line(known, step) for step in ("before", "then") if step in known.fields)


def _line(known: Preset, field: str) -> str:
    """A field with its value, commented out where it need not be given."""
    value, given = known.fields[field], known is _OWN and field in _GIVEN
    if field == "body":
        value, given = {**dict.fromkeys(known.needs, ""), **value}, given or bool(known.needs)
    return f"{'' if given else '#'}{field} = {toml(value)}"


def _judge(lang: Language) -> Iterator[str]:
    yield "[judge]"
    yield from _told(say("platforms.init_judge", lang), lang)
    yield from ('#model = "deepseek-chat"', '#base_url = "https://api.deepseek.com/v1"', '#api_key_env = "DEEPSEEK_API_KEY"')
    yield ""
    yield "[embeddings]"
    yield from _told(say("platforms.init_embeddings", lang), lang)
    yield from ('#model = "bge-m3"', '#base_url = "http://localhost:8000/v1"')
    yield ""
    yield "[metrics]"
    yield from _told(say("platforms.init_metrics", lang), lang)
    yield '#preset = "full"'
