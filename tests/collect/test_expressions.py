"""Expressions: what is no JMESPath is told with its place, and what cannot be computed is nothing."""

import pytest

from ragstone.collect.expressions import check, found, search
from ragstone.collect.spec import Spec, Step
from ragstone.errors import ConfigError


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("data.[answer", "the JMESPath expression ends too early"),
        ("data..answer", "the mistake is at character 6: .answer"),
        ("data.answer]", "the mistake is at character 12: ]"),
        ("data.#x", "the mistake is at character 6: #x"),
        ("", "is empty"),
        ("concat(a, b)", "JMESPath has no function concat"),
        ("jion('', a)", "no function jion; did you mean join?"),
        ("data.items[*].join(a)", "the function join takes 2 arguments, not 1"),
        ("a[" * 400, "JMESPath"),
    ],
)
def test_a_wrong_expression_is_told_with_its_setting_and_place(path, told):
    with pytest.raises(ConfigError) as caught:
        check(Spec(contexts=path), "en")
    assert told in str(caught.value)
    assert "[collect] contexts" in str(caught.value)


def test_all_wrong_expressions_are_told_at_once():
    spec = Spec(
        answer="a[",
        error="b..c",
        before=Step(path="", until="x("),
        then=(Step(path="", per="chunk", text="]"), Step(path="", contexts="len(a)")),
    )
    with pytest.raises(ConfigError) as caught:
        check(spec, "zh")
    lines = str(caught.value).splitlines()
    settings = ["answer", "error", "before.until", "then[0].text", "then[1].contexts"]
    assert [line.removeprefix("[collect] ").split(" ")[0] for line in lines] == settings
    assert "第 1 个字符处有误" in lines[3]


def test_good_expressions_pass():
    check(Spec(answer="join('', a[].b) || to_string(@)", contexts="merge(a, b, c)", error="code != `0` && m"), "en")


@pytest.mark.parametrize(
    ("path", "body"),
    [("join('', a)", {}), ("length(@)", 5), ("sort_by(a, &b)", {"a": [{"b": 1}, {"b": "x"}]}), ("max(a)", {"a": [1, "x"]})],
)
def test_what_cannot_be_computed_is_nothing_with_a_reason(path, body):
    value, reason = found(path, body)
    assert value is None
    assert reason
    assert search(path, body) is None
