"""A platform's file, overlaid with the table `[collect]` of the settings: everything needed to ask an application."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from ragstone.collect.preset_checks import check_spec
from ragstone.collect.spec import Spec, Step
from ragstone.config.problems import nearest
from ragstone.errors import ConfigError
from ragstone.resources import read_toml
from ragstone.text import listing, say

if TYPE_CHECKING:
    from ragstone.config.model import CollectSettings, JudgeSettings, StepSettings
    from ragstone.types import Language

PLATFORMS = (
    *("fastgpt", "fastgpt-search", "dify-chat", "dify-workflow", "dify-retrieval", "ragflow", "ragflow-openai", "ragflow-retrieval"),
    *("maxkb", "anythingllm", "open-webui", "coze", "openai-responses", "openai", "langserve", "hayhooks"),
)
CUSTOM = "custom"
"""The usual name of an application that the table `[collect]` alone describes."""
_FACTS = ("example_url", "key_example", "other_paths", "whole", "needs", "optional", "streaming", "blocking")
"""Keys of a platform's file that are no fields of a Spec."""
_VERSION = re.compile(r"v\d+")
_MERGED = ("body", "headers")
_NOWHERE = ("null", "`null`")
"""Expressions that say that there is none: an application that only retrieves, or one that exposes no chunks."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A platform's file as it was read."""

    name: str
    fields: Mapping[str, Any]
    """Fields of a Spec; without a stream where the platform can answer at once and tell its chunks."""
    example_url: str
    """An address as people know it, for messages and for the settings file that is written for them."""
    key_example: str = ""
    """How its keys begin."""
    other_paths: tuple[str, ...] = ()
    """Paths of other versions that take the same request."""
    whole: tuple[str, ...] = ()
    """Keys of the body whose names an author chose: a user's replace them. `*` = the body."""
    needs: tuple[str, ...] = ()
    """Keys of the body that most servers want and only the user knows."""
    optional: tuple[str, ...] = ()
    """Keys of the body that hold the app and are left out where none is named: many servers have a default."""
    streaming: Mapping[str, Any] | None = None
    """Fields that change if the user wants a stream; None = there is none, or it is the usual way."""
    blocking: Mapping[str, Any] | None = None
    """Fields that change if the user wants none."""

    @property
    def streams(self) -> bool:
        """True if the platform can answer by a stream."""
        return self.streaming is not None or "stream" in self.fields


def platforms() -> tuple[str, ...]:
    """Return the names of the known platforms."""
    return PLATFORMS


def preset(name: str) -> Preset:
    """Return a known platform's file; raises KeyError if there is none."""
    if name not in PLATFORMS:
        raise KeyError(name)
    table = read_toml("collect", "presets", f"{name}.toml")
    facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items() if key in _FACTS}
    return Preset(name=name, fields={key: value for key, value in table.items() if key not in _FACTS}, **facts)


def spec_of(settings: CollectSettings, judge: JudgeSettings, lang: Language, *, concurrency: int = 16) -> Spec:
    """Return how the application of `[collect]` is asked and read.

    Args:
        settings: the table `[collect]`.
        judge: where `timeout` and `retries` come from if the table has none.
        lang: language of error texts.
        concurrency: questions under way at a time, if the table does not say.

    Raises:
        ConfigError: no such platform, something is missing that it needs, or an expression or pattern cannot be used; the text
            lists all problems, one a line.
    """
    own = {name: value for name in Spec.model_fields if (value := getattr(settings, name, None)) not in (None, {}) and name != "own"}
    known = _known(settings, own, lang)
    base = _base(known, settings, lang)
    fields = _laid_over(base, _plain(own), known.whole if known else ())
    if base.get("stream", "none") != "none" and settings.stream not in (None, "none"):
        fields["stream"] = base["stream"]  # the platform's own kind, whichever was named
    if settings.app is None and known is not None and "body" in fields:
        fields["body"] = _without_app(fields["body"], known.optional)
    fields["url"] = _trimmed(str(fields.get("url", "")).strip(), str(fields.get("path", "")), own_path="path" in own)
    pace = pace_of(settings, judge, concurrency)
    named = {"platform": settings.platform or CUSTOM, "app": (settings.app or "").strip() or None}
    spec = Spec.model_validate({**fields, **named, **pace, "own": tuple(own)})
    check_spec(spec, known, lang)
    return spec


def pace_of(settings: CollectSettings, judge: JudgeSettings, concurrency: int) -> dict[str, Any]:
    """Return `timeout`, `retries` and `concurrency` of collecting: as for the judge, and at the top level, where the table does not say."""
    return {
        "timeout": settings.timeout if settings.timeout is not None else judge.timeout,
        "retries": settings.retries if settings.retries is not None else judge.retries,
        "concurrency": settings.concurrency if settings.concurrency is not None else concurrency,
    }


def unknown_platform(name: str, lang: Language) -> str:
    """Return what is wrong with a name that is no platform, with the nearest one and all of them."""
    near = nearest(name, (*PLATFORMS, CUSTOM))
    hint = say("config.nearest", lang, name=near) if near else say("platforms.no_hint", lang)
    return say("platforms.unknown", lang, name=name, hint=hint, names=listing(PLATFORMS, lang))


def _known(settings: CollectSettings, own: Mapping[str, Any], lang: Language) -> Preset | None:
    if settings.platform in PLATFORMS:
        return preset(settings.platform)
    if settings.platform == CUSTOM or own.keys() & {"path", "answer", "contexts", "body"}:
        return None
    if settings.platform is None:
        raise ConfigError(say("platforms.none_named", lang, names=listing(PLATFORMS, lang)))
    raise ConfigError(unknown_platform(settings.platform, lang))


def _base(known: Preset | None, settings: CollectSettings, lang: Language) -> dict[str, Any]:
    """The platform's fields, as a stream or not."""
    if known is None:
        return {}
    change: Mapping[str, Any] = {}
    if settings.stream == "none":
        change = known.blocking or {}
    elif settings.stream is not None:
        change = known.streaming or {}
        if not known.streams and settings.body is None:
            raise ConfigError(say("platforms.no_stream", lang, platform=known.name))
    return _laid_over(known.fields, change)


def _plain(own: Mapping[str, Any]) -> dict[str, Any]:
    """The user's fields as plain values: records as dicts."""

    def plain(step: StepSettings) -> dict[str, Any]:
        per = step.per or ("chunk" if step.text is not None else "answer")
        return {**{name: value for name, value in step.model_dump().items() if name in Step.model_fields}, "per": per}

    found: dict[str, Any] = {name: None if name in ("answer", "contexts") and value in _NOWHERE else value for name, value in own.items()}
    if "before" in found:
        found["before"] = plain(found["before"])
    if "then" in found:
        found["then"] = [plain(step) for step in found["then"]]
    return found


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any], whole: tuple[str, ...] = ()) -> dict[str, Any]:
    """Body and headers are merged, everything else is replaced."""
    found = {**below, **above}
    for name in _MERGED:
        if name in below and name in above and not (name == "body" and "*" in whole):
            found[name] = _merged(below[name], above[name], whole if name == "body" else ())
    return found


def _merged(below: Any, above: Any, whole: tuple[str, ...] = ()) -> Any:
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    inner = {key: value if key in whole or key not in below else _merged(below[key], value) for key, value in above.items()}
    return {**below, **inner}


def _without_app(body: Any, optional: tuple[str, ...]) -> Any:
    if not isinstance(body, Mapping):
        return body
    return {key: value for key, value in body.items() if not (key in optional and value == "$app")}


def _trimmed(url: str, path: str, *, own_path: bool) -> str:
    """The address without what the platform's path says already: people copy it with `/v1`, with `/v1` twice, or whole."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url  # told when it is used
    have = [step for step in parts.path.split("/") if step]
    steps = [step for step in path.partition("?")[0].split("/") if step]
    kept = len(have) if own_path else _kept(have, steps)
    if kept < len(have):
        return urlunsplit(parts._replace(path="".join(f"/{step}" for step in have[:kept])))
    return url.rstrip("/") if not parts.query else url


def _kept(have: Sequence[str], steps: Sequence[str]) -> int:
    """How many steps of an address stand in front of the platform's path, of which people paste beginning, end, or version alone."""
    pieces = [steps[:end] for end in range(len(steps), 0, -1)]
    pieces += [steps[start:] for start in range(1, len(steps) - 1)]
    pieces += [[step] for step in steps if _VERSION.fullmatch(step)]
    plain = [list(piece) for piece in pieces if not any("$" in step for step in piece)]
    kept = len(have)
    while kept and (piece := next((p for p in plain if list(have[:kept])[-len(p) :] == p), None)):
        kept -= len(piece)
    return kept
