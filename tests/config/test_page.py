import pytest

from ragstone.config.page import settings_page
from ragstone.config.sources import FLAGS, leaves


def rows(page: str) -> dict[tuple[str, str], list[str]]:
    """The cells of each setting, by table and name."""
    found, table = {}, ""
    for line in page.splitlines():
        if line.startswith("## "):
            table = line.removeprefix("## ").strip("`[]")
        elif line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            found[table, cells[0].strip("`")] = cells
    return found


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_setting_is_on_the_page(lang):
    shown = set(rows(settings_page(lang)))
    for place, _ in leaves():
        table = place[0] if len(place) > 1 else {"en": "Top level", "zh": "顶层"}[lang]
        assert (table, ".".join(place[1:] or place)) in shown, place


@pytest.mark.parametrize(
    ("lang", "table", "name", "cells"),
    [
        ("en", "judge", "timeout", ["`--timeout`, `RAGSTONE_TIMEOUT`", "`120.0`", "a number above 0 and at most 3600"]),
        ("zh", "judge", "timeout", ["`--timeout`, `RAGSTONE_TIMEOUT`", "`120.0`", "数字，大于 0，不大于 3600"]),
        ("en", "collect", "timeout", ["`--timeout`, `RAGSTONE_TIMEOUT`", "–", "a number above 0 and at most 3600"]),
        ("en", "collect", "then", ["–", "–", "tables, each under a line [[collect.then]]"]),
        ("zh", "gate", "on_doubt", ["–", '`"pass"`', "pass, fail 之一"]),
        ("en", "Top level", "steps", ["–", "–", "a list of collect, evaluate, diagnose, compare, gate, report, export"]),
        ("en", "export", "langfuse.environment", ["–", '`"ragstone"`', "text"]),
        ("zh", "collect", "retry", ["–", "–", "由整数组成的列表"]),
        ("en", "embeddings", "batch_size", ["–", "`10`", "a whole number from 1 to 2048"]),
        ("en", "Top level", "concurrency", ["`--concurrency`, `RAGSTONE_CONCURRENCY`", "`16`", "a whole number from 1 to 1000"]),
        ("zh", "顶层", "lang", ["`--lang`, `RAGSTONE_LANG`", "–", "zh, en 之一"]),
    ],
)
def test_a_setting_is_shown_with_flag_variable_default_and_range(lang, table, name, cells):
    found = rows(settings_page(lang))[table, name]
    assert found[1:4] == cells
    assert len(found) == 5
    assert found[4]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_flag_that_works_is_on_the_page(lang):
    page = settings_page(lang)
    for name, place in FLAGS.items():
        assert f"`--{name.replace('_', '-')}`" in page, place
