"""Every text shown to people stands in the catalogue, in both languages, with equal slots, and is used."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ragstone
from ragstone.text import say, screen_language

SOURCE = Path(ragstone.__file__).parent
AREAS = sorted((SOURCE / "text").glob("*.toml"))
MODULES = sorted(SOURCE.rglob("*.py"))
ANY = "[a-z0-9_]+"
SLOT = re.compile(r"(?<!\{)\{(\w+)(?:[:!][^{}]*)?\}")


@cache
def catalogue() -> dict[str, dict[str, str]]:
    return {f"{path.stem}.{name}": texts for path in AREAS for name, texts in tomllib.loads(path.read_text(encoding="utf-8")).items()}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def slots(text: str) -> list[str]:
    return sorted(set(SLOT.findall(text)))


def pattern(node: ast.expr) -> str | None:
    """What a key may be: a literal is itself, a slot of an f-string any part of a name; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ANY for part in node.values)
    if isinstance(node, ast.IfExp) and (a := pattern(node.body)) and (b := pattern(node.orelse)):
        return f"(?:{a}|{b})"
    return None


def says(path: Path) -> Iterator[tuple[ast.Call, str | None]]:
    """Yield every call of `say`, with what its key may be."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
            yield node, pattern(node.args[0])


def strings(path: Path) -> Iterator[str]:
    """Yield every text of the code, an f-string as one pattern."""
    inside = {id(part) for node in ast.walk(tree(path)) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree(path)):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in inside and (found := pattern(node)) is not None:
            yield found


def looks_like_a_key(found: str) -> bool:
    areas = "|".join(re.escape(path.stem) for path in AREAS)
    return re.fullmatch(rf"(?:{areas})\\\.(?!toml|py$|jsonl?$)\S+", found) is not None


# ------------------------------------------------------------------ the texts
@pytest.mark.parametrize("path", AREAS, ids=lambda path: path.stem)
def test_every_text_stands_in_both_languages_with_equal_slots(path):
    for name, texts in tomllib.loads(path.read_text(encoding="utf-8")).items():
        assert set(texts) == {"en", "zh"}, name
        assert all(isinstance(text, str) and text.strip() for text in texts.values()), name
        assert slots(texts["en"]) == slots(texts["zh"]), name


@pytest.mark.parametrize("key", [key for key, texts in catalogue().items() if slots(texts["en"])])
def test_every_text_takes_its_values(key):
    values = {slot: Number(7) for slot in slots(catalogue()[key]["en"])}
    for lang in ("en", "zh"):
        assert SLOT.search(say(key, lang, **values)) is None


def test_a_text_without_slots_is_shown_as_it_stands():
    doubled = [key for key, texts in catalogue().items() if not slots(texts["en"]) and re.search(r"\{\{|\}\}", "".join(texts.values()))]
    assert doubled == []


class Number(int):
    """Fits into any slot: prints as text, and takes numeric formats."""

    def __format__(self, spec: str) -> str:
        return format(float(self), spec) if spec else "x"


# ------------------------------------------------------------------ keys and calls
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_every_key_is_in_the_catalogue(path):
    wanted = {found for _, found in says(path) if found is not None} | {found for found in strings(path) if looks_like_a_key(found)}
    assert [found for found in wanted if not any(re.fullmatch(found, key) for key in catalogue())] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_every_call_gives_the_values_its_text_asks_for(path):
    for call, found in says(path):
        if found is None or ANY in found or any(keyword.arg is None for keyword in call.keywords):
            continue
        given = sorted(str(keyword.arg) for keyword in call.keywords)
        for key in (key for key in catalogue() if re.fullmatch(found, key)):
            asked = slots(catalogue()[key]["en"])
            assert given == asked or ("|" in found and set(asked) <= set(given)), f"line {call.lineno}: {key}"


def test_every_text_is_used():
    used = {found for path in MODULES for found in strings(path) if looks_like_a_key(found)}
    exact = {found.replace("\\.", ".") for found in used if ANY not in found}
    built = [re.compile(found.replace(ANY, f"({ANY})")) for found in used if ANY in found]
    words = {word for path in MODULES for word in literal_words(tree(path))}
    assert [key for key in catalogue() if key not in exact and not any(uses(found, key, words) for found in built)] == []


def literal_words(module: ast.Module) -> Iterator[str]:
    """What a slot of a key may be filled with: strings and names of the code, flags without their dashes."""
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.lstrip("-").replace("-", "_")
        for name in ("id", "name", "attr", "arg"):
            if isinstance(found := getattr(node, name, None), str):
                yield found


def uses(built: re.Pattern[str], key: str, words: set[str]) -> bool:
    """A key built from parts is used if the code knows every part."""
    match = built.fullmatch(key)
    return match is not None and all(part in words for part in match.groups())


# ------------------------------------------------------------------ nothing beside the catalogue
WORDS = re.compile(r"[A-Za-z]{2,}[,;:.!?]? [A-Za-z]{2,}|[\u4e00-\u9fff]")
VERDICTS = {"supported", "contradicted", "not_found", "useful", "not_useful", "covered", "missing", "committal", "noncommittal", "found"}
OUTPUT = {"print", "tell", "write", "echo", "ConfigError", "DataError", "RunFolderError", "StoppedError"}


def literals_beside_the_catalogue(module: ast.Module) -> Iterator[str]:
    documentation = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation and says_something(node.value):
            yield f"line {node.lineno}: {node.value!r}"
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in OUTPUT:
            for argument in node.args:
                if isinstance(argument, ast.Constant) and re.search(r"[A-Za-z]{3,}", str(argument.value)):
                    yield f"line {node.lineno}: {argument.value!r}"


def says_something(text: str) -> bool:
    """True of words for people; a list of verdict words of the files is none."""
    return WORDS.search(text) is not None and not set(text.split()) <= VERDICTS


@pytest.mark.parametrize("path", sorted((SOURCE / "cli").glob("*.py")), ids=lambda path: path.stem)
def test_the_command_line_says_nothing_that_is_not_in_the_catalogue(path):
    assert list(literals_beside_the_catalogue(tree(path))) == []


@pytest.mark.parametrize(
    "code", ["print('done')", "x = 'all is well'", "x = f'{n} rows read'", "tell('错', 2)", "raise ConfigError('bad')"]
)
def test_a_text_beside_the_catalogue_is_noticed(code):
    assert list(literals_beside_the_catalogue(ast.parse(code)))


# ------------------------------------------------------------------ the language of the screen
@pytest.mark.parametrize(
    ("chosen", "environ", "lang"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        (None, {"RAGSTONE_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LC_ALL": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LANG": "de_DE.UTF-8"}, "en"),
        (None, {"LANG": "C"}, "en"),
    ],
)
def test_the_language_of_the_screen(chosen, environ, lang, monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert screen_language(chosen) == lang


def test_values_are_never_formatted():
    assert "{name} {0} %s" in say("config.unknown_variable", "en", name="{name} {0} %s", hint="")


@pytest.mark.parametrize("area", ["calling", "collected", "collecting"])
def test_counts_stand_where_any_number_fits(area: str) -> None:
    counted = re.compile(r"\{(?:rows|count|n|ok|total)\} (?:rows|answers|questions|results|responses|kept responses|gold questions)\b")
    exempt = {"calling.several", "collecting.line"}  # never one, and one that is over a second later
    found = [key for key, texts in catalogue().items() if key.startswith(f"{area}.") and counted.search(texts["en"])]
    assert set(found) <= exempt
