"""Write the pages of the documentation that come from the code, in both languages: write_docs.py [--check].

With --check nothing is written; the exit code is 1 if a page on disk is missing, differs, or belongs to no metric.
"""

import sys
from pathlib import Path

from ragstone.metrics import available
from ragstone.pages import page

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "metrics"
HEAD = "<!-- Written by `make docs` from the code; edit the texts in src/ragstone/text/. -->\n\n"


def pages() -> dict[Path, str]:
    """Return the text of every generated page by its path."""
    names = [name for name, cls in available().items() if cls.__module__.startswith("ragstone.")]
    return {FOLDER / f"{name}.{lang}.md": HEAD + page(name, lang).rstrip() + "\n" for name in names for lang in ("en", "zh")}


def stale(wanted: dict[Path, str]) -> list[Path]:
    """Return the pages on disk that are not what the code says, missing and left-over ones included."""
    found = {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))


def main(check: bool) -> int:
    """Write what changed, or only tell."""
    wanted = pages()
    changed = stale(wanted)
    for path in changed:
        print(path.relative_to(FOLDER.parents[1]))
        if not check and path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8", newline="\n")
        elif not check:
            path.unlink()
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
