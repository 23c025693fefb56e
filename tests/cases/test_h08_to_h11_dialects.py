"""H08 to H11: what an endpoint does not take is not sent, dropped once, or named; no row is lost by it."""

import json

import pytest
from support.fault_server import error, reply
from support.server import Answer
from support.told_rows import EN, FOUR, ZH, Told, shared_out

MANY = [shared_out(f"row-{n:02}-", 1, 2, "zh" if n % 2 else "en") for n in range(9)]


def refused(server):
    """Requests that were answered with an error."""
    return [call for call, status in zip(server.calls, server.statuses, strict=True) if status != 200]


# ------------------------------------------------------------------ H08
@pytest.mark.parametrize(
    ("metrics", "flags"),
    [("all", ("--repeat", "2")), ("answer_relevancy(strictness=1)", ("--language", "zh")), ("answer_relevancy(strictness=5)", ())],
)
def test_h08_n_is_never_sent(lab, metrics, flags):
    def fault(call):
        return error(400, "Invalid n value (currently only n = 1 is supported)", param="n") if "n" in call.seen.body else None

    rows = list(FOUR)
    if "5" in metrics:
        rows = [Told(row.row, {**row.truth, "questions": {row.row["answer"]: [row.row["question"]] * 5}}) for row in (EN, ZH)]
    with lab.server(rows, fault) as server:
        command = ["evaluate", str(lab.write(rows)), "--out", "run", "--judge", "m", "--base-url", server.url, "--metrics"]
        names = "faithfulness,answer_relevancy,context_precision,context_recall,answer_correctness" if metrics == "all" else metrics
        code, _, err = lab.command([*command, names, "--embeddings", "e", "--no-cache", *flags])
    assert code == 0, err
    assert refused(server) == []


def test_h08_n_cannot_be_slipped_in_either(lab):
    done = lab.evaluate([EN], None, "--extra-body", '{"n": 3}', finished=False)
    assert (done.code, done.server.calls) == (2, [])
    assert "n" in done.err


# ------------------------------------------------------------------ H09
TEMPERATURE = [
    error(400, "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
          code="unsupported_value", param="temperature"),
    error(400, "Unsupported value: 'temperature' does not support 0.0 with this model."),
    error(400, "Unsupported parameter: 'temperature' is not supported with this model.", code="unsupported_parameter"),
    error(422, "temperature must be greater than 0"),
    error(400, "temperature 参数非法", code="1210"),
    Answer(200, {"error": {"code": "1214", "message": "temperature 参数错误，取值范围必须大于 0"}}),
    Answer(422, {"detail": [{"loc": ["body", "temperature"], "msg": "Input should be greater than 0", "type": "greater_than"}]}),
]  # fmt: skip


@pytest.mark.parametrize("refusal", TEMPERATURE, ids=range(len(TEMPERATURE)))
def test_h09_a_refused_temperature_is_dropped_once_and_told(lab, refusal):
    done = lab.evaluate(MANY, lambda call: refusal if call.seen.body.get("temperature", 1) != 1 else None)
    assert done.values() == [0.5] * len(MANY)
    assert len(refused(done.server)) == 1, "remembered for the run"
    parameters = done.manifest["judge"]["parameters"]
    assert "temperature" not in parameters
    assert "temperature" in parameters["dropped"]
    assert "t=0" not in done.manifest["signature"]
    assert "temperature not sent" in done.out, "the table warns of noise"


def test_h09_temperature_and_then_top_p(lab):
    (lab.folder / "ragstone.toml").write_text("[judge]\ntop_p = 0.9\nseed = 7\n")

    def fault(call):
        for name in ("temperature", "top_p", "seed"):
            if call.seen.body.get(name, 1) != 1:
                return error(400, f"Unsupported value: '{name}'", code="unsupported_value", param=name)
        return None

    done = lab.evaluate(MANY, fault, metrics="all")
    assert done.code == 0
    assert len(refused(done.server)) == 3
    assert set(done.manifest["judge"]["parameters"]["dropped"]) == {"temperature", "top_p", "seed"}


def test_h09_a_temperature_that_is_taken_stays(lab):
    done = lab.evaluate([EN, ZH], lambda call: None if call.seen.body.get("temperature") == 1 else error(400, "no"), "--temperature", "1")
    assert (done.code, done.manifest["judge"]["parameters"]["temperature"]) == (0, 1)
    assert "temperature not sent" not in done.out


@pytest.mark.parametrize(
    ("message", "other"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_completion_tokens",
        )
    ],
)
def test_h09_a_length_limit_takes_its_other_name(lab, message, other):
    done = lab.evaluate(
        MANY, lambda call: error(400, message, param="max_tokens") if "max_tokens" in call.seen.body else None, "--max-tokens", "900"
    )
    assert done.code == 0
    assert len(refused(done.server)) == 1
    assert done.server.calls[-1].seen.body[other] == 900


# ------------------------------------------------------------------ H10
NEEDS_SWITCH = error(400, "parameter.enable_thinking must be set to false for non-streaming calls", code="invalid_parameter_error")


def thinks(call):
    return None if call.seen.body.get("enable_thinking") is False else NEEDS_SWITCH


@pytest.mark.parametrize("how", ["flag", "file", "environment"])
def test_h10_extra_body_stands_at_the_top_level_of_every_request(lab, how):
    body = {"enable_thinking": False, "top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}
    if how == "file":
        (lab.folder / "ragstone.toml").write_text(
            "[judge.extra_body]\nenable_thinking = false\ntop_k = 20\nchat_template_kwargs = {enable_thinking = false}\n"
        )
    flags = ("--extra-body", json.dumps(body)) if how == "flag" else ()
    environ = {"RAGSTONE_EXTRA_BODY": json.dumps(body)} if how == "environment" else None
    done = lab.evaluate(FOUR, thinks, *flags, metrics="all", environ=environ)
    assert (done.code, refused(done.server)) == (0, [])
    assert all({name: call.seen.body[name] for name in body} == body for call in done.server.calls)
    assert done.manifest["judge"]["parameters"]["top_k"] == 20


@pytest.mark.parametrize(
    "refusal",
    [
        NEEDS_SWITCH,
        error(400, "<400> InternalError.Algo.InvalidParameter: parameter.enable_thinking must be set to false for non-streaming calls"),
        Answer(400, {"code": "InvalidParameter", "message": "enable_thinking 必须为 false（非流式调用）"}),
    ],
    ids=range(3),
)
def test_h10_a_refusal_that_names_a_known_switch_is_followed_and_told(lab, refusal):
    done = lab.evaluate(MANY, lambda call: None if call.seen.body.get("enable_thinking") is False else refusal)
    assert done.values() == [0.5] * len(MANY)
    assert len(refused(done.server)) == 1
    assert done.manifest["judge"]["parameters"]["enable_thinking"] is False
    assert "enable_thinking" in done.out + done.err


@pytest.mark.parametrize(
    ("refusal", "flags"),
    [
        (error(400, "field 'deployment_region' is required"), ()),
        (error(400, "参数 user_group 缺失", code="1210"), ()),
        (NEEDS_SWITCH, ("--thinking", "auto")),
        (NEEDS_SWITCH, ("--extra-body", '{"enable_thinking": true}')),
    ],
    ids=range(4),
)
def test_h10_any_other_refusal_stops_after_one_call_and_names_the_setting(lab, refusal, flags):
    done = lab.evaluate(MANY, lambda call: refusal, *flags, finished=False)
    assert done.code == 3
    assert len(done.server.calls) == 1
    assert "extra_body" in done.err
    assert refusal.body["error"]["message"] in done.err
    assert done.server.url in done.err


# ------------------------------------------------------------------ H11
SCHEMA = [
    error(400, "This response_format type is unavailable now", param=None),
    error(400, "'response_format.type' must be one of 'json_object', 'text'", param="response_format"),
    error(400, "json_schema is not supported by this model"),
    error(
        422, "Failed to deserialize the JSON body: response_format.type: unknown variant `json_schema`, expected `text` or `json_object`"
    ),
    Answer(200, {"error": {"code": "1210", "message": "response_format 参数不支持 json_schema"}}),
    Answer(501, {"error": {"message": "structured outputs (response_format json_schema) are not supported by this backend"}}),
]


@pytest.mark.parametrize("refusal", SCHEMA[:5], ids=range(5))
@pytest.mark.parametrize("also", [(), ("json_object",)], ids=["schema", "both"])
def test_h11_the_reply_format_steps_down_once_a_run(lab, refusal, also):
    done = lab.evaluate(
        MANY, lambda call: refusal if call.seen.format in ("json_schema", *also) else None, metrics="faithfulness,context_precision"
    )
    assert done.values() == [0.5] * len(MANY)
    assert len(refused(done.server)) == 1 + len(also)
    assert [call.seen.format for call in done.server.calls][-1] == (None if also else "json_object")
    assert set(done.manifest["judge"]["parameters"]["dropped"]) == {"json_schema", *also}
    assert done.code == 0


@pytest.mark.parametrize("formats", [1, 2, 3])
def test_h11_replies_are_checked_whatever_the_format(lab, formats):
    """HTTP 200 is no proof that the schema was applied: a bare {} or another shape is asked again in every format."""
    taken = ["json_schema", "json_object", None][formats - 1 :]

    def fault(call):
        if call.seen.format not in taken:
            return error(400, f"response_format {call.seen.format} is not supported", param="response_format")
        first = "problem" not in call.input
        return reply(["{}", '{"result": []}', '{"verdicts": {"1": "supported"}}'][len(call.seen.user) % 3]) if first else None

    done = lab.evaluate([EN, ZH, *MANY[:3]], fault)
    assert done.values() == [1.0, 1.0, 0.5, 0.5, 0.5]
    assert sum("problem" in call.input for call in done.server.calls) == 10


def test_h11_all_refusals_together_lose_nothing(lab):
    def fault(call):
        body = call.seen.body
        if body.get("temperature", 1) != 1:
            return TEMPERATURE[0]
        if call.seen.format == "json_schema":
            return SCHEMA[0]
        return None if "enable_thinking" in body else NEEDS_SWITCH

    done = lab.evaluate(MANY, fault, metrics="all")
    assert done.code == 0
    assert len(refused(done.server)) == 3


def test_h09_what_was_learned_still_stands_after_the_run_was_called_again(lab):
    """A call that finds everything finished asks nothing, learns nothing, and must not claim that temperature 0 was sent."""

    def refuse_it(call):
        return TEMPERATURE[0] if call.seen.body.get("temperature", 1) != 1 else None

    with lab.server(MANY, refuse_it) as server:
        first = lab.ask(server, lab.write(MANY))
        before, asked = first.manifest, len(server.calls)
        again = lab.ask(server, lab.write(MANY))
    assert len(server.calls) == asked
    assert again.manifest["judge"]["parameters"] == before["judge"]["parameters"]
    assert again.manifest["signature"] == before["signature"]
    assert again.code == 0
