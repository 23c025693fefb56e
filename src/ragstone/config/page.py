"""The page of settings: every setting this version honours, with its meaning, range, default, flag and variable."""

from collections.abc import Iterator
from itertools import groupby

from pydantic.fields import FieldInfo

from ragstone.config.monitored import TraceSettings
from ragstone.config.problems import allowed, show_value
from ragstone.config.sources import COMMANDS, FLAGS, Place, kind_of, leaves
from ragstone.text import say
from ragstone.types import Language

_FLAG_OF = {place: name for flags in (FLAGS, *COMMANDS.values()) for name, place in flags.items()}


def settings_page(lang: Language) -> str:
    """Return the page of settings in Markdown."""
    tables = [_table(table, list(rows), lang) for table, rows in groupby(sorted(leaves(), key=_order), key=lambda item: _table_of(item[0]))]
    return say("settings.page", lang, tables="\n".join(tables)).lstrip()


def _table_of(place: Place) -> str:
    return place[0] if len(place) > 1 else "top"


def _order(item: tuple[Place, FieldInfo]) -> int:
    """Judge and embeddings first, the top level last; a stable sort keeps the order within a table."""
    return ("judge", "embeddings", "metrics", "limits", "levels", "collect", "gate", "export", "top").index(_table_of(item[0]))


def _table(table: str, rows: list[tuple[Place, FieldInfo]], lang: Language) -> str:
    title = say("settings.top", lang) if table == "top" else f"`[{table}]`"
    lines = [f"## {title}", "", say("settings.heading", lang), "|---|---|---|---|---|"]
    lines += [f"| {' | '.join(_cells(table, place, field, lang))} |" for place, field in rows]
    return "\n".join(lines) + "\n"


def _cells(table: str, place: Place, field: FieldInfo, lang: Language) -> Iterator[str]:
    default = field.get_default(call_default_factory=True)
    flag = _FLAG_OF.get(place)
    yield f"`{'.'.join(place[1:] or place)}`"
    yield f"`--{flag.replace('_', '-')}`, `RAGSTONE_{flag.upper()}`" if flag else "–"
    yield "–" if default is None else f"`{show_value(default)}`"
    yield say("settings.range_text", lang) if kind_of(field.annotation) == "text" else allowed(field, lang).strip()
    yield _meaning("langfuse" if place[:-1] == ("export", "langfuse") else table, place[-1], lang)


def _meaning(table: str, name: str, lang: Language) -> str:
    match table:
        case "judge":
            return say(f"settings.judge_{name}", lang)
        case "embeddings":
            return say(f"settings.embeddings_{name}", lang)
        case "metrics":
            return say(f"settings.metrics_{name}", lang)
        case "limits":
            return say(f"settings.limits_{name}", lang)
        case "levels":
            return say(f"settings.levels_{name}", lang)
        case "collect" if name in TraceSettings.model_fields:
            return say(f"monitored.setting_{name}", lang)
        case "collect":
            return say(f"platforms.setting_{name}", lang)
        case "gate":
            return say(f"settings.gate_{name}", lang)
        case "export":
            return say(f"settings.export_{name}", lang)
        case "langfuse":
            return say(f"settings.export_langfuse_{name}", lang)
        case _:
            return say(f"settings.top_{name}", lang)
