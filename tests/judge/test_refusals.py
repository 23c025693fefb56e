"""What the words of a refusal say about a parameter, Chinese beside English."""

import pytest

from ragstone.judge.refusals import altogether, largest_allowed, not_both, only_one, other_temperature
from ragstone.transport.error_body import ApiError


def said(message: str, code: str = "", param: str = "") -> ApiError:
    return ApiError(400, message, code, param)


@pytest.mark.parametrize(
    ("message", "largest"),
    [
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 8192),
        ("max_tokens must be <= 8192", 8192),
        ("max_tokens must be less than or equal to 8,192", 8192),
        ("max_tokens must be less than 8193", 8192),
        ("`max_tokens` should be ≤ 4096", 4096),
        ("max_tokens: Input should be less than or equal to 16384", 16384),
        ("max_tokens is too large: 90000. This model supports at most 4096 completion tokens, whereas you provided 90000.", 4096),
        ("max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens for this model", 64000),
        ("max_tokens in range [1, 1024]", 1024),
        ("the max_tokens value 90000 exceeds the limit of 32768", 32768),
        ("max_completion_tokens must be between 1 and 2048", 2048),
        ("The maximum value for max_tokens is 2048", 2048),
        ("max_tokens: from 1 to 2048", 2048),
        ("maxOutputTokens cannot exceed 8192", 8192),
        ("max_tokens 不能超过 8192", 8192),
        ("max_tokens 参数非法：取值范围为 1~4096", 4096),
        ("参数 max_tokens 取值范围 [1, 4096]", 4096),
        ("max_tokens 取值范围：1 至 4096", 4096),
        ("max_tokens 最大值为 4095", 4095),
        ("max_tokens参数超出限制，最大支持 16384", 16384),
        ("max_tokens 应小于等于 32000", 32000),
        ("max_tokens 上限为 1024", 1024),
        ("输出长度不得大于 6144", 6144),
        # what names no output limit, or none that helps
        ("'max_tokens' is too large: 90000. This model's maximum context length is 4096 tokens and your request has 1000", None),
        ("max_tokens 超过上下文长度 8192", None),
        ("max_tokens must be at least 1", None),
        ("max_tokens must be <= 200000", None),
        ("Invalid max_tokens", None),
        ("temperature must be <= 2", None),
        ("Range of input length should be [1, 30720]", None),
        ("max_tokens must be > 0", None),
    ],
)
def test_the_largest_output_a_refusal_names(message: str, largest: int | None) -> None:
    assert largest_allowed(said(message), 90000) == largest


@pytest.mark.parametrize(
    ("message", "code", "other"),
    [
        ("temperature must be greater than 0", "", 0.01),
        ("temperature: Input should be greater than 0", "greater_than", 0.01),
        ("invalid params, temperature must be in (0,1]", "2013", 0.01),
        ("temperature should be in range (0.0, 1.0]", "", 0.01),
        ("temperature cannot be 0", "", 0.01),
        ("`temperature` must be a positive number", "", 0.01),
        ("`temperature` (=0.0) has to be a strictly positive float", "", 0.01),
        ("temperature must be > 0", "", 0.01),
        ("temperature 参数非法", "1210", 0.01),
        ("temperature 参数非法，取值范围是 (0,1)", "1214", 0.01),
        ("temperature 必须大于0", "", 0.01),
        ("temperature 不能为 0", "", 0.01),
        ("temperature 取值范围为（0, 1]", "", 0.01),
        ("temperature must be in [0.1, 1]", "", 0.1),
        ("temperature must be >= 0.05", "", 0.05),
        ("temperature 应大于等于 0.01", "", 0.01),
        # nothing near 0 is taken
        ("Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported.", "x", None),
        ("invalid temperature: only 1 is allowed for this model", "", None),
        ("Unsupported parameter: 'temperature'", "", None),
        ("temperature 只能为 1", "1210", None),
        ("temperature must be between 0 and 1", "", None),
        ("temperature must be >= 0", "", None),
        ("invalid temperature", "", None),
    ],
)
def test_a_refused_temperature_of_0_has_a_near_neighbour_or_none(message: str, code: str, other: float | None) -> None:
    assert other_temperature(said(message, code), 0.0) == other
    assert other_temperature(said(message, code), 0.7) is None


@pytest.mark.parametrize(
    ("message", "only", "all_of_it"),
    [
        ("'temperature' does not support 0 with this model. Only the default (1) value is supported.", True, False),
        ("litellm.UnsupportedParamsError: gpt-5 models don't support temperature=0.0. Only temperature=1 is supported.", True, False),
        ("`temperature` must be 1", True, False),
        ("temperature 仅支持 1", True, False),
        ("temperature is fixed for this model", True, False),
        ("temperature must be 1.5 or less", False, False),
        ("temperature must be in (0, 1]", False, False),
        ("Unsupported parameter: 'temperature' is not supported with this model.", False, True),
        ("temperature: Extra inputs are not permitted", False, True),
        ("不支持参数 temperature", False, True),
        ("temperature 参数不支持", False, True),
        ("temperature 取值范围错误，不支持该参数值", False, False),
    ],
)
def test_a_value_is_told_from_the_parameter(message: str, only: bool, all_of_it: bool) -> None:
    assert (only_one(said(message)), altogether(said(message)) and not only) == (only, all_of_it)


@pytest.mark.parametrize(
    ("message", "both"),
    [
        ("`temperature` and `top_p` cannot both be specified for this model.", True),
        ("temperature 与 top_p 不能同时设置", True),
        ("temperature is invalid", False),
    ],
)
def test_two_that_exclude_each_other(message: str, both: bool) -> None:
    assert not_both(said(message)) is both
