"""What an endpoint made of settings and prompts is told beside the numbers, and nothing is made up of odd manifests."""

from typing import Any

import pytest

from ragstone.analysis.adapted import adapted


def judge(**parameters: Any) -> dict[str, Any]:
    return {"judge": {"model": "m", "parameters": parameters}}


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (judge(temperature=0.0), []),
        (judge(dropped={"temperature": "HTTP 400: 只能为 1"}), ["temperature_not_sent"]),
        (judge(dropped={"json_schema": "no", "max_tokens": "no"}), []),
        (judge(temperature=0.01, changed={"temperature": "no"}), ["temperature_changed: value=0.01"]),
        (judge(max_tokens=8192, changed={"max_tokens": "no"}), []),
        (
            judge(enable_thinking=False, added={"enable_thinking": "no", "thinking": "no"}),
            ["switch_added: names=enable_thinking, thinking"],
        ),
        ({"counts": {"prompt_cut": 3}}, ["prompt_cut: n=3"]),
        ({"counts": {"prompt_cut": 0}}, []),
        ({"judge": {"answered_by": ["a", "b"]}}, ["several_models: models=a, b"]),
        ({"judge": {"answered_by": ["a"]}}, []),
        ({}, []),
        ({"judge": None, "counts": []}, []),
        ({"judge": {"parameters": {"dropped": "temperature", "added": ["x"]}, "answered_by": "a, b"}, "counts": {"prompt_cut": "3"}}, []),
    ],
)
def test_what_may_have_moved_the_numbers_is_told(manifest: dict[str, Any], said: list[str]) -> None:
    assert [str(notice) for notice in adapted(manifest)] == said
