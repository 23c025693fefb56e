"""Write the pages of the documentation that come from the code, in both languages: write_docs.py [--check].

With --check nothing is written; the exit code is 1 if a page on disk is missing, differs, or belongs to no metric.
"""

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import get_args

from ragstone.cli.app import COMMANDS, run
from ragstone.collect.page import platforms_page
from ragstone.config.page import settings_page
from ragstone.metrics import available
from ragstone.pages import page
from ragstone.shown.check_page import kinds_table
from ragstone.shown.reading_page import reading_page
from ragstone.types import Language

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = "<!-- Written by `make docs` from the code; edit the texts in src/ragstone/text/. -->\n\n"
KINDS = re.compile("(<!-- kinds -->\n).*?(<!-- /kinds -->)", re.DOTALL)
HELP_COLUMNS = "100"
CLI = {
    "en": """# Command line

Exit codes: **0** fine · **1** finished, but a metric's coverage, or the share of rows that `collect` got an answer for, is
below `--min-coverage`, a rule of `gate` fails, a replay differs, or `doctor` finds embeddings that cannot be used ·
**2** usage, settings or data, found before any request (a path that fits no response of `collect`: after the first few) ·
**3** stopped early by the endpoint, the model, the key, the balance, a limit of yours (`--max-calls`, `--deadline`, …),
a full disk or Ctrl-C; what was finished is kept, and the same command goes on.

`show`, `diagnose`, `compare`, `plan`, `history` and `check` end with 0 whatever they find, and with 2 where there is nothing to look at;
`gate` and `check --strict` alone turn a finding into a 1.

`--json` puts one document on stdout and nothing else; an `evaluate` or `collect` that ends with 2 or 3 prints none, but for the rows of
`collect --try`. Progress and notices go to stderr. `--lang zh` or `--lang en` may stand anywhere.
""",
    "zh": """# 命令行

退出码：**0** 正常 · **1** 已跑完，但某项指标的覆盖率、或 `collect` 取得回答的行的比例低于 `--min-coverage`，\
`gate` 有规则失败，重放结果有出入，\
或 `doctor` 发现向量模型不可用 · **2** 用法、设置或数据有误，\
尚未发出任何请求（`collect` 的取值路径与响应对不上时，则在最初几个请求之后）· **3** 提前停止，原因是接口、模型、密钥、余额、\
自设的上限（`--max-calls`、`--deadline` 等）、磁盘已满或 Ctrl-C；已完成的部分都在，重新执行同一条命令即可继续。

`show`、`diagnose`、`compare`、`plan`、`history`、`check` 无论看出什么都以 0 退出，没有可看的内容时以 2 退出；\
只有 `gate` 和 `check --strict` 会把结果变成 1。

`--json` 只在标准输出写一个 JSON 文档；`evaluate`、`collect` 以 2 或 3 退出时不写（`collect --try` 问到的行除外）。进度与提示写到标准错误。\
`--lang zh`、`--lang en` 可以放在任何位置。
""",
}


def pages() -> dict[Path, str]:
    """Return the text of every generated page by its path."""
    names = [name for name, cls in available().items() if cls.__module__.startswith("ragstone.")]
    found, mended = {}, {}
    for lang in get_args(Language):
        folder = DOCS if lang == "en" else DOCS / lang
        found |= {folder / "metrics" / f"{name}.md": page(name, lang) for name in names}
        found[folder / "settings.md"] = settings_page(lang)
        found[folder / "platforms.md"] = platforms_page(lang)
        found[folder / "reading.md"] = reading_page(lang)
        found[folder / "cli.md"] = cli_page(lang)
        mended[folder / "check.md"] = check_page((folder / "check.md").read_text(encoding="utf-8"), lang)
    return {path: HEAD + text.rstrip() + "\n" for path, text in found.items()} | mended


def check_page(page: str, lang: Language) -> str:
    """Return a page with the table of kinds where its marks stand; the rest of it is written by hand."""
    return KINDS.sub(lambda marks: f"{marks[1]}\n{kinds_table(lang)}\n{marks[2]}", page)


def cli_page(lang: Language) -> str:
    """Return the help pages of all commands."""
    parts = [f"## ragstone {name}\n\n```text\n{help_of(name, lang)}```\n" for name in COMMANDS]
    return "\n".join([CLI[lang], *parts])


def help_of(name: str, lang: Language) -> str:
    """Return what `ragstone NAME --help` prints on a wide terminal."""
    before, out = os.environ.get("COLUMNS"), io.StringIO()
    os.environ["COLUMNS"] = HELP_COLUMNS
    try:
        with contextlib.redirect_stdout(out):
            run([name, "--help"], lang, {})
    finally:
        os.environ.pop("COLUMNS")
        os.environ.update({} if before is None else {"COLUMNS": before})
    return out.getvalue()


def stale(wanted: dict[Path, str], docs: Path = DOCS) -> list[Path]:
    """Return the pages on disk that are not what the code says, missing and left-over ones included."""
    kept = {*docs.glob("metrics/*.md"), *docs.glob("zh/metrics/*.md"), *(path for path in wanted if path.exists())}
    found = {path: path.read_text(encoding="utf-8") for path in kept}
    return sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))


def main(check: bool) -> int:
    """Write what changed, or only tell."""
    wanted = pages()
    changed = stale(wanted)
    for path in changed:
        print(path.relative_to(DOCS.parent))
        if not check and path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
        elif not check:
            path.unlink()
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
