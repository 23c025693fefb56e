"""Finding a Python function or object by its name: `module:function` or `app.py:ask`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from ragstone.errors import ConfigError
from ragstone.text import listing, say
from ragstone.types import Language


@dataclass(frozen=True, slots=True)
class Named:
    """What a name stands for."""

    target: Any
    name: str
    """As it was given."""
    code: str | None
    """Hash of the module's file, so that a changed function is noticed; modules that it imports are not looked at."""


def from_name(name: str, lang: Language) -> Named:
    """Import what `name` stands for.

    `module:attribute`, where the module is on Python's path or in the working directory, or `path/to/file.py:attribute`; the attribute may
    be dotted. A class, or a function that takes no argument, is called once without arguments, and what it gives is asked.

    Raises:
        ConfigError: no such module or attribute, a package that is missing, an exception while importing, or nothing that can be called.
    """
    where, colon, attribute = name.rpartition(":")
    if not colon or not where or not attribute:
        raise ConfigError(say("calling.name_form", lang, name=name))
    module = _from_file(Path(where), name, lang) if where.endswith(".py") else _from_module(where, name, lang)
    target = _made(_attribute(module, attribute, where, lang), name, lang)
    return Named(target, name, _hash(module))


def _hash(module: ModuleType) -> str | None:
    try:
        content = Path(module.__file__ or "").read_bytes()
    except OSError:
        return None
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:16]


# ------------------------------------------------------------------ the module
def _from_file(path: Path, name: str, lang: Language) -> ModuleType:
    if not path.is_file():
        raise ConfigError(say("calling.no_file", lang, path=path) + _near(path.name, _beside(path.parent, "*.py"), lang))
    _look_in(path.resolve().parent)
    known = sys.modules.get(path.stem)
    if known is not None and _same(known, path):
        return known
    stem = path.stem if known is None else f"ragstone_called_{path.stem}"
    spec = importlib.util.spec_from_file_location(stem, path)
    if spec is None or spec.loader is None:
        raise ConfigError(say("calling.no_file", lang, path=path))
    module, loader = importlib.util.module_from_spec(spec), spec.loader
    sys.modules[stem] = module
    try:
        _guarded(lambda: loader.exec_module(module), name, "", lang)
    except ConfigError:
        sys.modules.pop(stem, None)
        raise
    return module


def _same(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve() == path.resolve()


def _from_module(module: str, name: str, lang: Language) -> ModuleType:
    _look_in(Path.cwd())
    importlib.invalidate_caches()
    found: list[ModuleType] = []
    _guarded(lambda: found.append(importlib.import_module(module)), name, module, lang)
    return found[0]


def _look_in(folder: Path) -> None:
    """Put a folder at the front of Python's path, as `python -m` does."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _guarded(load: Callable[[], object], name: str, module: str, lang: Language) -> None:
    """Run the import of a module, and tell what it raises in words."""
    try:
        load()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if module and (missing == module or module.startswith(f"{missing}.")):
            raise ConfigError(_no_module(module, missing, lang)) from None
        raise ConfigError(say("calling.missing_package", lang, name=name, package=missing or str(error))) from None
    except (Exception, SystemExit) as error:
        raise ConfigError(say("calling.import_failed", lang, name=name, error=_last_line(error))) from None


def _no_module(module: str, missing: str, lang: Language) -> str:
    text = say("calling.no_module", lang, module=missing, folder=os.getcwd())
    folder = Path.cwd().joinpath(*missing.split(".")[:-1])
    near = [Path(found).stem for found in _beside(folder, "*.py")] + _beside(folder, "*/")
    return text + _near(module.rpartition(".")[2], near, lang)


def _beside(folder: Path, pattern: str) -> list[str]:
    try:
        return [path.name for path in folder.glob(pattern)]
    except OSError:
        return []


def _near(word: str, names: list[str], lang: Language) -> str:
    near = get_close_matches(word, names, n=1, cutoff=0.6)
    return say("calling.nearest", lang, name=near[0]) if near else ""


def _last_line(error: BaseException) -> str:
    """Return the last line of a traceback, with the place it speaks of."""
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {text}"
    return f"{frames[-1].filename}:{frames[-1].lineno}: {text}" if frames else text


# ------------------------------------------------------------------ the attribute
def _attribute(module: ModuleType, attribute: str, where: str, lang: Language) -> Any:
    found: Any = module
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            public = [other for other in dir(found) if not other.startswith("_")]
            own = [other for other in public if getattr(getattr(found, other, None), "__module__", None) == module.__name__]
            text = say("calling.no_attribute", lang, module=where, name=part, found=listing(own or public, lang) or "-")
            raise ConfigError(text + _near(part, public, lang)) from None
    return found


def _made(target: Any, name: str, lang: Language) -> Any:
    """Return what is to be asked: of a class its instance, of a function without parameters what it returns, else the target."""
    if isinstance(target, type):
        if not _takes_nothing(target):
            raise ConfigError(say("calling.class_needs", lang, name=name))
        return _called(target, name, lang)
    if not inspect.isroutine(target) or not _takes_nothing(target, strictly=True):
        return target
    if inspect.iscoroutinefunction(target) or inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        raise ConfigError(say("calling.takes_nothing", lang, name=name))
    made = _called(target, name, lang)
    if callable(made) or any(hasattr(made, method) for method in ("invoke", "ainvoke", "query", "chat", "retrieve")):
        return made
    raise ConfigError(say("calling.takes_nothing", lang, name=name))


def _takes_nothing(target: Callable[..., Any], *, strictly: bool = False) -> bool:
    """True if it can be called without arguments; strictly: if it has no parameters at all."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return not strictly
    return not any(strictly or (p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)) for p in parameters)


def _called(target: Callable[[], Any], name: str, lang: Language) -> Any:
    made: list[Any] = []
    try:
        made.append(target())
    except (Exception, SystemExit) as error:
        raise ConfigError(say("calling.making_failed", lang, name=name, error=_last_line(error))) from None
    return made[0]
