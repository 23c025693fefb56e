from typing import Any

import orjson
import pytest
from support.asking import KIND, question

from ragstone.judge.dialect import UNUSABLE, Dialect
from ragstone.judge.lessons import Lesson, dated, read, written
from ragstone.questions.base import Kind, Reading, ask
from ragstone.transport.error_body import ApiError


def dialect(extra: dict[str, Any] | None = None, thinking: dict[str, Any] | None = None, **parameters: Any) -> Dialect:
    return Dialect("m", {"temperature": 0.0, **parameters}, extra or {}, thinking or {})


def body(d: Dialect, limit: int | None = None, kind: Kind = KIND) -> dict[str, Any]:
    return orjson.loads(d.shape.body(question(kind=kind), limit))


def refuse(d: Dialect, message: str, param: str = "", sure: bool = True) -> bool:
    return d.learn(ApiError(400, message, "", param), d.shape, question(), sure)


def test_extra_keys_win_and_may_name_the_limit() -> None:
    d = dialect({"temperature": 1, "max_completion_tokens": 9, "enable_thinking": True}, {"enable_thinking": False}, max_tokens=5)
    sent = body(d)
    assert (sent["temperature"], sent["max_completion_tokens"], sent["enable_thinking"], "max_tokens" in sent) == (1, 9, True, False)
    assert not refuse(d, "unknown parameter enable_thinking"), "what a person set is never dropped silently"


def test_a_format_given_by_a_person_stays() -> None:
    d = dialect({"response_format": {"type": "text"}})
    assert not refuse(d, "response_format not supported")
    assert (body(d)["response_format"], d.effective["response_format"]) == ({"type": "text"}, {"type": "text"})


def test_a_kind_without_a_schema_asks_for_an_object() -> None:
    kind = Kind("k", 1, None, lambda _u, _r: Reading())
    d = dialect()
    assert body(d, kind=kind)["response_format"] == {"type": "json_object"}
    assert d.learn(ApiError(400, "'response_format.type' must be 'json_schema' or 'text'"), d.shape, question(kind=kind), True)
    assert ("response_format" in body(d, kind=kind), body(d)["response_format"]["type"]) == (False, "json_schema")


@pytest.mark.parametrize(
    "message",
    [
        "This response_format type is unavailable now",
        "Failed to deserialize: unknown variant `json_schema`",
        "Json mode is not supported for this model.",
        "body.response_format.type: Input should be 'text'",
        "structured output 暂不支持",
    ],
)
def test_a_refused_format_steps_down(message: str) -> None:
    d = dialect()
    steps = []
    for _ in range(2):
        assert refuse(d, message)
        steps.append(d.effective["response_format"])
    assert (steps, "response_format" in body(d)) == (["json_object", "none"], False)
    assert not refuse(d, message)
    assert set(d.dropped) == {"json_schema", "json_object"}


def test_not_supported_alone_costs_the_format_only_as_the_last_clue() -> None:
    d = dialect()
    assert not refuse(d, "feature not supported")
    assert refuse(d, "feature not supported", sure=False)
    assert d.effective["response_format"] == "json_object"
    assert not refuse(d, "something is odd", sure=False)


@pytest.mark.parametrize(
    ("message", "param", "dropped"),
    [
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "temperature", "temperature"),
        ("`temperature` must be 1", "", "temperature"),
        ("bad value", "top_p", "top_p"),
        ("body.seed: Extra inputs are not permitted", "", "seed"),
        ("thinking is not supported by this model", "", "thinking"),
        ("Invalid max_tokens value", "", "max_tokens"),
        ("'max_tokens' or 'max_completion_tokens' is too large: 8192.", "", "max_tokens"),
    ],
)
def test_a_named_parameter_is_dropped_and_the_reason_kept(message: str, param: str, dropped: str) -> None:
    d = dialect(thinking={"thinking": {"type": "disabled"}}, top_p=0.5, seed=1, max_tokens=90000)
    before = d.shape
    assert refuse(d, message, param)
    assert set(body(d)) == set(orjson.loads(before.body(question()))) - {dropped}
    assert d.effective["dropped"] == {dropped: f"HTTP 400: {message}"}
    assert d.learn(ApiError(400, message, "", param), before, question(), True), "a request sent before is just asked again"
    assert not refuse(d, message, param), "but what is no longer sent cannot be dropped again"


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
        ("max_tokens is not supported, use max_completion_tokens", ""),
        ("unsupported", "max_tokens"),
    ],
)
def test_the_length_limit_is_renamed_once_and_then_dropped(message: str, param: str) -> None:
    d = dialect(max_tokens=77)
    before = d.shape
    assert refuse(d, message, param)
    assert (body(d)["max_completion_tokens"], "max_tokens" in body(d)) == (77, False)
    assert d.learn(ApiError(400, message, "", param), before, question(), True)
    assert refuse(d, "max_completion_tokens is not supported", "max_completion_tokens")
    assert not {"max_tokens", "max_completion_tokens"} & set(body(d))
    assert set(d.dropped) == {"max_tokens", "max_completion_tokens"}


# ------------------------------------------------------------------ temperature
SENT = [
    ("temperature must be greater than 0", "", 0.01),
    ("temperature 参数非法", "1210", 0.01),
    ("temperature must be in [0.1, 1]", "", 0.1),
]


@pytest.mark.parametrize(("message", "code", "other"), SENT)
def test_a_temperature_of_0_that_is_refused_is_sent_as_little_as_possible_and_then_left_out(message: str, code: str, other: float) -> None:
    d, error = dialect(), ApiError(400, message, code)
    first = d.shape
    assert d.learn(error, first, question(), True)
    assert (body(d)["temperature"], set(d.effective["changed"]), d.dropped) == (other, {"temperature"}, {})
    second = d.shape
    assert d.learn(error, first, question(), True), "what was sent before is just asked again"
    assert d.shape is second
    assert d.learn(error, second, question(), True)
    assert ("temperature" in body(d), set(d.effective["dropped"]), "changed" in d.effective) == (False, {"temperature"}, False)


def test_of_two_that_exclude_each_other_one_stays() -> None:
    d = dialect(top_p=0.9)
    assert refuse(d, "`temperature` and `top_p` cannot both be specified for this model.")
    assert ("temperature" in body(d), "top_p" in body(d)) == (True, False)


# ------------------------------------------------------------------ limits
def test_a_limit_above_the_largest_is_sent_as_the_largest() -> None:
    d = dialect(max_tokens=90000)
    first = d.shape
    assert refuse(d, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]")
    assert (body(d)["max_tokens"], set(d.effective["changed"]), d.effective["largest_output"]) == (8192, {"max_tokens"}, 8192)
    assert d.learn(ApiError(400, "max_tokens must be <= 8192"), first, question(), True)
    assert d.dropped == {}


def test_the_largest_limit_is_learned_from_a_refusal_or_from_replies_and_given_up_when_one_is_longer() -> None:
    d = dialect(max_tokens=500)
    assert d.caps(ApiError(400, "max_tokens 最大值为 4096"), 8192) == 4096
    assert (d.largest, body(d)["max_tokens"], d.changed) == (4096, 500, {})
    assert d.caps(ApiError(400, "max_tokens is odd"), 8192) is None
    d.ends_at(6000)
    assert d.largest == 4096
    d.ends_at(2048)
    assert (d.largest, d.effective["largest_output"]) == (2048, 2048)
    d.went_to(2048)
    assert d.largest == 2048
    d.went_to(2049)
    assert (d.largest, "largest_output" in d.effective) == (None, False)


# ------------------------------------------------------------------ formats that are not applied
def put(d: Dialect, said: str, /, **input: Any) -> bool:
    asked = question() if not input else ask(KEYED, "en", 0, "p", input)
    return d.saw(d.shape, asked, said)


KEYED = Kind("k", 1, {"type": "object", "properties": {"claims": {}}, "required": ["claims"]}, lambda _u, _r: Reading())


def test_a_format_that_is_never_applied_steps_down() -> None:
    d = dialect()
    formats = []
    for n in range(2 * UNUSABLE + 2):
        assert not put(d, '{"x": 1}', text=str(n))
        formats.append(d.effective["response_format"])
    assert formats == ["json_schema"] * 2 + ["json_object"] * 3 + ["none"] * 3
    assert set(d.dropped) == {"json_schema", "json_object"}


@pytest.mark.parametrize("bare", ["{}", " {\n} "])
def test_a_format_that_gives_bare_objects_steps_down_with_the_second(bare: str) -> None:
    d = dialect()
    formats = []
    for _ in range(5):
        assert not put(d, bare, text="the only question")
        formats.append(d.effective["response_format"])
    assert formats == ["json_schema", "json_object", "json_object", "none", "none"]


def test_one_hard_question_never_costs_the_format() -> None:
    d = dialect()
    put(d, "{}", text="hard")
    for _ in range(9):
        put(d, "sorry", text="hard", problem="no_json", previous_reply="{}")
    assert d.effective["response_format"] == "json_schema"
    assert put(d, '{"claims":[]}', text="easy")
    for n in range(9):
        put(d, "sorry", text=str(n))
    assert d.effective["response_format"] == "json_schema", "one usable reply settles it"


def test_json_mode_refused_while_thinking_costs_the_thinking_and_not_the_format() -> None:
    d = Dialect("m", {}, {}, {}, switch=True)
    assert refuse(d, "Json mode response is not supported when enable_thinking is true")
    assert (body(d)["enable_thinking"], body(d)["response_format"]["type"]) == (False, "json_schema")
    assert refuse(d, "Json mode response is not supported when enable_thinking is true")
    assert body(d)["response_format"]["type"] == "json_object", "it was sent and did not help"
    left = Dialect("m", {}, {}, {}, switch=False)
    assert refuse(left, "Json mode response is not supported when enable_thinking is true")
    assert ("enable_thinking" in body(left), body(left)["response_format"]["type"]) == (False, "json_object")


@pytest.mark.parametrize(
    "message",
    [
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        "The prompt must contain the word “json”",
        "提示词中必须包含 json 字样",
        "'response_format.type' must be 'json_schema' or 'text'",
    ],
)
def test_an_object_that_is_refused_leaves_text(message: str) -> None:
    d = dialect()
    refuse(d, "json_schema is not supported")
    assert refuse(d, message)
    assert d.effective["response_format"] == "none"


# ------------------------------------------------------------------ presets and what a person sets
def test_nested_switches_of_a_person_win_over_presets() -> None:
    thinking: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}, "enable_enhancement": False}
    assert body(dialect({"chat_template_kwargs": {"lang": "zh"}}, thinking))["chat_template_kwargs"] == {
        "enable_thinking": False,
        "lang": "zh",
    }
    sent = body(dialect({"chat_template_kwargs": {"enable_thinking": True}}, thinking))
    assert (sent["chat_template_kwargs"], sent["enable_enhancement"]) == ({"enable_thinking": True}, False)
    on = Dialect("m", {}, {"chat_template_kwargs": {"enable_thinking": True}}, {"enable_thinking": False}, switch=True)
    assert "enable_thinking" not in body(on)
    assert not refuse(on, "enable_thinking must be set to false")


def test_a_preset_is_dropped_where_thinking_is_refused_without_its_name() -> None:
    d = dialect(thinking={"reasoning_effort": "none"})
    assert not refuse(d, 'think value "none" is not supported for this model')
    assert refuse(d, 'think value "none" is not supported for this model', sure=False)
    assert (set(d.dropped), d.effective["response_format"]) == ({"reasoning_effort"}, "json_schema")


# ------------------------------------------------------------------ from run to run
def taught(*refusals: tuple[str, str], **parameters: Any) -> list[Lesson]:
    d = Dialect("m", {"temperature": 0.0, **parameters}, {}, {}, switch=True)
    for message, param in refusals:
        assert refuse(d, message, param), message
    return read(written(dated(lesson, NOON) for lesson in d.lessons), NOON)


NOON = 1_795_000_000.0
SCHEMA_REFUSED = ("This response_format type is unavailable now", "")
RENAMED = ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens")


def test_what_was_taught_is_sent_at_once_in_the_next_run_and_told_with_its_day() -> None:
    known = taught(SCHEMA_REFUSED, ("temperature must be > 0", ""), RENAMED, ("enable_thinking must be set to false", ""), max_tokens=5)
    d = Dialect("m", {"temperature": 0.0, "max_tokens": 5}, {}, {}, switch=True)
    assert d.recall(known) == known
    sent = body(d)
    assert (sent["temperature"], sent["max_completion_tokens"], sent["enable_thinking"], sent["response_format"]) == (
        0.01, 5, False, {"type": "json_object"}
    )  # fmt: skip
    whys = [*d.effective["dropped"].values(), *d.effective["changed"].values(), *d.effective["added"].values()]
    assert len(whys) == 4
    assert all(why.endswith(" (remembered since 2026-11-18)") for why in whys)


@pytest.mark.parametrize(
    ("message", "code", "again", "sent"),
    [
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "unsupported_value", 0.0, None),
        ("Unsupported value: 'temperature' does not support 0.0 with this model.", "unsupported_value", 0.7, 0.7),
        ("Only the default (1) value of temperature is supported", "", 0.7, None),
        ("Only the default (1) value of temperature is supported", "", 1.0, 1.0),
        ("Unsupported parameter: 'temperature'", "unsupported_parameter", 0.7, None),
        ("temperature must be > 0", "", 0.7, 0.7),
        ("temperature must be > 0", "", None, None),
    ],
)
def test_a_remembered_refusal_means_its_value_unless_it_meant_the_parameter(message: str, code: str, again: Any, sent: Any) -> None:
    d = dialect()
    assert d.learn(ApiError(400, message, code, "temperature"), d.shape, question(), True)
    later = Dialect("m", {"temperature": again}, {}, {})
    later.recall(d.lessons)
    assert body(later).get("temperature") == sent


def test_what_a_person_sets_now_wins_over_what_is_remembered() -> None:
    known = taught(SCHEMA_REFUSED, ("enable_thinking must be set to false", ""))
    assert Dialect("m", {}, {}, {}, switch=False).recall(known) == known[:1]
    assert Dialect("m", {}, {"enable_thinking": True}, {}, switch=True).recall(known) == known[:1]
    assert Dialect("m", {}, {"response_format": {"type": "text"}}, {}, switch=False).recall(known) == []


def test_what_is_remembered_and_turns_out_wrong_is_learned_anew() -> None:
    known = taught(RENAMED, ("enable_thinking must be set to false", ""), max_tokens=5)
    d = Dialect("m", {"max_tokens": 5}, {}, {}, switch=True)
    d.recall(known)
    assert refuse(d, "max_completion_tokens is not supported, use max_tokens", "max_completion_tokens")
    assert (body(d)["max_tokens"], "max_completion_tokens" in body(d)) == (5, False)
    assert refuse(d, "enable_thinking: Extra inputs are not permitted")
    assert ("enable_thinking" in body(d), d.added) == (False, {})


def test_a_remembered_limit_holds_for_what_was_refused_only() -> None:
    d = dialect(max_tokens=90000)
    refuse(d, "max_tokens must be <= 8192")
    later = dialect(max_tokens=50000)
    later.recall(d.lessons)
    assert (body(later)["max_tokens"], later.largest) == (8192, 8192)
    seen = dialect()
    seen.ends_at(2048)
    later = dialect(max_tokens=50000)
    later.recall(seen.lessons)
    assert (body(later)["max_tokens"], later.largest) == (50000, 2048)
