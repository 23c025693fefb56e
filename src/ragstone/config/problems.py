"""What is wrong with given settings, as sentences that name the setting, where it was given, and what is allowed."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, get_args, get_origin

import orjson
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from ragstone.config.delivery import ENVIRONMENT
from ragstone.config.model import GateRule, GateSlice, StepSettings
from ragstone.config.slots import bare_scheme, without_slots, written_out
from ragstone.config.sources import FLAGS, Given, Layer, Place, field_at, kind_of, leaves, options_of, show_place, show_table, table_at
from ragstone.text import say
from ragstone.types import Language

URLS: tuple[Place, ...] = (("judge", "base_url"), ("embeddings", "base_url"), ("collect", "url"))
KEY_NAMES = frozenset({"api_key", "apikey", "key", "token", "secret", "password", "access_token", "authorization"})
_KEY = re.compile(
    r"(?:bearer\s+\S{16,}"
    r"|(?:sk|rk|gsk|hf|ghp|pat)[-_][\w-]{16,}"
    r"|(?:app|dataset|fastgpt|ragflow|application)-[A-Za-z0-9]{16,}"
    r"|AIza[\w-]{30,})",
    re.IGNORECASE,
)
_CREDENTIALS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s?#]*@", re.IGNORECASE)
_HOST = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/[\w./-]{0,40})?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def take_secrets(layer: Layer, lang: Language) -> Iterator[str]:
    """Take keys, credentials and unusable addresses out of `layer`; yield one sentence for each. None is ever quoted."""
    for place, given in list(layer.items()):
        texts = list(_texts(place, given.value))
        problem = next((found for where, text in texts if (found := _secret(where, text, given, lang))), None)
        if problem is None and place in URLS:
            problem = _address(given, lang)
        if problem is not None:
            del layer[place]
            yield problem


def from_validation(error: ValidationError, layer: Layer, lang: Language) -> Iterator[str]:
    """One sentence for each thing pydantic refused; the several errors of a union are one."""
    seen: set[Place] = set()
    for item in error.errors(include_url=False):
        loc = item["loc"]
        if item["type"] == "extra_forbidden":
            yield _unknown(loc, layer, lang)
            continue
        place = tuple(str(step) for step in loc) if table_at(loc) is not None else field_at(loc)[1]
        if place in seen:
            continue
        seen.add(place)
        yield _refused(item["type"], place, item["input"], layer, lang)


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Return the known name most like `name`, or None."""
    match = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return match[0] if match else None


def unknown_variable(variable: str, lang: Language) -> str:
    """Return the notice about a RAGSTONE_ variable that sets nothing."""
    near = nearest(variable.removeprefix("RAGSTONE_"), list(FLAGS))
    hint = say("config.nearest", lang, name=f"RAGSTONE_{near.upper()}") if near else ""
    return say("config.unknown_variable", lang, name=variable, hint=hint)


def unknown_flag(name: str, lang: Language) -> str:
    """Return what is wrong with a setting given by name that there is not."""
    near = nearest(name, list(FLAGS))
    return say("config.unknown", lang, name=name, where="", at="", hint=say("config.nearest", lang, name=near) if near else "")


def allowed(field: FieldInfo, lang: Language) -> str:
    """Return what a setting may be, as words: `a whole number from 1 to 1000`."""
    options = [option for option in options_of(field.annotation) if option is not type(None)]
    return say("config.or", lang).join(dict.fromkeys(_allowed(option, field, lang) for option in options))


def _allowed(option: Any, field: FieldInfo, lang: Language) -> str:
    kind = kind_of(option)
    if kind == "choice":
        choices = get_args(option)
        return say("config.allow_choice", lang, choices=", ".join(choices)) if len(choices) > 1 else show_value(choices[0])
    if kind in ("int", "float"):
        return say(f"config.allow_{kind}", lang, range=_range(*_bounds(field), lang))
    if kind == "list" and get_args(option)[0] in (int, StepSettings):
        return say("platforms.allow_numbers" if get_args(option)[0] is int else "platforms.allow_steps", lang)
    if kind == "text" and option is StepSettings:
        return say("config.allow_table", lang)
    if kind == "text" and any(getattr(limit, "pattern", None) == ENVIRONMENT for limit in field.metadata):
        return say("config.allow_environment", lang)
    if kind == "text" and option is Any:
        return say("platforms.allow_body", lang)
    if kind == "list" and get_origin(get_args(option)[0]) is Literal:
        return say("config.allow_list_of", lang, choices=", ".join(get_args(get_args(option)[0])))
    if kind == "object" and get_args(option)[1] is not Any:
        return say("config.allow_rules" if get_args(option)[1] is GateRule else "config.allow_tables", lang)
    if kind == "list" and get_args(option)[0] is GateSlice:
        return say("config.allow_slices", lang)
    return say(f"config.allow_{kind}", lang)


def show_value(value: Any) -> str:
    """Return a value as short JSON, or as its type where JSON has no form for it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        text = str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _origin(given: Given, lang: Language) -> str:
    return say("config.at_file", lang, file=given.file) if given.source == "file" else ""


def _texts(place: Place, value: Any) -> Iterator[tuple[Place, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts((*place, str(key)), inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(place, inner)


def _secret(where: Place, text: str, given: Given, lang: Language) -> str | None:
    at = _origin(given, lang)
    name = show_place(where) if given.source == "file" else given.name
    of_collect = where[0] == "collect"
    if _CREDENTIALS.search(text):
        return say("platforms.credentials" if of_collect else "config.credentials", lang, name=name, at=at)
    if where[-1] == "api_key_env":
        return None if _VARIABLE.fullmatch(text) and not _KEY.fullmatch(text) else say("config.key_env", lang, name=name, at=at)
    if of_collect and (problem := written_out(where, name, at, text, lang)):
        return problem
    bare = without_slots(text) if of_collect else text
    if _KEY.search(bare) or (where[-1].lower() in KEY_NAMES and field_at(where)[1] != where and not (of_collect and bare_scheme(bare))):
        return say("platforms.key_in_request" if of_collect else "config.key", lang, name=name, at=at)
    return None


def _address(given: Given, lang: Language) -> str | None:
    if isinstance(given.value, str) and not re.match(r"https?://[^/\s]+", given.value):
        example = f"http://{given.value}" if _HOST.fullmatch(given.value) else "https://api.deepseek.com/v1"
        return say("config.address", lang, name=given.name, at=_origin(given, lang), value=show_value(given.value), example=example)
    return None


def _unknown(loc: Sequence[str | int], layer: Layer, lang: Language) -> str:
    name, table = str(loc[-1]), loc[:-1]
    given = next((g for place, g in layer.items() if tuple(str(s) for s in loc)[: len(place)] == place), None)
    at = _origin(given, lang) if given else ""
    model = table_at(table)
    near = nearest(name, list(model.model_fields)) if model else None
    hint = show_place((*table, near)) if near else _elsewhere(name)
    where = say("config.in_table", lang, table=show_table(table)) if table else ""
    return say("config.unknown", lang, name=name, where=where, at=at, hint=say("config.nearest", lang, name=hint) if hint else "")


def _elsewhere(name: str) -> str | None:
    """A setting of that very name in another table, else one with a similar name."""
    by_name = {place[-1]: show_place(place) for place, _ in reversed(list(leaves()))}
    near = name if name in by_name else nearest(name, list(by_name))
    return by_name.get(near) if near else None


def _refused(kind: str, place: Place, value: Any, layer: Layer, lang: Language) -> str:
    field = field_at(place)[0]
    given = next((g for key, g in layer.items() if key[: len(place)] == place or place[: len(key)] == key), None)
    name = given.name if given and given.source != "file" else show_place(place)
    at = _origin(given, lang) if given else ""
    if kind == "missing":
        return say("config.missing", lang, name=name, at=at)
    assert field is not None
    wanted = say("config.allow_table", lang) if table_at(place) is not None and not isinstance(value, Mapping) else allowed(field, lang)
    refused = say("config.refused", lang, name=name, at=at, value=show_value(value), allowed=wanted)
    near = nearest(value, _choices(field)) if isinstance(value, str) else None
    return refused + (say("config.nearest", lang, name=near) if near else "")


def _choices(field: FieldInfo) -> list[str]:
    """The words a setting may be, where it is one of a few."""
    options = [option for option in options_of(field.annotation) if option is not type(None)]
    lists = [get_args(option)[0] for option in options if kind_of(option) == "list"]
    return [choice for option in (*options, *lists) if kind_of(option) == "choice" for choice in get_args(option)]


def _bounds(field: FieldInfo) -> tuple[str | None, str | None]:
    low = high = None
    for limit in field.metadata:
        low = low if getattr(limit, "ge", None) is None else f"{limit.ge}"
        low = low if getattr(limit, "gt", None) is None else f">{limit.gt}"
        high = high if getattr(limit, "le", None) is None else f"{limit.le}"
        high = high if getattr(limit, "lt", None) is None else f"<{limit.lt}"
    return low, high


def _range(low: str | None, high: str | None, lang: Language) -> str:
    if low and high and not low.startswith(">") and not high.startswith("<"):
        return say("config.range_between", lang, low=low, high=high)
    text = ""
    if low:
        text += say("config.range_above", lang, low=low[1:]) if low.startswith(">") else say("config.range_from", lang, low=low)
    if high:
        text += say("config.range_below", lang, high=high[1:]) if high.startswith("<") else say("config.range_to", lang, high=high)
    return text
