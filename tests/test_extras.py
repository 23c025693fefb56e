"""What is said when an optional library is missing: each is hidden from a process of its own."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from ragstone.errors import ConfigError
from ragstone.extras import library, require

HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {modules!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name.partition(".")[0])
sys.meta_path.insert(0, Hidden())
"""


def run_without(modules: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDE.format(modules=modules) + code]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=300)


@pytest.mark.parametrize(
    ("name", "magic", "lang", "said"),
    [
        ("问题.xlsx", b"PK\x03\x04rest", "zh", '问题.xlsx 需要 openpyxl，但尚未安装；安装命令：pip install "ragstone[xlsx]"\n'),
        ("a.parquet", b"PAR1rest", "en", 'a.parquet needs pyarrow, which is not installed; get it with: pip install "ragstone[parquet]"\n'),
    ],
)
def test_a_file_whose_library_is_missing_is_told_with_the_command(tmp_path, monkeypatch, name, magic, lang, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(magic)
    arguments = ["ragstone", "evaluate", name, "--out", "r", "--judge", "local", "--lang", lang]
    done = run_without(("openpyxl", "pyarrow"), f"sys.argv = {arguments!r}; from ragstone.cli.app import main; sys.exit(main())")
    assert (done.returncode, done.stderr) == (2, said)
    assert not (tmp_path / "r").exists()


def test_a_library_that_is_there_is_returned():
    assert library("json", "x", "y").loads("[1]") == [1]


def test_a_library_that_does_not_load_is_told_with_the_reason(tmp_path, monkeypatch):
    (tmp_path / "halfway.py").write_text("import nothing_of_that_name\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"does not load \(No module named 'nothing_of_that_name'"):
        library("halfway", "half", "a.half")


def test_nothing_else_needs_these_libraries():
    code = "import ragstone; run = ragstone.evaluate([{'question': 'q', 'contexts': ['a'], 'reference_contexts': ['a']}], "
    done = run_without(("openpyxl", "pyarrow", "pandas", "polars", "datasets"), code + "metrics='keyword_recall'); print(run)")
    assert done.stdout == "Run(in memory, samples=1, keyword_recall=1.0)\n", done.stderr


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_extra_is_looked_for_without_loading_it(monkeypatch, lang):
    monkeypatch.setenv("RAGSTONE_LANG", lang)
    monkeypatch.delitem(sys.modules, "openpyxl", raising=False)
    require("xlsx", "xlsx")
    require("an extra there is not", "nothing")
    assert "openpyxl" not in sys.modules

    def gone(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("ragstone.extras.distribution", gone)
    with pytest.raises(ConfigError, match=r'pip install "ragstone\[xlsx\]"'):
        require("xlsx", "xlsx")
