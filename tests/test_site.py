"""The documentation as a whole: both languages say the same, every link leads somewhere, the site shows every page."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml
from mkdocs.exceptions import PluginError
from support.markdown import prose

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GOLD = ROOT / "src" / "ragstone" / "gold"
READMES = [ROOT / "README.md", ROOT / "README.zh.md", GOLD / "README.md", GOLD / "README.zh.md"]
PAGES = [*READMES, ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
TWINS = [*zip(READMES[::2], READMES[1::2], strict=True)]
TWINS += [(page, DOCS / "zh" / page.relative_to(DOCS)) for page in PAGES if DOCS in page.parents and DOCS / "zh" not in page.parents]


def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / ".ci" / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOKS = hooks()


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def headings(page: Path) -> list[tuple[int, str]]:
    """Return level and text of every heading, without its marks."""
    found = re.findall(r"^(#+) (.+)$", prose(page), re.MULTILINE)
    return [(len(marks), re.sub(r"[`*]|\]\([^)]*\)|\[", "", text).strip()) for marks, text in found]


# ------------------------------------------------------------------ two languages
@pytest.mark.parametrize(("english", "chinese"), TWINS, ids=lambda page: name_of(page))
def test_both_languages_of_a_page_have_the_same_headings(english, chinese):
    assert [level for level, _ in headings(english)] == [level for level, _ in headings(chinese)]


def test_every_page_stands_in_both_languages():
    chinese = {path.relative_to(DOCS / "zh").as_posix() for path in (DOCS / "zh").rglob("*.md")}
    assert {name_of(page).removeprefix("docs/") for page, _ in TWINS if DOCS in page.parents} == chinese


HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!](?=[\s\u4e00-\u9fff])|[\u4e00-\u9fff]\.(?=\s|$)", re.MULTILINE)


@pytest.mark.parametrize("page", [page for _, page in TWINS], ids=name_of)
def test_a_chinese_page_has_chinese_punctuation(page):
    assert HALF_WIDTH.findall(re.sub(r"`[^`\n]*`|^    .*$", "", prose(page), flags=re.MULTILINE)) == []


OTHER_WORDS = {"嵌入模型": "向量模型", "端点": "接口", "您": "你", "金标集": "金标准集", "声明": "论断"}


@pytest.mark.parametrize(
    "page", [page for _, page in TWINS if "Written by `make docs`" not in page.read_text(encoding="utf-8")], ids=name_of
)
def test_a_chinese_page_has_one_word_for_a_thing(page):
    assert {word: right for word, right in OTHER_WORDS.items() if word in prose(page)} == {}


# ------------------------------------------------------------------ links
def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Every link inside the repository: file and anchor; "" = the page itself or no anchor."""
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", prose(page)):
        yield (page.parent / path).resolve() if path else page, anchor


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(page):
    lost = [(target, anchor) for target, anchor in links(page) if not target.exists()]
    anchored = [(target, anchor) for target, anchor in links(page) if anchor and target.suffix == ".md"]
    lost += [(target, anchor) for target, anchor in anchored if anchor not in {HOOKS.slug(text) for _, text in headings(target)}]
    assert lost == []


def test_every_page_can_be_reached_from_the_readme():
    seen: set[Path] = set()
    left = [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page not in seen:
            seen.add(page)
            left += [target for target, _ in links(page) if target.suffix == ".md"]
    assert [name_of(page) for page in PAGES if page not in seen] == []


# ------------------------------------------------------------------ the site
def nav(config: str) -> list[str]:
    """Return the pages of a navigation; the pages of the metrics stand in it as a pattern."""

    def flat(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        for part in entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else ():
            yield from flat(part)

    return list(flat(yaml.safe_load((ROOT / config).read_text(encoding="utf-8"))["nav"]))


@pytest.mark.parametrize(("config", "lang"), [("mkdocs.yml", "en"), ("mkdocs.zh.yml", "zh")])
def test_the_navigation_shows_every_page_once(config, lang):
    folder = ROOT / HOOKS.HOME[lang][0]
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md") if lang == "zh" or DOCS / "zh" not in path.parents}
    elsewhere = {page for page in HOOKS.ELSEWHERE[lang].values() if page.endswith(".md")}
    assert sorted(nav(config)) == sorted({page for page in pages if not page.startswith("metrics/")} | elsewhere | {"metrics/*.md"})


def test_both_navigations_have_one_order():
    english = [page for page in nav("mkdocs.yml") if page not in ("contributing.md", "changes.md")]
    assert english == nav("mkdocs.zh.yml")


def page_at(src_uri: str) -> SimpleNamespace:
    url = src_uri.removesuffix("index.md").removesuffix(".md")
    return SimpleNamespace(file=SimpleNamespace(src_uri=src_uri), url=f"{url}/" if url and not url.endswith("/") else url or "./")


@pytest.mark.parametrize(
    ("lang", "page", "text", "moved"),
    [
        ("en", "index.md", "[a](cli.md#x)", "[a](cli.md#x)"),
        ("en", "index.md", "[中文](zh/index.md)", "[中文](zh/)"),
        ("en", "metrics/faithfulness.md", "[a](../../CONTRIBUTING.md#tests)", "[a](../contributing.md#tests)"),
        ("en", "python.md", "[a](../src/ragstone/gold/README.md)", "[a](gold.md)"),
        ("en", "gold.md", "[中文](README.zh.md)", "[中文](../zh/gold/)"),
        ("en", "gold.md", "[a](samples.jsonl)", "a"),
        ("en", "contributing.md", "[a](docs/cli.md)", "[a](cli.md)"),
        ("en", "cli.md", "[a](https://example.com/x) [b](#here)", "[a](https://example.com/x) [b](#here)"),
        ("en", "gold.md", "```\nrows[0](samples.jsonl)\n```", "```\nrows[0](samples.jsonl)\n```"),
        ("zh", "index.md", "[English](../index.md)", "[English](../)"),
        ("zh", "metrics/faithfulness.md", "[英文](../../metrics/faithfulness.md)", "[英文](../../../metrics/faithfulness/)"),
        ("zh", "python.md", "[a](../../CONTRIBUTING.md#tests)", "[a](../../contributing/#tests)"),
        ("zh", "gold.md", "[English](README.md)", "[English](../../gold/)"),
    ],
)
def test_a_link_of_a_file_becomes_one_of_the_site(lang, page, text, moved):
    config = SimpleNamespace(theme={"language": lang})
    assert HOOKS.on_page_markdown(text, page_at(page), config) == moved


@pytest.mark.parametrize(
    ("lang", "page", "english", "chinese"),
    [
        ("en", "index.md", "./", "zh/"),
        ("en", "metrics/faithfulness.md", "./", "../../zh/metrics/faithfulness/"),
        ("zh", "cli.md", "../../cli/", "./"),
        ("en", "contributing.md", "./", "../zh/"),  # in English only
    ],
)
def test_the_language_switch_leads_to_the_same_page(lang, page, english, chinese):
    config = SimpleNamespace(theme={"language": lang})
    assert HOOKS.on_post_page("switch:en switch:zh", page_at(page), config) == f"{english} {chinese}"


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://cdn.example.com/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.com/a.css">',
        "<img src=https://example.com/a.png>",
    ],
)
def test_a_page_that_loads_from_elsewhere_is_refused(tag):
    with pytest.raises(PluginError, match="another host"):
        HOOKS.on_post_page(tag, page_at("index.md"), SimpleNamespace(theme={"language": "en"}))


def test_a_page_may_link_elsewhere():
    text = '<a href="https://example.com">x</a><link rel="canonical" href="https://example.com/"><script src="assets/a.js"></script>'
    assert HOOKS.on_post_page(text, page_at("index.md"), SimpleNamespace(theme={"language": "en"})) == text


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("覆盖率", ["覆盖率"]),
        ("看覆盖率和忠实度", ["看", "覆盖率", "和", "忠实度"]),
        ("答案相关性", ["答案相关性"]),  # the longest
        ("未知", ["未", "知"]),
        ("", []),
    ],
)
def test_chinese_is_split_at_known_words(run, words):
    known = frozenset({"覆盖率", "忠实度", "答案", "答案相关性", "相关性"})
    assert list(HOOKS.words(run, known)) == words


def test_the_search_of_another_theme_is_noticed(tmp_path):
    script = tmp_path / "search.0.min.js"
    script.write_text("".join(HOOKS.MENDED), encoding="utf-8")
    HOOKS.mend(script)
    assert script.read_text(encoding="utf-8") == "".join(HOOKS.MENDED.values())
    with pytest.raises(PluginError, match="finds Chinese words by itself"):
        HOOKS.mend(script)


def test_anchors_are_those_of_a_git_host():
    titles = ("How to read the table", "The run folder: `scores.jsonl`", "怎么看汇总表？", "a_b c/d")
    assert [HOOKS.slug(title) for title in titles] == ["how-to-read-the-table", "the-run-folder-scoresjsonl", "怎么看汇总表", "a_b-cd"]
