"""The fences around every test are themselves closed."""

import os
import socket

import aiohttp
import pytest


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "judge.example"])
def test_no_socket_leaves_the_loopback(host):
    with pytest.raises(BaseException, match=r"tests use 127\.0\.0\.1 only"):
        socket.create_connection((host, 80), timeout=0.1)


async def test_no_client_leaves_the_loopback():
    async with aiohttp.ClientSession() as session:
        with pytest.raises(BaseException, match=r"tests use 127\.0\.0\.1 only"):
            await session.get("http://192.0.2.1/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_loopback_is_open(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()


def test_nothing_of_the_developers_environment_is_seen():
    assert [name for name in os.environ if name.startswith(("OPENAI_", "RAGSTONE_"))] == []
    assert not {"HTTP_PROXY", "https_proxy", "LC_ALL", "FORCE_COLOR"} & os.environ.keys()
    assert os.environ["LANG"] == "C.UTF-8"
