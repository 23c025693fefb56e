"""Slots of requests: values with their type, values in texts, values in addresses and headers, and what is refused beforehand."""

import re
import string
from urllib.parse import parse_qsl, unquote, urlsplit

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.base import Row
from ragstone.collect.slot_checks import check, secrets
from ragstone.collect.spec import Spec, Step
from ragstone.collect.template import Values, filled, filled_headers, filled_path
from ragstone.errors import ConfigError
from ragstone.types import Sample

GOLD = Sample(
    id="g7",
    question="试用期多长？",
    reference="三个月",
    reference_points=("三个月", "书面约定"),
    history=({"role": "user", "content": "你好"},),
    meta={"dept": "hr", "level": 3, "nested": {"city": "杭州"}, "a.b": "dotted"},
)
ENVIRON = {"TOKEN": "tk-secret-1", "EMPTY": ""}


def values(gold: Sample = GOLD, repeat: int | None = None, **more) -> Values:
    return Values(Row(gold, repeat), app="app 1", environ=ENVIRON, **more)


# ------------------------------------------------------------------ bodies
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"q": "$question"}, {"q": "试用期多长？"}),
        ({"q": "请回答$question。"}, {"q": "请回答试用期多长？。"}),
        ({"q": "Answer ${question}s in $row.dept."}, {"q": "Answer 试用期多长？s in hr."}),
        ({"level": "$row.level", "said": "level $row.level"}, {"level": 3, "said": "level 3"}),
        ({"city": "$row.nested.city", "all": "$row.nested"}, {"city": "杭州", "all": {"city": "杭州"}}),
        ({"x": "$row.a.b"}, {"x": "dotted"}),
        ({"x": "$row.absent", "y": "[$row.absent]"}, {"x": None, "y": "[]"}),
        ({"x": "$row.reference_points"}, {"x": ["三个月", "书面约定"]}),
        ({"h": "$history"}, {"h": [{"role": "user", "content": "你好"}]}),
        ({"id": "$id", "row": "$row", "again": "$row.id"}, {"id": "g7", "row": "g7", "again": "g7"}),
        ({"cost": "$$5 and $5", "own": "$$question"}, {"cost": "$5 and $5", "own": "$question"}),
        (["$app", {"deep": ["$row.reference"]}, 7, None, True], ["app 1", {"deep": ["三个月"]}, 7, None, True]),
        ({"key": "$env.TOKEN", "$question": "keys stay"}, {"key": "tk-secret-1", "$question": "keys stay"}),
        ('{"q": $question, "n": $row.level, "t": "of $row.dept"}', {"q": "试用期多长？", "n": 3, "t": "of hr"}),
        ("$row.nested", {"city": "杭州"}),
        (None, None),
    ],
)
def test_a_body_is_filled(template, expected):
    assert filled(template, values()) == expected


def test_rows_without_history_or_asked_several_times():
    bare = Sample(id="g8", question="Q")
    assert filled(["$history", "$id", "$row"], values(bare, repeat=2)) == [None, "g8#2", "g8#2"]


def test_every_uuid_is_new():
    first, second = filled(["$uuid", "s-$uuid"], values())
    assert re.fullmatch(r"[0-9a-f-]{36}", first)
    assert second != f"s-{first}"


def test_slots_of_further_requests():
    further = values(
        response={"data": {"id": "r1", "items": [{"k": 5}]}},
        before={"chat": "c9"},
        chunk={"id": "d4", "collectionId": "co"},
    )
    template = [
        "$response.data.id",
        "$response.data.items[0].k",
        "${response.data.items[*].k}",
        "$before.chat",
        "$chunk.collectionId",
        "$id",
    ]
    assert filled(template, further) == ["r1", 5, [5], "c9", "co", "d4"]
    assert filled_path("/c/$before.chat/$response.data.id/record", further) == "/c/c9/r1/record"
    assert filled("$id", values(chunk={"segment_id": "s1"})) == "s1"
    assert filled("$id", values(chunk={"odd": 1}, chunk_id="k")) == "k"


@pytest.mark.parametrize("hostile", ["$env.TOKEN", "$row.id", "${env.TOKEN}", "$$", '", "role": "system', "{question}", "%s \\u0000"])
def test_a_value_is_never_scanned_again(hostile):
    row = values(Sample(id="x", question=hostile, meta={"m": hostile}))
    body = filled({"q": "$question", "in": "<$question|$row.m>", "list": ["$row.m"]}, row)
    assert body == {"q": hostile, "in": f"<{hostile}|{hostile}>", "list": [hostile]}
    assert filled('{"q": $question}', row) == {"q": hostile}
    assert unquote(filled_path("/a/$question", row)) == f"/a/{hostile}"


@given(st.text(), st.text(alphabet='$env.TOKENrowid{}"\\ question'))
def test_whatever_a_question_holds_it_arrives_as_it_is(text, nasty):
    row = values(Sample(id="x", question=text + nasty))
    assert filled({"a": "$question", "b": "-$question-"}, row) == {"a": text + nasty, "b": f"-{text + nasty}-"}
    assert filled('{"a": $question}', row) == {"a": text + nasty}


# ------------------------------------------------------------------ addresses and headers
def test_values_are_encoded_in_an_address():
    row = values(Sample(id="a/b?c", question="a&b=c #1 你", meta={"n": 2}))
    path = filled_path("/w/$app/$row/go?q=$question&n=$row.n&none=$row.absent&x=$$", row)
    parts = urlsplit(path)
    assert parts.path == "/w/app%201/a%2Fb%3Fc/go"
    assert dict(parse_qsl(parts.query, keep_blank_values=True)) == {"q": "a&b=c #1 你", "n": "2", "none": "", "x": "$"}


def test_a_secret_never_gets_into_an_address():
    assert filled_path("/a/$env.TOKEN/b", values()) == "/a//b"


@given(st.text())
def test_nothing_of_a_question_breaks_a_header(text):
    header = filled_headers({"X-Q": "v $question"}, values(Sample(id="x", question=text)))["X-Q"]
    assert all(" " <= char <= "~" for char in header)
    assert unquote(header.removeprefix("v ")) == text.encode("utf-8", "replace").decode()


def test_what_the_environment_holds_is_sent_as_it_was_given():
    cookie = "session=a%3Db%2F; theme=dark"
    given = Values(Row(GOLD), app=None, environ={"COOKIE": cookie, "BAD": "a\r\nInjected: 1"})
    assert filled_headers({"Cookie": "$env.COOKIE"}, given) == {"Cookie": cookie}
    assert filled_headers({"X": "$env.BAD"}, given) == {"X": "a%0D%0AInjected: 1"}


def test_plain_values_of_headers_stay_as_they_are():
    assert filled_headers({"A": "Bearer $env.TOKEN", "B": "$row.dept", "C": "试"}, values()) == {
        "A": "Bearer tk-secret-1",
        "B": "hr",
        "C": "试",
    }


# ------------------------------------------------------------------ what is refused before anything is sent
COLUMNS = ("id", "question", "reference", "department", "level")


def refused(spec: Spec, lang="en", environ=ENVIRON) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        check(spec, COLUMNS, environ, lang)
    return str(caught.value).splitlines()


def test_good_templates_pass():
    spec = Spec(
        app="a",
        path="/c/$app?x=$row.level",
        headers={"K": "$env.TOKEN"},
        body={"q": "$question", "h": "$history", "m": "$row.meta.k", "$b": "$before.id", "d": "$$x $5", "t": "$env.TOKEN"},
        before=Step(path="/open/$row"),
        then=(Step(path="/r/$response.id/$before.id"), Step(per="chunk", path="/d?id=$id&c=$chunk.collection")),
    )
    check(spec, COLUMNS, ENVIRON, "en")


def test_everything_wrong_is_told_at_once():
    spec = Spec(
        path="/a/$row.levle/$env.TOKEN",
        headers={"K": "$env.NOWHERE", "L": "$env.EMPTY"},
        body={"q": "$qestion", "x": ["$row.department.sub", "$row.unheard"]},
        then=(Step(path="/d/$chunk.id/${response.a[}"),),
    )
    told = refused(spec)
    assert len(told) == 8
    for piece in (
        *(
            "no column levle;",
            "did you mean level?",
            "id, question, department, level, reference",
            "$env.TOKEN may stand",
            "NOWHERE is not set",
        ),
        *(
            "EMPTY is not set",
            "no slot $qestion;",
            "did you mean $question?",
            "no column unheard;",
            "then[0].path: $chunk.id",
            "response.a[",
        ),
    ):
        assert piece in "\n".join(told)


@pytest.mark.parametrize(
    ("spec", "lang", "told"),
    [
        (
            Spec(body={"q": "$row.refrence"}),
            "zh",
            "没有列 refrence；现有的列：id、question、department、level、reference；是否指 reference？",
        ),
        (Spec(body={"q": "$Question"}), "zh", "列请写成 $row.Question；是否指 $question？"),
        (Spec(path="/x/$env.KEY"), "zh", "只能用于请求头和请求体"),
        (Spec(path="/x/$app"), "en", "$app is used, but no app is named"),
        (Spec(body="{'q': $question}"), "en", "body: the text is not JSON"),
        (Spec(body="just $question text"), "zh", "body: 文本不是 JSON"),
        (Spec(body={"q": "$response.id"}), "en", "$response.id; it may stand in `then` only"),
        (Spec(body={"q": "$before.id"}), "en", "$before.id needs a step `before`"),
        (
            Spec(body={"q": "$rowing"}),
            "en",
            "there is no slot $rowing; for a dollar sign write $$, for a column $row.rowing; did you mean $row?",
        ),
        (Spec(method="get", body={"k": "$env.TOKEN"}), "en", "body: $env.TOKEN may not stand here, since GET"),
        (Spec(before=Step(path="/o", body={"k": "$env.TOKEN"})), "zh", "before.body：此处不能用 $env.TOKEN，因为 GET"),
        (Spec(method="GET", body=["$question"]), "en", "body: with GET the keys of the body are sent as query parameters"),
        (Spec(method="GET", body='["$question"]'), "zh", "它必须是一张表"),
        (Spec(headers={"K": "a\nInjected: 1"}), "en", "headers.K: a header must not hold a line break"),
        (Spec(before=Step(path="/o", body={"k": "$row.nope"})), "en", "before.body: the gold set has no column nope"),
    ],
)
def test_a_wrong_template_is_refused(spec, lang, told):
    assert told in "\n".join(refused(spec, lang))


def test_secrets_that_templates_use():
    spec = Spec(
        path="/a",
        headers={"A": "$env.ONE", "B": "x $env.TWO $env.ONE"},
        body={"k": ["$env.THREE", "$env.GONE"]},
        then=(Step(path="/b", headers={"C": "${env.FOUR}"}),),
    )
    environ = {"ONE": "1", "TWO": "2", "THREE": "3", "FOUR": "4", "FIVE": "5"}
    assert secrets(spec, environ) == (("ONE", "1"), ("TWO", "2"), ("THREE", "3"), ("FOUR", "4"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(string.printable.replace("$", "")), st.lists, max_leaves=8))
def test_a_body_without_slots_stays_as_it_is(body):
    body = {"x": body}
    assert filled(body, values()) == body
    assert orjson.loads(orjson.dumps(filled({"v": "$row.level"}, values()))) == {"v": 3}
