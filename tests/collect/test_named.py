"""Functions are found by their names; what is wrong with a name or a module is told in words."""

import sys

import pytest

from ragstone.collect.named import from_name
from ragstone.errors import ConfigError

MODULE = """
import dataclasses

def ask(question): return question

def make():
    return ask

def nothing(): return "text"

async def later(): return ask

def broken(): raise ValueError("no index")

class Bot:
    def __call__(self, question): return question
    def method(self, question): return question

class Needy:
    def __init__(self, index): ...

bot = Bot()
number = 7

@dataclasses.dataclass
class Held:
    __call__ = lambda self, question: question
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    (tmp_path / "mill_app.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "mill_kit").mkdir()
    (tmp_path / "mill_kit" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "mill_kit" / "chat.py").write_text("from mill_app import ask", encoding="utf-8")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("module", ["mill_app", "mill_app.py", "./mill_app.py", "{folder}/mill_app.py"])
@pytest.mark.parametrize("attribute", ["ask", "make", "Bot", "bot", "bot.method", "Bot.__call__", "Held"])
def test_a_name_is_found(folder, module, attribute):
    name = f"{module.format(folder=folder)}:{attribute}"
    found = from_name(name, "en")
    assert found.name == name
    assert len(found.code) == 16
    arguments = ("x",) if attribute != "Bot.__call__" else (None, "x")
    assert found.target(*arguments) == "x"


def test_a_module_of_a_package_and_one_that_imports_its_neighbour(folder):
    assert from_name("mill_kit.chat:ask", "en").target("x") == "x"
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "main_of_mill.py").write_text("from neighbour_of_mill import ask", encoding="utf-8")
    (folder / "elsewhere" / "neighbour_of_mill.py").write_text("def ask(q): return q * 2", encoding="utf-8")
    assert from_name("elsewhere/main_of_mill.py:ask", "en").target("x") == "xx"


def test_a_file_named_like_a_loaded_module_stands_beside_it(folder):
    (folder / "json.py").write_text("def ask(q): return 'own'", encoding="utf-8")
    import json

    assert from_name("json.py:ask", "en").target("x") == "own"
    assert sys.modules["json"] is json


WRONG = [
    ("mill_app", ["module:function"], ["模块:函数"]),
    (":ask", ["module:function"], ["模块:函数"]),
    ("mill_ap:ask", ["no module `mill_ap`", "did you mean `mill_app`?"], ["没有模块 `mill_ap`", "是否想写 `mill_app`"]),
    ("mill_kit.chatt:ask", ["no module `mill_kit.chatt`", "did you mean `chat`?"], ["没有模块"]),
    ("mill_ap.py:ask", ["no Python file mill_ap.py", "`mill_app.py`"], ["没有 Python 文件"]),
    ("mill_app:aks", ["no `aks` in `mill_app`", "did you mean `ask`?"], ["没有 `aks`", "是否想写 `ask`"]),
    ("mill_app:bot.mehtod", ["no `mehtod`", "`method`"], ["没有 `mehtod`"]),
    ("mill_app:Needy", ["class that needs arguments"], ["需要参数才能创建的类"]),
    ("mill_app:nothing", ["takes no argument"], ["没有参数"]),
    ("mill_app:later", ["takes no argument"], ["没有参数"]),
    ("mill_app:broken", ["without arguments failed", "ValueError: no index", "mill_app.py:13"], ["失败", "ValueError: no index"]),
]


@pytest.mark.parametrize(("name", "en", "zh"), WRONG)
def test_a_wrong_name_is_told(folder, name, en, zh):
    for lang, told in (("en", en), ("zh", zh)):
        with pytest.raises(ConfigError) as raised:
            from_name(name, lang)
        assert [text for text in told if text not in str(raised.value)] == []
        assert "Traceback" not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import mill_driver_that_nobody_has", "it needs `mill_driver_that_nobody_has`"),
        ("from json import nonsense", "ImportError: cannot import name 'nonsense'"),
        ("x = 1\nkey = {}['MILL_KEY']", "2: KeyError: 'MILL_KEY'"),
        ("def ask(:", "1: SyntaxError"),
        ("raise SystemExit(2)", "SystemExit: 2"),
    ],
)
@pytest.mark.parametrize("name", ["mill_bad:ask", "mill_bad.py:ask"])
def test_an_exception_while_importing_is_told_by_its_last_line(folder, code, told, name):
    (folder / "mill_bad.py").write_text(code, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        from_name(name, "en")
    assert told in str(raised.value)
    assert "Traceback" not in str(raised.value)
    assert "mill_bad" not in sys.modules
