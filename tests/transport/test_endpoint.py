import pytest

from ragstone.errors import ConfigError
from ragstone.transport.endpoint import COLLECT, EMBEDDINGS, JUDGE, Endpoint, Key

KEY = "sk-9Qx7LmZr2TbWk4Vd"


def endpoint(url: str, key: str | None = KEY, lang: str = "en") -> Endpoint:
    return Endpoint(url, "m", Key(key, JUDGE.key), JUDGE, lang)


@pytest.mark.parametrize(
    ("given", "shown", "asked"),
    [
        ("https://host/v1", "https://host/v1", "https://host/v1/embeddings"),
        (" https://host/v1/ ", "https://host/v1", "https://host/v1/embeddings"),
        ("http://host:8000", "http://host:8000", "http://host:8000/embeddings"),
        ("https://host/v1/chat/completions", "https://host/v1", "https://host/v1/embeddings"),
        ("https://host/v1/embeddings/", "https://host/v1", "https://host/v1/embeddings"),
        ("https://host/d/x?api-version=2024", "https://host/d/x", "https://host/d/x/embeddings?api-version=2024"),
        ("http://[::1]:9/v1#top", "http://[::1]:9/v1", "http://[::1]:9/v1/embeddings"),
    ],
)
def test_addresses_are_brought_into_one_form(given: str, shown: str, asked: str) -> None:
    made = endpoint(given)
    assert (made.url, made.at("embeddings")) == (shown, asked)


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host/v1", "https://", "http://host:port/v1", "http://[::1/v1"])
@pytest.mark.parametrize(("lang", "words"), [("en", "no http(s) address"), ("zh", "不是有效的")])
def test_what_is_no_address_is_refused(url: str, lang: str, words: str) -> None:
    with pytest.raises(ConfigError, match=r"\[judge\] base_url") as caught:
        endpoint(url, lang=lang)
    assert words in str(caught.value)


@pytest.mark.parametrize("url", ["https://me:secret@host/v1", "https://secret@host/v1?x=secret"])
def test_credentials_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError, match="user name or password") as caught:
        endpoint(url)
    assert "secret" not in str(caught.value)
    assert JUDGE.key in str(caught.value)


@pytest.mark.parametrize(
    ("key", "masked"),
    [("sk-9Qx7LmZr2TbWk4Vd", "sk-…Vd"), ("elevenchars", "…"), ("", "…"), ("twelve-chars", "twe…rs"), (" padded-key-012 \n", "pad…12")],
)
def test_a_key_shows_only_its_ends(key: str, masked: str) -> None:
    held = Key(key, "X")
    assert (held.masked, repr(held)) == (masked, f"Key({masked!r})")
    assert held.header() == ({"Authorization": f"Bearer {key.strip()}"} if key else {})


def test_a_mark_tells_keys_apart_and_is_too_short_to_find_one_by() -> None:
    marks = [Key(f"sk-application-{number}", "K").mark for number in range(8)]
    assert len(set(marks)) == 8
    assert {len(str(mark)) for mark in marks} == {4}
    assert (Key(" sk-application-0 ", "K").mark, Key("", "K").mark, Key(None, "K").mark) == (marks[0], None, None)


@pytest.mark.parametrize(
    ("key", "text", "scrubbed"),
    [
        (KEY, f"wrong key {KEY}, {KEY}!", "wrong key sk-…Vd, sk-…Vd!"),
        ("EMPTY", "EMPTY set", "EMPTY set"),
        ("", "text", "text"),
        ("sk-abc", "sk-abc", "…"),
    ],
)
def test_a_key_is_masked_wherever_it_is_echoed(key: str, text: str, scrubbed: str) -> None:
    assert Key(key, "X").scrub(text) == scrubbed


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("Incorrect API key provided: sk-proj-a1B2c3D4e5F6.", "Incorrect API key provided: sk-…."),
        ("bad sk-ant-api03-xyzxyzxyz_-Q, retry", "bad sk-…, retry"),
        ("key sk-9Qx7************k4Vd", "key sk-…"),
        ("Authorization: Bearer abc123.def/456+7==", "Authorization: Bearer …"),
        ("bearer abcdefghijklmnopqrstuvwx", "bearer …"),
        ("gsk_1234567890abcdefghij and hf_abcdefghij0123456789", "gsk_… and hf_…"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza…"),
        ("LTAI5tAbCdEfGh1234567890", "LTAI…"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl expired", "token … expired"),
        ("无效的密钥：0123456789abcdef0123456789abcdef.AbCdEfGh01234567", "无效的密钥：…"),
        ("access key 0123456789abcdef0123456789abcdef is wrong", "access key … is wrong"),
        ("令牌为 7f3c1a52-0b9e-4d56-8a11-3c5e9d2f7b60，已过期", "令牌为 …，已过期"),
        ("seen aB3" + "xY7z" * 12, "seen …"),
    ],
)
def test_what_looks_like_a_key_is_masked_whatever_key_is_set(key: str | None, text: str, scrubbed: str) -> None:
    assert endpoint("https://host/v1", key).scrub(text) == scrubbed


@pytest.mark.parametrize(
    "text",
    [
        "Missing bearer authentication in header",
        "max_tokens is too large: 32768 token limit",
        "hf_overrides, task-oriented and top_k_sampling are not supported",
        "request 7f3c1a52-0b9e-4d56-8a11-3c5e9d2f7b60 failed, id chatcmpl-9QxLmZr2TbWk4VdQxLmZr2Tb",
        "The model `Qwen2.5-72B-Instruct-GPTQ-Int4-long-context-preview-2024` does not exist",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "令牌数超过 8192，请缩短输入",
        "https://api.example.com/v1/chat/completions",
    ],
)
def test_ordinary_words_of_servers_are_left_alone(text: str) -> None:
    assert endpoint("https://host/v1").scrub(text) == text


@pytest.mark.parametrize("key", ["sk-“quoted”-key", "two words", "line\nbreak", "密钥"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ConfigError, match=JUDGE.key) as caught:
        endpoint("https://host/v1", key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("http://localhost:1/v1", True),
        ("http://127.8.0.1/v1", True),
        ("http://[::1]/v1", True),
        ("http://api.localhost", True),
        ("http://10.0.0.1/v1", False),
        ("https://host", False),
    ],
)
def test_proxies_of_the_environment_are_used_but_never_for_this_machine(url: str, loopback: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    monkeypatch.setenv("https_proxy", "http://proxy:2")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    made = endpoint(url)
    assert made.loopback is loopback
    assert made.proxy() == (None if loopback else "http://proxy:2" if url.startswith("https") else "http://proxy:1")


def test_no_proxy_is_heeded_and_a_socks_proxy_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://me:secret@proxy:1")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert endpoint("https://inside.example/v1").proxy() is None
    with pytest.raises(ConfigError, match="no HTTP proxy") as caught:
        endpoint("https://outside.example/v1").proxy()
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "versioned"),
    [
        ("http://h", False),
        ("http://h/v1", True),
        ("http://h/api/paas/v4", True),
        ("http://h/v1beta/openai", True),
        ("http://v1.h/api", False),
    ],
)
def test_a_version_part_is_seen(url: str, versioned: bool) -> None:
    assert endpoint(url).versioned is versioned


@pytest.mark.parametrize(
    ("lang", "key", "said"), [("en", None, "The key was (none set)."), ("zh", "", "（未设置）"), ("en", KEY, "was sk-…Vd.")]
)
def test_a_text_says_which_key_was_used(lang: str, key: str | None, said: str) -> None:
    assert said in endpoint("https://host/v1", key, lang).say("not_found", status=404, message="", hint="")


def test_an_endpoint_shows_neither_key_nor_query() -> None:
    made = Endpoint("https://host/v1?key=hidden", "m", Key(KEY, EMBEDDINGS.key), EMBEDDINGS, "en")
    assert repr(made) == "Endpoint('https://host/v1', 'm')"


def test_a_whole_address_keeps_its_operation_and_other_secrets_are_masked_too() -> None:
    other = Key("gate-0123456789", "GATE")
    made = Endpoint("https://host/v1/chat/completions", "m", Key(KEY, COLLECT.key), COLLECT, "en", secrets=[other], whole=True)
    assert made.url == "https://host/v1/chat/completions"
    assert made.scrub(f"no: {KEY} and gate-0123456789") == "no: sk-…Vd and gat…89"


@pytest.mark.parametrize(("scheme", "sent"), [("Bearer", f"Bearer {KEY}"), ("", KEY), ("Basic", f"Basic {KEY}")])
def test_a_key_is_sent_under_a_scheme(scheme: str, sent: str) -> None:
    assert Key(KEY, "K").header(scheme) == {"Authorization": sent}
