"""The page of platforms says of each what is sent and read, in both languages."""

import re

import orjson
import pytest

from ragstone.collect.page import platforms_page
from ragstone.collect.preset import platforms, preset


def sections(lang) -> dict[str, str]:
    parts = re.split(r"^## (.+)$", platforms_page(lang), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", platforms())
def test_every_platform_has_its_request_and_its_fields(name, lang):
    section = sections(lang)[name]
    request = re.search(r"```http\n(\w+) (\S+)\n(.*?)\n```", section, re.DOTALL)
    fields = preset(name).fields
    assert (request[1], request[2], orjson.loads(request[3])) == (fields["method"], fields["path"], fields["body"])
    for step in (*fields.get("then", ()), *([fields["before"]] if "before" in fields else ())):
        assert f"{step['method']} {step['path']}" in section
    changed = preset(name).streaming or preset(name).blocking or {}
    assert all(f"{step['method']} {step['path']}" in section for step in changed.get("then", ()))
    assert ("`chunks`" in section) == ("reader" in fields)
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE)
    assert {"contexts", "error"} <= {field for field, _ in rows}
    assert all(code.count("|") == code.count("\\|") for _, code in rows), "a bar would end the cell"


@pytest.mark.parametrize(("lang", "word"), [("en", "on demand"), ("zh", "可选")])
def test_the_overview_says_who_can_stream(lang, word):
    rows = {name: line for line in platforms_page(lang).splitlines() if (name := "".join(re.findall(r"^\| \[`([\w-]+)`\]", line)))}
    assert set(rows) == set(platforms())
    assert {name for name, line in rows.items() if word in line} == {name for name in platforms() if preset(name).streaming is not None}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_other_platforms_can_be_added(lang):
    assert "ragstone.collectors" in platforms_page(lang)
