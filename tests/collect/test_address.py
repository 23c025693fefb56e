"""Where an application is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.collect.address import Address
from ragstone.collect.spec import Spec
from ragstone.transport.endpoint import COLLECT, Key

KEY = "app-7Qx2LmZr9TbWk4Vd"


def address(url: str, path: str, app: str | None = None) -> Address:
    return Address(Spec(url=url, path=path, app=app), Key(KEY, COLLECT.key), {}, "en")


@pytest.mark.parametrize(
    ("url", "path", "at"),
    [
        ("https://h", "/v1/chat-messages", "https://h/v1/chat-messages"),
        ("https://h/", "v1/chat-messages", "https://h/v1/chat-messages"),
        ("https://h/v1", "/v1/chat-messages", "https://h/v1/chat-messages"),
        ("https://h/v1/", "/v1/chat-messages", "https://h/v1/chat-messages"),
        ("https://h/v1/chat-messages", "/v1/chat-messages", "https://h/v1/chat-messages"),
        ("https://h/dify/v1", "/v1/chat-messages", "https://h/dify/v1/chat-messages"),
        ("https://h/api/v1/chat/completions", "/api/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/api/v1", "/api/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/api", "/api/v1/chat/completions", "https://h/api/v1/chat/completions"),
        ("https://h/rag", "/ask?k=5", "https://h/rag/ask?k=5"),
        ("https://h/rag/ask?sig=x", "/ask?k=5", "https://h/rag/ask?sig=x&k=5"),
        ("https://h/rag?tenant=2", "/ask", "https://h/rag/ask?tenant=2"),
        ("https://h/ask", "", "https://h/ask"),
        ("https://h/x", "/ask/", "https://h/x/ask/"),
        ("http://h:8000/h", "/ask", "http://h:8000/h/ask"),
    ],
)
def test_what_address_and_path_have_in_common_stands_there_once(url: str, path: str, at: str) -> None:
    assert address(url, path).at(path) == at


def test_a_pasted_operation_is_taken_off_for_the_other_paths() -> None:
    made = address("https://h/api/v1/chat/completions", "/api/v1/chat/completions")
    assert made.at("/api/core/dataset/data/detail?id=1") == "https://h/api/core/dataset/data/detail?id=1"
    assert made.url == "https://h/api/v1/chat/completions"


def test_a_pasted_operation_may_hold_the_app() -> None:
    made = address("https://h/api/v1/workspace/hr/chat", "/api/v1/workspace/$app/chat", "hr")
    assert made.at("/api/v1/workspace/hr/chat") == "https://h/api/v1/workspace/hr/chat"


def test_a_slot_alone_does_not_eat_the_address() -> None:
    assert address("https://h/chains", "/$app/invoke", "leave").at("/leave/invoke") == "https://h/chains/leave/invoke"


STEP = st.text("abcv1", min_size=1, max_size=3)


@given(st.lists(STEP, max_size=3), st.lists(STEP, min_size=1, max_size=4))
def test_the_path_always_ends_the_address(base: list[str], path: list[str]) -> None:
    asked = "/" + "/".join(path)
    made = address("/".join(["https://h", *base]), asked)
    assert made.at(asked).endswith(asked)
    assert made.at(asked).startswith("https://h/")


def test_secrets_do_not_show() -> None:
    made = address("https://h/v1?sig=very-secret-1", "/x")
    told = made.say("unreachable", trouble=f"asked with {KEY} and very-secret-1", tries=1)
    assert (KEY in told, "very-secret-1" in told, "app…Vd" in told) == (False, False, True)
    assert made.shown(made.at("/x")) == "https://h/v1/x?…"
