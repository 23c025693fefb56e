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
    error(400, "litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.0. Only temperature=1 is supported."),
    error(400, "invalid temperature: only 1 is allowed for this model"),
    error(422, "temperature 只能为 1"),
    error(400, "参数 temperature 不支持", code="1210"),
    Answer(422, {"detail": [{"loc": ["body", "temperature"], "msg": "Extra inputs are not permitted", "type": "extra_forbidden"}]}),
    Answer(400, {"object": "error", "message": "temperature is not supported", "type": "BadRequestError", "code": 400}),
    Answer(400, {"error": "temperature is not supported"}),
    error(500, "Unsupported value: 'temperature' does not support 0 with this model.", code="unsupported_value", param="temperature"),
    error(500, "litellm.BadRequestError: OpenAIException - 'temperature' does not support 0.0, only the default (1) value is supported"),
    error(403, "temperature is not supported for this model"),
]  # fmt: skip
ZERO = [
    error(422, "temperature must be greater than 0"),
    error(400, "temperature 参数非法", code="1210"),
    Answer(200, {"error": {"code": "1214", "message": "temperature 参数错误，取值范围必须大于 0"}}),
    Answer(422, {"detail": [{"loc": ["body", "temperature"], "msg": "Input should be greater than 0", "type": "greater_than"}]}),
    Answer(200, {"base_resp": {"status_code": 2013, "status_msg": "invalid params, temperature should be in (0,1]"}}),
    Answer(400, {"code": "InvalidParameter", "message": "temperature 取值范围为 (0, 2)", "request_id": "r"}),
]


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


@pytest.mark.parametrize("refusal", ZERO, ids=range(len(ZERO)))
@pytest.mark.parametrize("least", [0.01, 1], ids=["a little is taken", "only 1 is taken"])
def test_h09_where_0_is_refused_next_to_nothing_is_sent_else_nothing(lab, refusal, least):
    done = lab.evaluate(MANY, lambda call: refusal if call.seen.body.get("temperature", 1) < least else None)
    assert done.values() == [0.5] * len(MANY)
    sent = [call.seen.body.get("temperature") for call in done.server.calls]
    parameters = done.manifest["judge"]["parameters"]
    if least == 1:
        assert (sent[:3], set(sent[2:])) == ([0, 0.01, None], {None})
        assert ("temperature" in parameters, "temperature" in parameters["dropped"], "changed" in parameters) == (False, True, False)
        assert "temperature not sent" in done.out
    else:
        assert (sent[0], set(sent[1:])) == (0, {0.01})
        assert (parameters["temperature"], set(parameters["changed"]), "dropped" in parameters) == (0.01, {"temperature"}, False)
        assert "temperature sent as 0.01" in done.out
        assert "t=0.01" in done.manifest["signature"]


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
        ),
        ("max_tokens is not supported, please use max_completion_tokens", "max_completion_tokens"),
        ("不支持参数 max_tokens，请改用 max_completion_tokens", "max_completion_tokens"),
        ("Unknown parameter: 'max_tokens'. Did you mean 'max_completion_tokens'?", "max_completion_tokens"),
        ("Unrecognized request argument supplied: max_tokens", "max_completion_tokens"),
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
        error(400, "Json mode response is not supported when enable_thinking is true", code="invalid_parameter_error"),
        error(422, "请关闭 enable_thinking 后重试"),
        error(400, "parameter.enable_thinking only support stream", code="invalid_parameter_error"),
        error(422, "thinking mode (enable_thinking) is not supported for non-stream requests"),
        error(400, "开启 enable_thinking 时只支持流式输出"),
        error(400, "非流式调用不支持 enable_thinking"),
        Answer(400, {"error": "parameter.enable_thinking must be set to false for non-streaming calls"}),
    ],
    ids=range(10),
)
def test_h10_a_refusal_that_names_a_known_switch_is_followed_and_told(lab, refusal):
    done = lab.evaluate(MANY, lambda call: None if call.seen.body.get("enable_thinking") is False else refusal)
    assert done.values() == [0.5] * len(MANY)
    assert len(refused(done.server)) == 1
    assert done.manifest["judge"]["parameters"]["enable_thinking"] is False
    assert done.manifest["judge"]["parameters"]["response_format"] == "json_schema", "the reply format is not lost by it"
    assert "enable_thinking" in done.out + done.err


SWITCHES = [
    ("thinking.type must be disabled when response_format is used", {"thinking": {"type": "disabled"}}),
    ("thinking.type 必须为 disabled", {"thinking": {"type": "disabled"}}),
    ("set chat_template_kwargs.enable_thinking to false", {"chat_template_kwargs": {"enable_thinking": False}}),
    ("reasoning_effort must be none for this request", {"reasoning_effort": "none"}),
    ("reasoning.enabled must be false", {"reasoning": {"enabled": False}}),
    ("thinking_budget must be set to 0", {"thinking_budget": 0}),
]


@pytest.mark.parametrize(("message", "switch"), SWITCHES, ids=range(len(SWITCHES)))
def test_h10_every_known_switch_is_found_in_a_refusal(lab, message, switch):
    done = lab.evaluate(MANY, lambda call: None if switch.items() <= call.seen.body.items() else error(400, message))
    assert (done.values(), len(refused(done.server))) == ([0.5] * len(MANY), 1)
    assert all(name in done.out for name in switch)


def test_h10_a_judge_that_thinks_all_the_same_is_told_of_once(lab):
    def fault(call):
        return reply(f"<think>{{no}}</think>{call.good}") if call.nth % 2 else reply(call.good, reasoning_content="Let me see")

    with lab.server(MANY, fault) as server:
        command = ["evaluate", str(lab.write(MANY)), "--out", "run", "--judge", "m", "--base-url", server.url, "--metrics", "faithfulness"]
        code, _, err = lab.command([*command, "--no-cache"])
        assert (code, err.count("chat_template_kwargs")) == (0, 1)
        code, _, err = lab.command([*command, "--no-cache", "--thinking", "auto", "--out", "other"])
        assert (code, err.count("chat_template_kwargs")) == (0, 0)
    lines = [json.loads(line) for line in (lab.folder / "run" / "replies.jsonl").read_text().splitlines()]
    assert all(line["reasoning"] == "Let me see" and "Let me" not in line["raw"] for line in lines)


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
    Answer(400, {"code": 20024, "message": "Json mode is not supported for this model.", "data": None}),
    Answer(400, {"detail": "structured output is not supported by this engine"}),
    Answer(400, {"object": "error", "message": "Grammar error: unsupported schema", "type": "BadRequestError", "code": 400}),
    Answer(400, {"Response": {"Error": {"Code": "InvalidParameter", "Message": "不支持 JSON 格式输出"}, "RequestId": "r"}}),
    Answer(501, {"error": {"message": "structured outputs (response_format json_schema) are not supported by this backend"}}),
    Answer(500, {"error": {"message": "response_format type json_schema is not supported by this model"}}),
]


@pytest.mark.parametrize("refusal", SCHEMA, ids=range(len(SCHEMA)))
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


@pytest.mark.parametrize("base", [EN, ZH], ids=["en", "zh"])
@pytest.mark.parametrize("refused_first", [True, False])
def test_h11_a_bare_object_gives_the_format_up_even_for_one_row(lab, base, refused_first):
    def fault(call):
        if refused_first and call.seen.format == "json_schema":
            return SCHEMA[0]
        return reply("{}") if call.seen.format else None

    assert lab.evaluate([base], fault).values() == [1.0]


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


def test_h11_an_object_may_be_refused_and_the_schema_taken(lab):
    """LM Studio's way round: what is refused is what was asked for second."""
    refusal = Answer(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    done = lab.evaluate(MANY, lambda call: refusal if call.seen.format == "json_object" else None)
    assert (done.values(), refused(done.server)) == ([0.5] * len(MANY), [])


@pytest.mark.parametrize("broken", [("json_schema",), ("json_schema", "json_object")], ids=["schema", "both"])
@pytest.mark.parametrize("said", ["{}", '{"answer":"ok"}', "null", "\n" * 50 + "{"])
def test_h11_a_format_that_spoils_every_reply_is_given_up(lab, broken, said):
    done = lab.evaluate(MANY, lambda call: reply(said) if call.seen.format in broken else None)
    assert done.values() == [0.5] * len(MANY)
    assert set(done.manifest["judge"]["parameters"]["dropped"]) == set(broken)
    assert done.server.calls[-1].seen.format == (None if len(broken) == 2 else "json_object")


def test_h11_one_row_that_is_never_answered_right_costs_no_format(lab):
    done = lab.evaluate(MANY, lambda call: reply("{}") if call.about("row-03-") else None)
    assert done.values() == [0.5] * 3 + ["bad_reply"] + [0.5] * 5
    assert done.manifest["judge"]["parameters"] == {"temperature": 0.0, "response_format": "json_schema"}


# ------------------------------------------------------------------ the next run
def picky(call):
    body = call.seen.body
    if body.get("temperature", 1) < 0.01:
        return ZERO[1]
    if call.seen.format == "json_schema":
        return SCHEMA[0]
    return None if "enable_thinking" in body else NEEDS_SWITCH


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_second_run_meets_no_refusal(lab, lang):
    with lab.server(MANY, picky) as server:
        path = lab.write(MANY)
        told = []
        for out, more in (("a", ()), ("b", ("--repeat", "2")), ("c", ("--no-cache",))):
            before = len(refused(server))
            command = ["evaluate", str(path), "--out", out, "--judge", "m", "--base-url", server.url, "--metrics", "faithfulness"]
            code, _, err = lab.command([*command, "--cache", "cache", *more], lang=lang)
            told.append((code, len(refused(server)) - before, "enable_thinking" in err, "dialects" in err or "cache clear" in err))
        assert told == [(0, 3, True, False), (0, 0, True, True), (0, 3, True, False)]
        made = {out: json.loads((lab.folder / out / "manifest.json").read_text())["judge"] for out in "abc"}
        assert made["a"]["requested"] == made["b"]["requested"] == {"temperature": 0.0, "response_format": "json_schema"}
        for name in ("dropped", "changed", "added"):
            assert set(made["a"]["parameters"][name]) == set(made["b"]["parameters"][name])
            assert all("(remembered since 2" in why for why in made["b"]["parameters"][name].values())
        assert "also" not in made["b"]["parameters"]
        _, shown, _ = lab.command(["cache", "info", "--cache", "cache"], lang=lang)
        assert ("已记住 1 个接口的要求" if lang == "zh" else "demands are remembered: 1") in shown
        lab.command(["cache", "clear", "--cache", "cache"], lang=lang)
        before = len(refused(server))
        lab.command([*command[:3], "d", *command[4:], "--cache", "cache"], lang=lang)
        assert len(refused(server)) - before == 3


def test_a_run_that_was_taught_may_be_resumed_by_one_that_remembers(lab):
    with lab.server(MANY, picky) as server:
        command = ["evaluate", str(lab.write(MANY)), "--out", "run", "--judge", "m", "--base-url", server.url, "--cache", "cache"]
        assert lab.command([*command, "--metrics", "faithfulness"])[0] == 0
        before = len(refused(server))
        code, _, err = lab.command([*command, "--metrics", "faithfulness,context_recall"])
    assert (code, len(refused(server)) - before) == (0, 0), err


# ------------------------------------------------------------------ prompts that were cut, models that changed
@pytest.mark.parametrize("window", [2048, 4096])
def test_a_prompt_the_server_has_cut_is_too_long_noted_and_told(lab, window):
    """All contexts do not fit the window; the server says nothing but what it has counted."""
    row = shared_out("long-", 1, 2, "en")
    filler = [f"Paragraph {n} is only long. " * (window // 22) for n in range(9)]
    long = Told({**row.row, "contexts": [*row.row["contexts"], *filler]}, row.truth)

    def fault(call):
        tokens = sum(len(message["content"].encode()) for message in call.seen.body["messages"]) // 4
        answer = reply(call.good if tokens <= window else "{}")
        answer.body["usage"] = {"prompt_tokens": min(tokens, window), "completion_tokens": 5, "total_tokens": min(tokens, window) + 5}
        return answer

    done = lab.evaluate([long, *MANY[:2]], fault)
    assert done.manifest["counts"]["prompt_cut"] > 0
    assert {tuple(line["notes"]) for line in done.replies if line["error"] == "too_long"} == {("prompt_cut",)}
    assert "prompts cut by the judge's server" in done.out
    assert done.values()[1:] == [0.5] * 2


def test_more_than_one_model_behind_a_name_is_told(lab):
    def fault(call):
        answer = reply(call.good)
        answer.body.update(model="deepseek-v4" if len(call.seen.user) % 2 else "qwen-max", system_fingerprint="fp_1")
        return answer

    done = lab.evaluate(MANY, fault, metrics="faithfulness,context_recall")
    assert set(done.manifest["judge"]["answered_by"]) == {"deepseek-v4", "qwen-max"}
    assert done.manifest["judge"]["fingerprints"] == ["fp_1"]
    assert "more than one model answered" in done.out
