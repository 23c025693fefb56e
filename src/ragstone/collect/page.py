"""The page of platforms: what each is sent, where its answer and chunks come from, what to switch on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from ragstone.collect.preset import Preset, platforms, preset
from ragstone.collect.preset_checks import app_of, needs_app
from ragstone.collect.starting import READ, name_of
from ragstone.config.writing import toml
from ragstone.text import say

if TYPE_CHECKING:
    from ragstone.types import Language


def platforms_page(lang: Language) -> str:
    """Return the page of platforms in Markdown."""
    known = [preset(name) for name in platforms()]
    overview = "\n".join(_overview(one, lang) for one in known)
    sections = "\n".join("\n".join(_section(one, lang)) for one in known)
    return say("platforms.page", lang, overview=overview, sections=sections).lstrip()


def _title(known: Preset, lang: Language) -> str:
    return say(f"platforms.title_{name_of(known.name)}", lang)


def _overview(known: Preset, lang: Language) -> str:
    when = "optional" if known.streaming is not None else "usual" if known.streams else "never"
    app = app_of(known.name, lang).partition("; " if lang == "en" else "；")[0] if needs_app(known) else "–"
    return f"| [`{known.name}`](#{known.name}) | {_title(known, lang)} | {app} | {say(f'platforms.stream_{when}', lang)} |"


def _section(known: Preset, lang: Language) -> Iterator[str]:
    name = name_of(known.name)
    yield from (f"## {known.name}", "", f"**{_title(known, lang)}**", "")
    yield f"- {say('platforms.page_key', lang)} {say(f'platforms.key_{name}', lang)}"
    yield f"- {say('platforms.page_app', lang)} {app_of(known.name, lang)}"
    yield f"- {say('platforms.page_chunks', lang)} {say(f'platforms.chunks_{name}', lang)}"
    yield f"- {say('platforms.page_note', lang)} {say(f'platforms.note_{name}', lang)}"
    yield from ("", *_requests(known, lang), "")
    if reader := known.fields.get("reader"):
        yield from (say(f"platforms.reader_{reader}", lang), "")
    yield from (say("platforms.page_read", lang), "|---|---|")
    yield from (f"| `{field}` | {_cell(toml(known.fields[field]))} |" for field in READ if field in known.fields)
    yield ""


def _requests(known: Preset, lang: Language) -> Iterator[str]:
    if before := known.fields.get("before"):
        yield from (say("platforms.page_before", lang, method=before["method"], path=before["path"]), "")
    yield from (say("platforms.page_sent", lang), "", "```http")
    yield f"{known.fields['method']} {known.fields['path']}"
    yield orjson.dumps(known.fields["body"], option=orjson.OPT_INDENT_2).decode()
    yield "```"
    yield from _steps(known.fields, lang)
    if known.other_paths:
        yield from ("", say("platforms.page_other", lang, paths=", ".join(f"`path = {toml(path)}`" for path in known.other_paths)))
    change: Mapping[str, Any] | None = known.streaming or known.blocking
    if change is not None:
        shown = ", ".join(f"`{key} = {toml(value)}`" for key, value in change.items() if key in ("path", "body"))
        yield from ("", say("platforms.page_stream", lang, stream=change["stream"], change=shown))
        yield from _steps(change, lang)


def _steps(fields: Mapping[str, Any], lang: Language) -> Iterator[str]:
    for step in fields.get("then", ()):
        kind = "chunk" if step.get("per") == "chunk" else "until" if "until" in step else "answer"
        yield from ("", say(f"platforms.page_then_{kind}", lang, method=step["method"], path=step["path"], until=step.get("until", "")))


def _cell(text: str) -> str:
    """Code in a cell of a table: bars would end it, backticks the code."""
    marks = "``" if "`" in text else "`"
    space = " " if marks == "``" else ""
    return f"{marks}{space}{text}{space}{marks}".replace("|", "\\|")
