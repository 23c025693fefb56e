"""What refusals say of the number of texts: wordings of many servers, Chinese beside English, and numbers that are no size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.embed.refusals import Fewer, fewer, named_size, wants_text
from ragstone.transport.error_body import ApiError, read_error, read_json

NAMED = [
    (25, 10, "batch size is invalid, it should not be larger than 10."),
    (25, 10, "<400> InvalidParameter: Value error, batch size is invalid, it should not be larger than 10.: input.contents"),
    (25, 20, "Range of input.contents should be [1, 20], but got 25"),
    (30, 25, "Value error, batch size is invalid, it should not be larger than 25.: input.contents"),
    (64, 32, "batch size 64 > maximum allowed batch size 32"),
    (65, 64, "input batch size 65 > maximum allowed batch size 64"),
    (40, 32, "Input array must have at most 32 items, got 40"),
    (25, 16, "the number of inputs 25 exceeds the limit of 16"),
    (25, 16, "embeddings max tokens per batch size: batch size must be less than or equal to 16"),
    (25, 16, "You can embed up to 16 texts per request."),
    (25, 16, "Too many inputs: 25 > 16"),
    (25, 16, "too many inputs (25), limit 16"),
    (10, 8, "body.input: List should have at most 8 items after validation, not 10"),
    (3000, 2048, "Invalid 'input': array too long. Expected an array with maximum length 2,048, but got 3,000."),
    (3000, 2048, "'$.input' is invalid: array too long, at most 2048 items"),
    (25, 24, "batch size must be less than 25"),
    (25, 9, "number of texts should be fewer than 10"),
    (25, 5, "The maximum batch size is 5, but 25 were given"),
    (96, 95, "invalid request: too many items, 95 per request allowed at most; valid range is 1-95"),
    (7, 1, "array input is not supported: batch size must be 1"),
    (7, 1, "InputList length should not exceed 1"),
    (7, 1, "embedding model tao-8k only supports 1 input; the number of input should be 1"),
    (7, 1, "This model does not support batch inputs"),
    (7, 1, "body.input: Input should be a valid string"),
    (7, 1, "input must be a string"),
    (25, 10, "一次最多 10 条"),
    (25, 4, "输入条数超过限制，最多 4 条"),
    (70, 64, "input数组最大不得超过64条"),
    (70, 64, "数组长度不能超过64"),
    (25, 16, "文本数量超出限制，单次请求不超过16个"),
    (25, 16, "批量大小不能超过 16，当前为 25"),
    (25, 16, "批次大小应在 1~16 之间"),
    (25, 16, "input 数组长度必须在 [1, 16] 范围内"),
    (25, 15, "批处理数量必须小于16"),
    (25, 16, "批处理数量必须小于等于16"),
    (25, 10, "单次请求最多支持10个文本"),
    (7, 1, "该模型不支持批量输入"),
    (7, 1, "仅支持单条文本"),
    (25, 10, "HTTP 400: error code 5: batch size should not be larger than 10 (request id 3fa85f64-5717-4562-b3fc-2c963f66afa6)"),
    (25, 10, "code 7; batch size is invalid, at most 10; each text at most 9 tokens; retry in 3 seconds"),
]  # fmt: skip


@pytest.mark.parametrize(("size", "most", "message"), NAMED)
def test_a_named_size_is_taken(size: int, most: int, message: str) -> None:
    for status in (400, 413, 422):
        found = fewer(ApiError(status, message), size, 0)
        assert found is not None
        assert (found.size, found.lasting) == (most, True)
    assert fewer(ApiError(400, message), size, size) is None, "so many were taken before"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "too many inputs"),
        (400, "batch too large"),
        (400, "Code 1214: too many texts"),
        (400, "status 12, number of inputs is over the limit"),
        (400, "批次过大"),
        (400, "输入条数超过限制"),
        (400, "错误码 7：文本数量超出上限"),
        (422, "batch size 25 is not allowed"),
        (413, "Payload Too Large"),
        (413, ""),
        (400, "reduce the batch size or shorten the texts: more than 8 tokens"),
    ],
)
@pytest.mark.parametrize(("taken", "size"), [(0, 12), (8, 12), (16, 16), (24, 24)])
def test_an_unnamed_size_is_halved_but_never_below_what_was_taken(status: int, message: str, taken: int, size: int) -> None:
    assert fewer(ApiError(status, message), 25, taken) == Fewer(size)


@pytest.mark.parametrize(
    "message",
    [
        "Requested 350000 tokens, max 300000 tokens per request",
        "max_tokens_per_request: 12 texts hold 300001 tokens",
        "the total number of tokens of all inputs must not exceed 8",
        "单次请求的 token 总数不能超过 5",
    ],
)
def test_a_limit_of_tokens_for_the_whole_request_halves_and_is_not_kept(message: str) -> None:
    assert fewer(ApiError(400, message, code="max_tokens_per_request"), 25, 0) == Fewer(12, lasting=False)


@pytest.mark.parametrize(
    "message",
    [
        "input must have less than 512 tokens",
        "input is too long: 513 tokens, must be less than 5 tokens",
        "This model's maximum context length is 8 tokens, however you requested 9 tokens",
        "one of the input texts exceeds the maximum of 8 tokens",
        "inputs exceed the maximum sequence length 8",
        "Range of input length should be [1, 8]",
        "input (600 tokens) is too large to process. increase the physical batch size (current batch size: 5)",
        "input should be a text of at most 8 tokens",
        "第3个文本超过长度限制，最大 8 个字符",
        "输入文本长度超过限制，最多 8 token",
        "输入内容过长，超过 8 个字",
        "input contains invalid characters at 3",
        "内容包含敏感信息 (code 8)",
        "odd input 3",
        "参数错误：1210",
        "",
    ],
)
def test_what_is_about_a_text_is_not_about_their_number(message: str) -> None:
    assert fewer(ApiError(400, message), 25, 0) is None


def test_a_limit_above_what_was_sent_is_no_reason_to_send_less() -> None:
    assert fewer(ApiError(400, "too many inputs or odd ones, at most 2048 items"), 10, 0) is None


@pytest.mark.parametrize(
    ("raw", "most"),
    [
        (b'{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}', 32),
        (b'{"code":20042,"message":"input batch size 64 > maximum allowed batch size 32","data":null}', 32),
        (b'{"object":"error","message":"at most 32 inputs","type":"BadRequestError","code":40}', 32),
        (b'{"detail":[{"type":"too_long","loc":["body","input"],"msg":"List should have at most 32 items","ctx":{"max_length":7}}]}', 32),
        ('{"error":{"code":"1214","message":"input数组最大不得超过32条"}}'.encode(), 32),
        ('{"Response":{"Error":{"Code":"InvalidParameterValue","Message":"输入条数不能超过32"},"RequestId":"5"}}'.encode(), 32),
        (b'{"base_resp":{"status_code":20,"status_msg":"invalid params, at most 32 texts"}}', 32),
    ],
)
def test_bodies_of_every_shape_are_understood(raw: bytes, most: int) -> None:
    assert fewer(read_error(400, raw, read_json(raw)), 64, 0) == Fewer(most)


@pytest.mark.parametrize(
    ("message", "wanted"),
    [("input must be a string", True), ("array inputs are not supported", True), ("不支持数组", True), ("input is odd", False)],
)
def test_a_text_without_a_list_is_wanted_where_the_words_say_so(message: str, wanted: bool) -> None:
    assert wants_text(ApiError(400, message)) == wanted


@given(st.text(max_size=80), st.integers(2, 300), st.integers(0, 300), st.sampled_from([400, 413, 422]))
def test_whatever_is_said_the_next_batch_is_smaller_and_not_empty(message: str, size: int, taken: int, status: int) -> None:
    found = fewer(ApiError(status, message), size, taken)
    assert found is None or 1 <= found.size < size


@given(st.sampled_from(NAMED), st.integers(2, 400))
def test_a_named_size_below_the_batch_is_at_least_one(case: tuple[int, int, str], size: int) -> None:
    named = named_size(case[2], size)
    assert named is None or named >= 1
