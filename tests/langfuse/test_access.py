"""Address and keys come from the environment alone; what is missing or wrong is said before any request, and no key is shown."""

import base64
import copy
import pickle

import pytest

from ragstone.errors import ConfigError
from ragstone.langfuse.access import Host, host_of

PUBLIC, SECRET = "pk-lf-11112222-public", "sk-lf-33334444-secret"
KEYS = {"LANGFUSE_PUBLIC_KEY": PUBLIC, "LANGFUSE_SECRET_KEY": SECRET}


def refused(environ: dict[str, str], lang: str) -> str:
    with pytest.raises(ConfigError) as told:
        host_of(environ, lang)
    assert PUBLIC not in str(told.value)
    assert SECRET not in str(told.value)
    return str(told.value)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("environ", "named", "unnamed"),
    [
        ({}, ["LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "LANGFUSE_HOST"], []),
        (KEYS, ["LANGFUSE_HOST", "https://cloud.langfuse.com", "https://us.cloud.langfuse.com"], ["LANGFUSE_SECRET_KEY"]),
        ({**KEYS, "LANGFUSE_HOST": "  "}, ["LANGFUSE_HOST"], []),
        ({"LANGFUSE_HOST": "https://a", "LANGFUSE_PUBLIC_KEY": PUBLIC}, ["LANGFUSE_SECRET_KEY"], ["LANGFUSE_PUBLIC_KEY"]),
        ({"LANGFUSE_HOST": "https://a", **KEYS, "LANGFUSE_SECRET_KEY": ""}, ["LANGFUSE_SECRET_KEY"], []),
    ],
)
def test_what_is_not_set_is_named(environ, named, unnamed, lang):
    said = refused(environ, lang)
    assert all(name in said for name in named)
    assert not any(name in said for name in unnamed)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("address", ["langfuse.example", "localhost:3000", "ftp://a"])
def test_the_example_of_an_address_is_one_of_langfuse(address, lang):
    said = refused({"LANGFUSE_HOST": address, **KEYS}, lang)
    assert "https://host" in said
    assert "/v1" not in said


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_keys_in_each_others_place_are_noticed(lang):
    environ = {"LANGFUSE_HOST": "https://a", "LANGFUSE_PUBLIC_KEY": SECRET, "LANGFUSE_SECRET_KEY": PUBLIC}
    assert "pk-" in refused(environ, lang)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_two_names_of_different_servers_are_refused(lang):
    said = refused({**KEYS, "LANGFUSE_HOST": "https://a.example", "LANGFUSE_BASE_URL": "https://b.example"}, lang)
    assert "https://a.example" in said
    assert "https://b.example" in said


def test_two_names_of_one_server_are_one():
    assert host_of({**KEYS, "LANGFUSE_HOST": "https://a.example/", "LANGFUSE_BASE_URL": "https://a.example"}).url == "https://a.example"
    assert host_of({**KEYS, "LANGFUSE_BASE_URL": "https://b.example"}).url == "https://b.example"


@pytest.mark.parametrize("wrong", ["cloud.langfuse.com", "ftp://a", "https://", "https://pk:sk@host", "http://a:port"])
def test_an_address_that_is_none_is_refused(wrong):
    assert "LANGFUSE_HOST" in refused({**KEYS, "LANGFUSE_HOST": wrong}, "en") or "@" in wrong


@pytest.mark.parametrize(("name", "value"), [("LANGFUSE_PUBLIC_KEY", "pk-lf-“引号”"), ("LANGFUSE_SECRET_KEY", "sk-lf with blanks")])
def test_a_key_that_cannot_be_sent_is_named(name, value):
    said = refused({**KEYS, "LANGFUSE_HOST": "https://a", name: value}, "en")
    assert name in said
    assert value not in said


@pytest.mark.parametrize(
    "pasted",
    [
        "https://h.example",
        "https://h.example/",
        " https://h.example/api/public ",
        "https://h.example/api/public/scores",
        "https://h.example/project/x1",
    ],
)
def test_what_was_pasted_with_an_address_is_taken_off(pasted):
    assert host_of({**KEYS, "LANGFUSE_HOST": pasted}).url == "https://h.example"


def test_a_path_of_the_server_itself_is_kept():
    assert (
        host_of({**KEYS, "LANGFUSE_HOST": "https://h.example/langfuse/"}).at("api/public/health")
        == "https://h.example/langfuse/api/public/health"
    )


def test_the_header_holds_both_keys_and_nothing_shows_them():
    host = Host("https://h.example", f" {PUBLIC}\n", f"{SECRET} ")
    header = host.header()
    assert header["Authorization"] == "Basic " + base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
    pair = base64.b64encode(f"{PUBLIC}:{SECRET}".encode()).decode()
    for shown in (repr(host), repr(header), repr(vars(host)), repr(copy.copy(host))):
        assert PUBLIC not in shown
        assert SECRET not in shown
        assert pair not in shown
    with pytest.raises(TypeError):
        pickle.dumps(host)
    for echo in (f"bad key {SECRET}", f"Basic {pair}", f"pk {PUBLIC}", SECRET.upper()):
        scrubbed = host.scrub(echo)
        assert SECRET.lower() not in scrubbed.lower()
        assert PUBLIC not in scrubbed
        assert pair not in scrubbed
