"""What mkdocs.yml and mkdocs.zh.yml cannot say: pages that live elsewhere, links between the two sites, Chinese search.

The pages of docs/ are written for a plain Git host: their links are paths of files. A link that leaves the site being built is
pointed at its page there, or at the other language's site.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

from ragstone.metrics import available

ROOT = Path(__file__).resolve().parents[1]
GOLD = "src/ragstone/gold"
ELSEWHERE = {
    "en": {f"{GOLD}/README.md": "gold.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md", "README.md": "index.md"},
    "zh": {f"{GOLD}/README.zh.md": "gold.md", "README.zh.md": "index.md", "docs/assets/site.css": "assets/site.css"},
}
"""Files that stand elsewhere by their place in each site; the READMEs are the start page, whose text stands in docs/."""
HOME = {"en": ("docs", ""), "zh": ("docs/zh", "zh/")}
"""Folder of a language's pages, and of its site."""
NAMES = {"en": "English", "zh": "中文"}
LINK = re.compile(
    r"(?P<code>^ *```.*?^ *```)|(?P<text>\[[^\]\n]*\])\((?P<path>(?!https?:|#)[^)#\s]+)(?P<anchor>#[^)\s]*)?\)", re.MULTILINE | re.DOTALL
)
LOADED = re.compile(r"<(?:script|img|iframe|link(?=[^>]*rel=\"?(?:stylesheet|preload|icon)))[^>]*(?:src|href)=\"?(?:https?:)?//[^>]*>")
HAN = re.compile(r"[\u3400-\u9fff]+")
LONGEST = 6
MENDED = {"o<t.length;o++": "o<=t.length;o++", "a<t.length-1": "a<t.length"}
"""What keeps the theme's search from seeing the last character of a Chinese query, and what it should say."""


def slug(title: str, separator: str = "-") -> str:
    """Return the anchor of a heading as Git hosts make it, so that a link works there and here."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)


def on_config(config: Any) -> Any:
    """Set the anchors and the language switch, and put the pages of the metrics into the navigation."""
    config.mdx_configs["toc"]["slugify"] = slug
    config.extra["alternate"] = [{"name": name, "lang": lang, "link": f"switch:{lang}"} for lang, name in NAMES.items()]
    for entry in config.nav:
        for title, pages in entry.items():
            if pages == "metrics/*.md":
                entry[title] = [{heading(Path(config.docs_dir) / page): page} for page in metric_pages(Path(config.docs_dir))]
    return config


def metric_pages(docs: Path) -> list[str]:
    """Return the pages of the metrics in the order of `ragstone metrics`."""
    order = list(available())
    names = sorted((path.stem for path in docs.glob("metrics/*.md")), key=lambda name: order.index(name) if name in order else len(order))
    return [f"metrics/{name}.md" for name in names]


def heading(page: Path) -> str:
    """Return the first heading of a page without the name in code that ends it."""
    return re.search(r"^# ([^`\n]+)", page.read_text(encoding="utf-8"), re.MULTILINE)[1].strip()  # type: ignore[index]


def on_files(files: Any, config: Any) -> Any:
    """Add the files that stand elsewhere in the repository."""
    for path, page in ELSEWHERE[config.theme["language"]].items():
        if files.get_file_from_path(page) is None:
            files.append(File.generated(config, page, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Point every link at the page it means in this site or in the other one."""
    lang = config.theme["language"]
    standing = {name: path for path, name in ELSEWHERE[lang].items() if name != "index.md"}
    source = Path(standing.get(page.file.src_uri, f"{HOME[lang][0]}/{page.file.src_uri}"))

    def moved(link: re.Match[str]) -> str:
        if link["code"]:
            return link[0]
        target = posixpath.normpath((source.parent / link["path"]).as_posix())
        found = place(target, lang, page)
        return f"{link['text']}({found}{link['anchor'] or ''})" if found else link["text"][1:-1]

    return LINK.sub(moved, markdown)


def place(target: str, lang: str, page: Any) -> str | None:
    """Return where a file of the repository is, seen from a page; None if it is in neither site."""
    if here := shown(target, lang):
        return posixpath.relpath(here, posixpath.dirname(page.file.src_uri) or ".")
    other = next(name for name in HOME if name != lang)
    if there := shown(target, other):
        url = HOME[other][1] + there.removesuffix("index.md").removesuffix(".md")
        return posixpath.relpath(url or ".", HOME[lang][1] + page.url) + "/"
    return None


def shown(target: str, lang: str) -> str | None:
    """Return the page of a site that shows a file of the repository."""
    folder = HOME[lang][0] + "/"
    foreign = lang == "en" and target.startswith(HOME["zh"][0] + "/")
    return ELSEWHERE[lang].get(target) or (target.removeprefix(folder) if target.startswith(folder) and not foreign else None)


def has(lang: str, page: Any) -> bool:
    """Whether a site holds the page too."""
    return (ROOT / HOME[lang][0] / page.file.src_uri).is_file() or page.file.src_uri in ELSEWHERE[lang].values()


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Let the language switch lead to the same page, and refuse a page that would load anything from another host."""
    if loaded := LOADED.search(output):
        raise PluginError(f"{page.file.src_uri} loads from another host: {loaded[0]}")
    here = HOME[config.theme["language"]][1] + page.url
    for lang in NAMES:
        there = HOME[lang][1] + (page.url if has(lang, page) else "")
        output = output.replace(f"switch:{lang}", posixpath.relpath(there or ".", here) + "/")
    return output


def on_post_template(output: str, **_: Any) -> str:
    """Let the language switch of the page for wrong addresses lead to the start pages."""
    for lang in NAMES:
        output = output.replace(f"switch:{lang}", f"/{HOME[lang][1]}")
    return output


@event_priority(-100)  # after the search plugin has written its index
def on_post_build(config: Any) -> None:
    """Split the Chinese text of the search index into words, at zero-width spaces, as the search of the theme expects it."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    data = json.loads(index.read_text(encoding="utf-8"))
    runs = [run for entry in data["docs"] for name in ("title", "text") for run in HAN.findall(entry[name])]
    known = frozenset(run for run in runs if 1 < len(run) <= LONGEST)
    for entry in data["docs"]:
        entry |= {name: HAN.sub(lambda run: "\u200b".join(words(run[0], known)), entry[name]) for name in ("title", "text")}
    index.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    mend(next(Path(config.site_dir).glob("assets/javascripts/workers/search.*.js")))


def mend(script: Path) -> None:
    """Let the search cut a Chinese query up to its last character; fails where a newer theme reads differently."""
    text = script.read_text(encoding="utf-8")
    for wrong, right in MENDED.items():
        if text.count(wrong) != 1:
            found = f"{script.name} holds {wrong!r} {text.count(wrong)} times, not once"
            raise PluginError(f"{found}; see whether this theme finds Chinese words by itself")
        text = text.replace(wrong, right)
    script.write_text(text, encoding="utf-8")


def words(run: str, known: frozenset[str]) -> Iterator[str]:
    """Split a run of Chinese characters: the longest known word first, else a character.

    Known is what stands by itself somewhere in the pages, between tags or punctuation: table cells, headings, links hold the terms.
    """
    while run:
        size = next((size for size in range(LONGEST, 1, -1) if run[:size] in known), 1)
        yield run[:size]
        run = run[size:]
